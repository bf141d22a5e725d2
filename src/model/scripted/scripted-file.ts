/** Reads the turns of a scripted model from a file, for tests and for runs without network. */
import {
  jsonSchema,
  checkJson,
  defined,
  docsPage,
  invalidInput,
  isObject,
  quoted,
  SkillError,
  type FromSchema,
} from '#core';
import { readTextFile } from '#platform';
import { openScripted, type Expectation, type ScriptedModel, type ScriptedTurn } from './scripted.ts';
import { FINISHES } from '../finishes.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const DAY_MS = 86_400_000;

const TEXT = jsonSchema.text('A text.');
const TEXTS = jsonSchema.list('Texts.', TEXT);
const COUNT = { type: 'integer', description: 'A number.', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;

const EXPECT = jsonSchema.section('Conditions for the request.', {
  contains: TEXTS,
  lacks: TEXTS,
  matches: jsonSchema.text('A regular expression.'),
  lastContains: TEXT,
  offers: TEXTS,
  hides: TEXTS,
});

const CALL = jsonSchema.section(
  'A tool call.',
  {
    name: TEXT,
    input: {
      description: 'Its input; a string is used as it is.',
      anyOf: [TEXT, { type: 'object', description: 'An object.', additionalProperties: true }],
    },
    id: TEXT,
  },
  ['name', 'input'],
);

const ERROR = jsonSchema.section(
  'The model fails.',
  {
    message: TEXT,
    status: COUNT,
    isRetryable: { type: 'boolean', description: 'The failure can be retried.' },
  },
  ['message'],
);

const TURN = jsonSchema.section('One answer.', {
  expect: EXPECT,
  text: TEXT,
  toolCalls: jsonSchema.list('Calls of tools.', CALL),
  finish: jsonSchema.choice('Why it ended.', FINISHES),
  usage: jsonSchema.section('Tokens.', {
    inputTokens: COUNT,
    outputTokens: COUNT,
    cachedInputTokens: COUNT,
    cacheWriteInputTokens: COUNT,
  }),
  retries: COUNT,
  chunks: jsonSchema.list('How the answer is split into chunks.', COUNT),
  delayMs: { type: 'integer', description: 'Before it begins.', minimum: 0, maximum: DAY_MS },
  error: ERROR,
});

const SCRIPT = jsonSchema.section('A script.', { turns: jsonSchema.list('Answers in order.', TURN) }, ['turns']);

type WrittenTurn = FromSchema<typeof TURN>;

/** Reads `{"turns": [...]}`. Throws `io/failed` if the file does not exist, and `input/invalid` with the position of an error. */
export function readScriptedTurns(file: string): readonly ScriptedTurn[] {
  const read = readTextFile(file, MAX_BYTES);
  if (read.type !== 'read') throw unreadable(file, read.type === 'absent' ? 'the file does not exist' : read.reason);
  return toScriptedTurns(parsed(file, read.text), file);
}

/** Opens a model that plays a parsed script; `file` is used in messages. */
export function openScript(script: unknown, file: string): ScriptedModel {
  return openScripted(toScriptedTurns(script, file));
}

function toScriptedTurns(written: unknown, file: string): readonly ScriptedTurn[] {
  const script = withActions(written);
  const [problem] = checkJson(script, SCRIPT);
  if (problem !== undefined || !isScript(script)) throw invalid(file, problemText(problem));
  return script.turns.map((turn, place) => toTurn(file, turn, place));
}

/** A turn may be the structured action itself: its text is the answer. */
function withActions(script: unknown): unknown {
  if (!isObject(script) || !Array.isArray(script['turns'])) return script;
  return { ...script, turns: script['turns'].map((turn: unknown) => (isAction(turn) ? splitAction(turn) : turn)) };
}

/** What a turn says about the request and the answer is not part of the action beside it. */
function splitAction({ expect, toolCalls, finish, usage, retries, chunks, delayMs, error, ...action }: Fields): Fields {
  const turn = { expect, toolCalls, finish, usage, retries, chunks, delayMs, error };
  return { ...defined(turn), text: JSON.stringify(action) };
}

type Fields = Readonly<Record<string, unknown>>;

function isAction(turn: unknown): turn is Fields {
  return isObject(turn) && ['action', 'type', 'plan', 'plan_update', 'goal'].some((key) => Object.hasOwn(turn, key));
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

function toTurn(file: string, { expect, error, ...rest }: WrittenTurn, place: number): ScriptedTurn {
  return {
    ...rest,
    expect: expect === undefined ? undefined : toExpectation(file, expect, place),
    error: error === undefined ? undefined : toError(error),
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

function toError({ message, status = 0, isRetryable = false }: NonNullable<WrittenTurn['error']>): SkillError {
  return new SkillError({
    code: 'model/failed',
    message,
    hint: 'the script contains this failure',
    data: { model: 'scripted', status, isRetryable },
  });
}

function problemText({ type, path, expected }: ReturnType<typeof checkJson>[number] = UNREADABLE): string {
  return type === 'unknown-key'
    ? `unknown key ${pathText(path)}; expected one of ${expected}`
    : `${pathText(path)} must be ${expected}`;
}

const UNREADABLE: ReturnType<typeof checkJson>[number] = { type: 'invalid', path: [], expected: 'a script' };

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
