/** Normalizes a request for a cassette: without secrets, without ids that differ from run to run, and with one hash. */
import type { ModelMessage, ModelRequest } from '../../core/model.ts';
import { stableJson } from '../../core/json/stable-json.ts';
import { printable } from '../../core/text/text.ts';
import { diffLines } from '../../core/text/text-diff.ts';
import { sha256 } from '../../platform/hash.ts';

export type ChangeText = (text: string) => string;

/** Normalizes line endings, numbers call ids by their order, and applies `redact` to every text. */
export function normalRequest(request: ModelRequest, redact: ChangeText): ModelRequest {
  const ids = new Map<string, string>();
  const change = (text: string): string => redact(text.replaceAll('\r\n', '\n'));
  const idOf = (id: string): string => {
    const known = ids.get(id) ?? `call-${String(ids.size + 1)}`;
    ids.set(id, known);
    return known;
  };
  return {
    system: change(request.system),
    messages: request.messages.map((message) => normalMessage(message, change, idOf)),
    tools: request.tools.map((tool) => changedTexts(tool, change)),
    ...(request.answerSchema === undefined ? {} : { answerSchema: changedTexts(request.answerSchema, change) }),
    ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
  };
}

function normalMessage(message: ModelMessage, change: ChangeText, idOf: ChangeText): ModelMessage {
  const content = change(message.content);
  switch (message.role) {
    case 'user':
      return { role: 'user', content };
    case 'assistant': {
      const toolCalls = message.toolCalls.map(({ id, name, input }) => ({
        id: idOf(id),
        name: change(name),
        input: change(input),
      }));
      return { role: 'assistant', content, toolCalls };
    }
    case 'tool':
      return {
        role: 'tool',
        callId: idOf(message.callId),
        toolName: change(message.toolName),
        content,
        isError: message.isError,
      };
  }
}

/** Changes every string inside a JSON value. */
function changedTexts<T>(value: T, change: ChangeText): T {
  const text = JSON.stringify(value, (_key, item: unknown) => (typeof item === 'string' ? change(item) : item));
  // The same shape: only texts were replaced by texts.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(text) as T;
}

export function requestKey(normal: ModelRequest): string {
  return sha256(stableJson(normal));
}

const MOST_LINES = 60;
const LONGEST_LINE = 240;

/** Lists the differences to a recorded request as lines with - and +; long lines are truncated. */
export function requestDifference(recorded: ModelRequest, asked: ModelRequest): string {
  const { hunks } = diffLines(requestText(recorded), requestText(asked));
  const lines = hunks.flatMap(({ lines: inHunk }, place) => [
    ...(place === 0 ? [] : ['  …']),
    ...inHunk.map(({ kind, text }) => `${MARKS[kind]} ${cut(text)}`),
  ]);
  const more = lines.length - MOST_LINES;
  return [...lines.slice(0, MOST_LINES), ...(more > 0 ? [`  … and ${String(more)} more lines`] : [])].join('\n');
}

const MARKS = { same: ' ', removed: '-', added: '+' } as const;

function cut(line: string): string {
  const shown = printable(line.slice(0, LONGEST_LINE));
  return line.length > LONGEST_LINE ? `${shown}…` : shown;
}

/** One line for each part that can differ. */
function requestText({ system, messages, tools, answerSchema, maxOutputTokens }: ModelRequest): string {
  return [
    '[system]',
    system,
    ...messages.flatMap((message) => [`[${message.role}]`, message.content, ...aboutCalls(message)]),
    ...tools.map((tool) => `[tool] ${stableJson(tool)}`),
    `[answer schema] ${stableJson(answerSchema ?? null)}`,
    `[max output tokens] ${String(maxOutputTokens ?? 'any')}`,
  ].join('\n');
}

function aboutCalls(message: ModelMessage): readonly string[] {
  switch (message.role) {
    case 'user':
      return [];
    case 'assistant':
      return message.toolCalls.map(({ id, name, input }) => `[call ${id}] ${name} ${input}`);
    case 'tool':
      return [`[result of ${message.callId}] ${message.toolName}${message.isError ? ' (error)' : ''}`];
  }
}
