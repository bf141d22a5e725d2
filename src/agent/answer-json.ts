/** Reads the JSON object in an answer of a model (MOD-3). Invalid JSON is not repaired: the model gets one message with the exact error. */
import { readJsonObject, type JsonProblem } from './json-object.ts';
import { countText, printable, quoted } from '#core';

export type AnswerReading =
  | {
      readonly type: 'object';
      readonly value: Readonly<Record<string, unknown>>;
      readonly notes: readonly string[];
    }
  | { readonly type: 'unreadable'; readonly problem: AnswerProblem };

/** `message` names the error, its line and column, and the text before it. */
export type AnswerProblem = JsonProblem;

const QUOTED_BEFORE = 40;

/**
 * Returns the first object of an answer, also where prose or a code fence surrounds it. Trailing commas, single quotes and comments are
 * errors, because repairing them means guessing, and the agent would act on the guess.
 */
export function readAnswer(text: string): AnswerReading {
  const reading = readJsonObject(text);
  if (reading.type === 'broken') return { type: 'unreadable', problem: withPosition(reading.problem, text) };
  return { type: 'object', value: reading.value, notes: describeIgnoredText(text, reading.from, reading.to) };
}

function withPosition(problem: JsonProblem, text: string): AnswerProblem {
  const { message, offset, line, column } = problem;
  const before = text.slice(Math.max(0, offset - QUOTED_BEFORE), offset);
  const after = before.trim() === '' ? '' : `, after ${quoted(before)}`;
  return { ...problem, message: `${message}; line ${line}, column ${column}${after}` };
}

/** White space and the marks of a code fence around the object need no note. */
function describeIgnoredText(text: string, from: number, to: number): readonly string[] {
  const rest = text.slice(to);
  const before = text
    .slice(0, from)
    .trim()
    .replace(/```\w*$/, '')
    .trim().length;
  const after = rest.trim().replace(/^```/, '').trim().length;
  const next = readJsonObject(rest);
  const isOnly = next.type === 'broken' && next.problem.kind === 'missing';
  return [
    ...(before === 0 ? [] : [`ignored ${countText(before, 'character')} of text before the object`]),
    ...(isOnly ? [] : ['the answer contains more than one object; only the first was used']),
    ...(after === 0 ? [] : [`ignored ${countText(after, 'character')} of text after the object`]),
  ];
}

export interface Repairable {
  readonly message: string;
  readonly hint?: string;
  readonly nearest?: readonly string[];
}

/** The one message that asks for the answer again. Quoted text is printed on one line, so that it cannot pass for an instruction. */
export function repairRequest({ message, hint, nearest = [] }: Repairable): string {
  return [
    `Your last answer was not used: ${printable(message)}.`,
    ...(hint === undefined ? [] : [`What to do: ${printable(hint)}.`]),
    ...(nearest.length === 0 ? [] : [`Did you mean ${nearest.map((name) => quoted(name)).join(' or ')}?`]),
    'Nothing was done. Answer again with one JSON object and nothing else: no text around it, no code fence, double quotes,' +
      ' no comments, no comma before a closing bracket.',
  ].join('\n');
}
