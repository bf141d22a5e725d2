/** The turns of a scripted model from a file: cases that people write, for tests and for runs without a network. */
import { SkillError } from '../../core/errors.ts';
import { checkJson } from '../../core/json/json-schema.ts';
import type { FromSchema, JsonSchema, SchemaProblem } from '../../core/json/json-schema.ts';
import { FINISHES } from '../../core/model.ts';
import { quoted } from '../../core/text/text.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';
import type { Expectation, ScriptedTurn } from './scripted.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const DAY_MS = 86_400_000;

const TEXT = { type: 'string', description: 'A text.' } as const;
const TEXTS = { type: 'array', description: 'Texts.', items: TEXT } as const;
const COUNT = { type: 'integer', description: 'A number.', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;

const EXPECT = {
  type: 'object',
  description: 'What the request must be like.',
  properties: {
    contains: TEXTS,
    lacks: TEXTS,
    matches: { type: 'string', description: 'A regular expression.' },
    lastContains: TEXT,
    offers: TEXTS,
    hides: TEXTS,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const CALL = {
  type: 'object',
  description: 'A call of a tool.',
  properties: {
    name: TEXT,
    input: {
      description: 'Its input; text is taken as it is.',
      anyOf: [TEXT, { type: 'object', description: 'An object.', additionalProperties: true }],
    },
    id: TEXT,
  },
  required: ['name', 'input'],
  additionalProperties: false,
} as const satisfies JsonSchema;

const ERROR = {
  type: 'object',
  description: 'The model fails.',
  properties: { message: TEXT, status: COUNT, isRetryable: { type: 'boolean', description: 'It may be tried again.' } },
  required: ['message'],
  additionalProperties: false,
} as const satisfies JsonSchema;

const TURN = {
  type: 'object',
  description: 'One answer.',
  properties: {
    expect: EXPECT,
    text: TEXT,
    toolCalls: { type: 'array', description: 'Calls of tools.', items: CALL },
    finish: { type: 'string', description: 'Why it ended.', enum: FINISHES },
    usage: {
      type: 'object',
      description: 'Tokens.',
      properties: { inputTokens: COUNT, outputTokens: COUNT, cachedInputTokens: COUNT },
      additionalProperties: false,
    },
    retries: COUNT,
    chunks: { type: 'array', description: 'How the answer is cut.', items: COUNT },
    delayMs: { type: 'integer', description: 'Before it begins.', minimum: 0, maximum: DAY_MS },
    error: ERROR,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const SCRIPT = {
  type: 'object',
  description: 'A script.',
  properties: { turns: { type: 'array', description: 'Answers in order.', items: TURN } },
  required: ['turns'],
  additionalProperties: false,
} as const satisfies JsonSchema;

type WrittenTurn = FromSchema<typeof TURN>;

/** Reads `{"turns": [...]}`. Throws `io/failed` where there is no such file, and `input/invalid` with the place of what is wrong. */
export function readScriptedTurns(file: string): readonly ScriptedTurn[] {
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read') throw unreadable(file, read.type === 'absent' ? 'there is no such file' : read.reason);
  return toScriptedTurns(parsed(file, read.text), file);
}

/** The same for a value that was read already; `file` is where it stands. */
export function toScriptedTurns(script: unknown, file: string): readonly ScriptedTurn[] {
  const [problem] = checkJson(script, SCRIPT);
  if (problem !== undefined || !isScript(script)) throw invalid(file, problemText(problem));
  return (script.turns ?? []).map((turn, place) => toTurn(file, turn, place));
}

function isScript(value: unknown): value is FromSchema<typeof SCRIPT> {
  return checkJson(value, SCRIPT).length === 0;
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(file, error instanceof Error ? error.message : 'it is no JSON');
  }
}

function toTurn(file: string, { expect, error, toolCalls = [], ...rest }: WrittenTurn, place: number): ScriptedTurn {
  return {
    ...rest,
    ...(expect === undefined ? {} : { expect: toExpectation(file, expect, place) }),
    toolCalls: toolCalls.map(({ name = '', input = '', id }) => ({ name, input, ...(id === undefined ? {} : { id }) })),
    ...(error === undefined ? {} : { error: toError(error) }),
  };
}

function toExpectation(
  file: string,
  { matches, ...rest }: NonNullable<WrittenTurn['expect']>,
  place: number,
): Expectation {
  if (matches === undefined) return rest;
  try {
    return { ...rest, matches: new RegExp(matches, 'mu') };
  } catch {
    throw invalid(file, `turns[${String(place)}].expect.matches is no regular expression: ${quoted(matches)}`);
  }
}

function toError({ message = '', status = 0, isRetryable = false }: NonNullable<WrittenTurn['error']>): SkillError {
  return new SkillError({
    code: 'model/failed',
    message,
    hint: 'the script has it so',
    data: { model: 'scripted', status, isRetryable },
  });
}

function problemText({ type, path, expected }: SchemaProblem = UNREADABLE): string {
  return type === 'unknown-key'
    ? `${pathText(path)} is not known, expected one of ${expected}`
    : `${pathText(path)} is not ${expected}`;
}

const UNREADABLE: SchemaProblem = { type: 'invalid', path: [], expected: 'a script' };

function pathText(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'the whole';
  const written = path.map((part) => (typeof part === 'number' ? `[${String(part)}]` : `.${part}`)).join('');
  return quoted(written.replace(/^\./, ''), 120);
}

function invalid(file: string, problem: string): SkillError<'input/invalid'> {
  return new SkillError({
    code: 'input/invalid',
    message: `${quoted(file, 200)} is no script of answers: ${problem}`,
    hint: 'write {"turns": [...]}, see docs/rule-model.md',
    data: { expected: '{"turns": [...]}' },
  });
}

function unreadable(file: string, cause: string): SkillError<'io/failed'> {
  return new SkillError({
    code: 'io/failed',
    message: `the script ${quoted(file, 200)} cannot be read: ${cause}`,
    hint: 'name a file that is there',
    data: { path: file, cause },
  });
}
