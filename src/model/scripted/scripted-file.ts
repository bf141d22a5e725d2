/** Reads the turns of a scripted model from a file, for tests and for runs without network. */
import { docsPage } from '../../core/docs-page.ts';
import { SkillError, invalidInput } from '../../core/errors.ts';
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
  description: 'Conditions for the request.',
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
  description: 'A tool call.',
  properties: {
    name: TEXT,
    input: {
      description: 'Its input; a string is used as it is.',
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
  properties: {
    message: TEXT,
    status: COUNT,
    isRetryable: { type: 'boolean', description: 'The failure can be retried.' },
  },
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
    chunks: { type: 'array', description: 'How the answer is split into chunks.', items: COUNT },
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

/** Reads `{"turns": [...]}`. Throws `io/failed` if the file does not exist, and `input/invalid` with the position of an error. */
export function readScriptedTurns(file: string): readonly ScriptedTurn[] {
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read') throw unreadable(file, read.type === 'absent' ? 'the file does not exist' : read.reason);
  return toScriptedTurns(parsed(file, read.text), file);
}

/** Validates a parsed script; `file` is used in messages. */
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
    throw invalid(file, error instanceof Error ? error.message : 'it is not valid JSON');
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
    throw invalid(file, `turns[${String(place)}].expect.matches is not a valid regular expression: ${quoted(matches)}`);
  }
}

function toError({ message = '', status = 0, isRetryable = false }: NonNullable<WrittenTurn['error']>): SkillError {
  return new SkillError({
    code: 'model/failed',
    message,
    hint: 'the script contains this failure',
    data: { model: 'scripted', status, isRetryable },
  });
}

function problemText({ type, path, expected }: SchemaProblem = UNREADABLE): string {
  return type === 'unknown-key'
    ? `unknown key ${pathText(path)}; expected one of ${expected}`
    : `${pathText(path)} must be ${expected}`;
}

const UNREADABLE: SchemaProblem = { type: 'invalid', path: [], expected: 'a script' };

function pathText(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'the whole';
  const written = path.map((part) => (typeof part === 'number' ? `[${String(part)}]` : `.${part}`)).join('');
  return quoted(written.replace(/^\./, ''), 120);
}

function invalid(file: string, problem: string): SkillError<'input/invalid'> {
  return invalidInput(
    `${quoted(file, 200)} is not a script for the scripted model: ${problem}`,
    '{"turns": [...]}',
    `write {"turns": [...]}, see ${docsPage('rule-model')}`,
  );
}

function unreadable(file: string, cause: string): SkillError<'io/failed'> {
  return new SkillError({
    code: 'io/failed',
    message: `cannot read the script ${quoted(file, 200)}: ${cause}`,
    hint: 'name an existing file',
    data: { path: file, cause },
  });
}
