import { parse } from 'jsonriver';

import { FINAL_ANSWER } from './action-protocol.ts';
import { MAX_JSON_CHARACTERS, MAX_JSON_DEPTH, MAX_WORD } from './json-object.ts';
import { cleanText, isObject, shownText, type JsonPath, type RunEvent, type OfType } from '#core';

/** Receives the parts of a decision that a person can be shown early. Never act on them: the rest of the answer may be invalid. */
export interface ActionStreamHandlers {
  /** The final answer has grown. The deltas add up to the text that the model wrote, which is not sanitized yet. */
  readonly onAnswerText?: (delta: string) => void;
  /** A field is complete. Its value is one line of sanitized text. */
  readonly onField?: (name: OfType<RunEvent, 'decision-delta'>['field'], value: string) => void;
}

export interface ActionStream {
  write(delta: string): void;
  /** Resolves when the handlers have received everything. Later writes are ignored. Rejects with the error of a handler. */
  close(): Promise<void>;
}

/**
 * Shows a decision while it arrives. The complete text is validated separately by `readAnswer`, so malformed input only ends the
 * display.
 */
export function openActionStream(handlers: ActionStreamHandlers): ActionStream {
  const chunks = openQueue();
  const cutter = openObjectCutter();
  const shown = showValues(chunks, handlers);
  // The error is reported by `close`; until then the promise must not count as unhandled.
  shown.catch(() => undefined);
  return {
    write(delta) {
      const { text, isDone } = cutter(delta);
      if (text !== '') chunks.push(text);
      if (isDone) chunks.end();
    },
    close() {
      chunks.end();
      return shown;
    },
  };
}

async function showValues(
  chunks: AsyncIterable<string>,
  { onAnswerText, onField }: ActionStreamHandlers,
): Promise<void> {
  /** Handlers run outside of the parser, so that their errors are not taken for malformed JSON. */
  const pending: (() => void)[] = [];
  /** Models may write the payload before the type: until the type is complete, the answer is held back. */
  let type: unknown;
  let isAnswerComplete = false;
  let length = 0;
  const showAnswer = (answer: unknown, isComplete: boolean): void => {
    if (type !== FINAL_ANSWER || typeof answer !== 'string') return;
    // Reading a character of a growing string copies it, so the steps grow with its length: otherwise the cost would be quadratic.
    if (!isComplete && answer.length - length < length / 256) return;
    const isHalf = !isComplete && /[\ud800-\udbff]$/.test(answer);
    const end = isHalf ? answer.length - 1 : answer.length;
    if (end <= length) return;
    const delta = answer.slice(length, end);
    length = end;
    pending.push(() => onAnswerText?.(delta));
  };
  let answerText: unknown;
  const values = parse(chunks, {
    completeCallback(value, at) {
      if (Array.isArray(value)) return;
      const path = at.segments();
      if (isAnswer(path) && !isAnswerComplete) {
        isAnswerComplete = true;
        answerText = value;
        showAnswer(value, true);
      }
      const field = decisionFieldAt(path);
      if (field === undefined) return;
      const text = field === 'step' ? stepText(value) : typeof value === 'string' ? toShortLine(value) : '';
      if (text !== '') pending.push(() => onField?.(field, text));
      if (field !== 'action') return;
      type ??= value;
      if (isAnswerComplete) showAnswer(answerText, true);
    },
  });
  let latest: unknown;
  for (let isOpen = true; isOpen;) {
    try {
      const { value, done } = await values.next();
      isOpen = done !== true;
      latest = value ?? latest;
    } catch {
      isOpen = false;
    }
    if (!isAnswerComplete) showAnswer(growingAnswer(latest), !isOpen);
    for (const show of pending.splice(0)) show();
  }
}

function growingAnswer(value: unknown): unknown {
  const action = isObject(value) ? value['action'] : undefined;
  const payload = isObject(action) ? action['payload'] : undefined;
  return isObject(payload) ? payload['answer'] : undefined;
}

interface Queue extends AsyncIterable<string> {
  push(chunk: string): void;
  end(): void;
}

function openQueue(): Queue {
  const chunks: string[] = [];
  let isEnded = false;
  let wake = (): void => undefined;
  return {
    push(chunk) {
      if (!isEnded) chunks.push(chunk);
      wake();
    },
    end() {
      isEnded = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        yield* chunks.splice(0);
        if (chunks.length > 0) continue;
        if (isEnded) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

/**
 * Cuts the first object out of the text around it, as `readJsonObject` does, and ends it where a limit is exceeded: the parser has no
 * limits, and takes quadratic time for a number that never ends.
 */
function openObjectCutter(): (delta: string) => { readonly text: string; readonly isDone: boolean } {
  let before = '';
  let isStarted = false;
  let isString = false;
  let isEscaped = false;
  let depth = 0;
  let word = 0;
  let characters = 0;
  return (delta) => {
    characters += delta.length;
    let text = before + delta;
    if (!isStarted) {
      const start = text.search(/\{[ \t\r\n]*["}]/);
      isStarted = start !== -1;
      // A brace at the end may still start the object; the white space after it is of no use.
      before = !isStarted && /\{[ \t\r\n]*$/.test(text) ? '{' : '';
      if (!isStarted) return { text: '', isDone: characters > MAX_JSON_CHARACTERS };
      text = text.slice(start);
    }
    for (let at = 0; at < text.length; at += 1) {
      const sign = text.charAt(at);
      if (isString) {
        isString = isEscaped || sign !== '"';
        isEscaped = !isEscaped && sign === '\\';
        continue;
      }
      word = /[\w.+-]/.test(sign) ? word + 1 : 0;
      if (sign === '"') isString = true;
      else if (sign === '{' || sign === '[') depth += 1;
      else if (sign === '}' || sign === ']') depth -= 1;
      if (depth === 0) return { text: text.slice(0, at + 1), isDone: true };
      if (depth > MAX_JSON_DEPTH || word > MAX_WORD) return { text: text.slice(0, at), isDone: true };
    }
    return { text, isDone: characters > MAX_JSON_CHARACTERS };
  };
}

function isAnswer(path: JsonPath): boolean {
  return path.length === 3 && path[0] === 'action' && path[1] === 'payload' && path[2] === 'answer';
}

/** The plan is `plan_update` itself or `plan_update.plan`. */
function decisionFieldAt(path: JsonPath): OfType<RunEvent, 'decision-delta'>['field'] | undefined {
  if (path[0] === 'action') return path.length === 2 && path[1] === 'type' ? 'action' : undefined;
  if (path[0] !== 'plan_update' || path.length > 4) return undefined;
  const [name, index, ...deeper] = path.slice(path[1] === 'plan' ? 2 : 1);
  if (deeper.length > 0) return undefined;
  if (name === 'goal' && index === undefined) return 'goal';
  return name === 'steps' && index !== undefined ? 'step' : undefined;
}

/** Describes a step by its title, and a change of a step by its id and new status. */
function stepText(step: unknown): string {
  if (typeof step === 'string') return toShortLine(step);
  if (!isObject(step)) return '';
  const { id, title, status } = step;
  if (typeof title === 'string') return toShortLine(title);
  return typeof id === 'string' && typeof status === 'string' ? `${shownText(id)}: ${shownText(status)}` : '';
}

const LONGEST_LINE = 200;

function toShortLine(text: string): string {
  const line = cleanText(text.slice(0, LONGEST_LINE)).replaceAll(/\s+/g, ' ').trim();
  return text.length > LONGEST_LINE ? `${line}…` : line;
}
