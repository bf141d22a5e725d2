/** The object in what a model has written (MOD-3). What is not JSON is not guessed: the model is told once what is wrong and where. */
import { openJsonStream } from './json/json-stream.ts';
import type { JsonProblem, JsonStreamEnd } from './json/json-stream.ts';
import { countText } from '../core/text/line-text.ts';
import { printable, quoted } from '../core/text/text.ts';

export type AnswerReading =
  | {
      readonly type: 'object';
      readonly value: Readonly<Record<string, unknown>>;
      /** What was passed over on the way. */
      readonly notes: readonly string[];
    }
  | { readonly type: 'unreadable'; readonly problem: AnswerProblem };

/** `message` says what, where and behind which text. */
export type AnswerProblem = JsonProblem;

/** Characters of the answer that a problem quotes. */
const QUOTED_BEFORE = 40;

/**
 * The first object of an answer: all of it, or what stands in prose and code fences. Trailing commas, single quotes and comments are
 * problems, because a reader that repairs them has to guess what was meant, and an action would be done by that guess.
 */
export function readAnswer(text: string): AnswerReading {
  const end = readFirst(text);
  if (end.type === 'broken') return { type: 'unreadable', problem: withPlace(end.problem, text) };
  return { type: 'object', value: end.value, notes: notesOf(text, end.from, end.to) };
}

function readFirst(text: string): JsonStreamEnd {
  const stream = openJsonStream();
  stream.write(text);
  return stream.end();
}

function withPlace(problem: JsonProblem, text: string): AnswerProblem {
  const { message, offset, line, column } = problem;
  const before = text.slice(Math.max(0, offset - QUOTED_BEFORE), offset);
  const behind = before.trim() === '' ? '' : `, behind ${quoted(before)}`;
  return { ...problem, message: `${message}; line ${line}, column ${column}${behind}` };
}

/** Space and the marks of a code fence around an object say nothing. */
function notesOf(text: string, from: number, to: number): readonly string[] {
  const rest = text.slice(to);
  const before = text
    .slice(0, from)
    .trim()
    .replace(/```\w*$/, '')
    .trim().length;
  const after = rest.trim().replace(/^```/, '').trim().length;
  const next = readFirst(rest);
  const isOnly = next.type === 'broken' && next.problem.kind === 'missing';
  return [
    ...(before === 0 ? [] : [`${countText(before, 'character')} of text before the object not read`]),
    ...(isOnly ? [] : ['there is more than one object; only the first was read']),
    ...(after === 0 ? [] : [`${countText(after, 'character')} of text behind the object not read`]),
  ];
}

/** What was wrong, as readers of answers and of decisions tell it. */
export interface Repairable {
  readonly message: string;
  readonly hint?: string;
  readonly nearest?: readonly string[];
}

/** The one message that asks for the answer again. What it quotes is one line and cannot be taken for words of ours. */
export function repairRequest({ message, hint, nearest = [] }: Repairable): string {
  return [
    `Your last answer was not used: ${printable(message)}.`,
    ...(hint === undefined ? [] : [`What to do: ${printable(hint)}.`]),
    ...(nearest.length === 0 ? [] : [`Did you mean ${nearest.map((name) => quoted(name)).join(' or ')}?`]),
    'Nothing was done. Answer again with one JSON object and nothing else: no text around it, no code fence, double quotes,' +
      ' no comments, no comma before a closing bracket.',
  ].join('\n');
}
