/** The cassette file: a header line, then one line of JSON per call. The file is replaced atomically under a lock. */
import path from 'node:path';

import {
  checkJson,
  invalidInput,
  jsonSchema,
  parseJson,
  quoted,
  SkillError,
  stableJson,
  visibleJson,
  type JsonSchema,
  type Model,
  type ModelAnswer,
  type ModelDelta,
  type ModelRequest,
} from '#core';
import { isSystemError, makeFolders, readTextFile, withFileLock, writeFileAtomically } from '#platform';
import { FINISHES } from '../finishes.ts';

export const CASSETTE_VERSION = 1;

export interface CassetteHeader {
  readonly cassette: typeof CASSETTE_VERSION;
  readonly model: string;
  readonly contextWindow?: number;
  readonly answerSchemas?: Model['answerSchemas'];
  readonly turn?: RecordedTurn;
}

/** Where a cassette has its place among others of the same recording, such as those of two arms; absent if it was recorded alone. */
interface RecordedTurn {
  /** The recording, and the turn in it: the cassettes of one turn were recorded one after the other. */
  readonly session: string;
  readonly id: string;
  readonly order: number;
  readonly at: string;
}

export interface CassetteEntry {
  readonly key: string;
  /** Absent if only the hash is stored. */
  readonly request?: ModelRequest;
  /** Either an answer or a failure. */
  readonly answer?: ModelAnswer;
  readonly error?: CassetteError;
  /** The recorded deltas; empty if the caller did not stream. */
  readonly deltas: readonly ModelDelta[];
  /** Of the model, the key and the answer, to notice edits; absent in recordings of earlier versions. */
  readonly digest?: string;
}

export interface CassetteError {
  readonly message: string;
  readonly hint: string;
  readonly status: number;
  readonly isRetryable: boolean;
}

export interface Cassette {
  readonly header: CassetteHeader;
  readonly entries: readonly CassetteEntry[];
}

const MAX_BYTES = 256 * 1024 * 1024;

/** Reads a cassette. Throws `io/failed` if the file does not exist, and `input/invalid` with the line if it is malformed. */
export function readCassette(file: string): Cassette {
  const text = cassetteText(file);
  if (text === undefined) throw unreadable(file, 'the file does not exist');
  const [first = '', ...lines] = text.split('\n');
  const header = parseHeader(file, first);
  const entries = lines.flatMap((line, place) => {
    if (line === '') return [];
    const value = parseJson(line);
    if (!isEntry(value)) throw invalid(file, `line ${String(place + 2)} is not a recorded call`);
    return [value];
  });
  return { header, entries };
}

/** Appends a call and creates the file if needed. Throws if the file was recorded from another model. */
export async function appendEntry(
  file: string,
  header: CassetteHeader,
  entry: CassetteEntry,
  signal?: AbortSignal,
): Promise<void> {
  const line = encodeLine(entry);
  const act = (): void => {
    const before = cassetteText(file) ?? encodeLine(header);
    const { model } = parseHeader(file, before.slice(0, before.indexOf('\n')));
    if (model !== header.model)
      throw invalid(file, `it was recorded from ${quoted(model)}, not from ${quoted(header.model)}`);
    writeFileAtomically(file, Buffer.from(before + line));
  };
  try {
    makeFolders(path.dirname(file));
    await withFileLock(file, act, signal === undefined ? {} : { signal });
  } catch (error) {
    throw isSystemError(error) ? unreadable(file, error.code) : error;
  }
}

function encodeLine(value: CassetteHeader | CassetteEntry): string {
  return `${visibleJson(stableJson(value))}\n`;
}

function cassetteText(file: string): string | undefined {
  const read = readTextFile(file, MAX_BYTES);
  if (read.type === 'failed') throw unreadable(file, read.reason);
  return read.type === 'absent' ? undefined : read.text;
}

function parseHeader(file: string, line: string): CassetteHeader {
  const value = parseJson(line);
  if (isHeader(value)) return value;
  const version = /^\{.*"cassette":(\d{1,9})\b/.exec(line)?.[1];
  throw version === undefined || Number(version) === CASSETTE_VERSION
    ? invalid(file, 'its first line is not the header of a cassette')
    : invalid(file, `its version is ${version}; expected ${String(CASSETTE_VERSION)}`);
}

const TEXT: JsonSchema = jsonSchema.text('');
const FLAG: JsonSchema = { type: 'boolean', description: '' };
const COUNT: JsonSchema = jsonSchema.count('', 0, Number.MAX_SAFE_INTEGER);
const ANYTHING: JsonSchema = { type: 'object', description: '', additionalProperties: true };

function object(properties: Readonly<Record<string, JsonSchema>>, required = Object.keys(properties)): JsonSchema {
  return jsonSchema.section('', properties, required);
}

const list = (items: JsonSchema): JsonSchema => jsonSchema.list('', items);
const one = (...values: readonly string[]): JsonSchema => jsonSchema.choice('', values);

const CALL = object({ id: TEXT, name: TEXT, input: TEXT });
const MESSAGE: JsonSchema = {
  description: '',
  anyOf: [
    object({ role: one('user'), content: TEXT }),
    object({ role: one('assistant'), content: TEXT, toolCalls: list(CALL) }),
    object({ role: one('tool'), callId: TEXT, toolName: TEXT, content: TEXT, isError: FLAG }),
  ],
};
const REQUEST = object(
  {
    system: TEXT,
    messages: list(MESSAGE),
    tools: list(object({ name: TEXT, description: TEXT, inputSchema: ANYTHING })),
    answerSchema: ANYTHING,
    maxOutputTokens: COUNT,
  },
  ['system', 'messages', 'tools'],
);
const ANSWER = object(
  {
    text: TEXT,
    toolCalls: list(CALL),
    finish: one(...FINISHES),
    usage: object(
      { inputTokens: COUNT, outputTokens: COUNT, cachedInputTokens: COUNT, cacheWriteInputTokens: COUNT },
      [],
    ),
    retries: COUNT,
    servedBy: object({ model: TEXT, fingerprint: TEXT }, []),
  },
  ['text', 'toolCalls', 'finish', 'usage', 'retries'],
);
const DELTA: JsonSchema = {
  description: '',
  anyOf: [
    object({ type: one('text'), text: TEXT }),
    object({ type: one('tool-input'), id: TEXT, name: TEXT, text: TEXT }),
  ],
};
const ERROR = object({ message: TEXT, hint: TEXT, status: COUNT, isRetryable: FLAG });
const ENTRY: JsonSchema = {
  description: '',
  anyOf: [
    object({ key: TEXT, request: REQUEST, answer: ANSWER, deltas: list(DELTA), digest: TEXT }, [
      'key',
      'answer',
      'deltas',
    ]),
    object({ key: TEXT, request: REQUEST, error: ERROR, deltas: list(DELTA), digest: TEXT }, [
      'key',
      'error',
      'deltas',
    ]),
  ],
};
const VERSION = jsonSchema.count('', CASSETTE_VERSION, CASSETTE_VERSION);
const SCHEMAS = one('shown', 'enforced');
const TURN = object({ session: TEXT, id: TEXT, order: COUNT, at: TEXT });
const HEADER = object({ cassette: VERSION, model: TEXT, contextWindow: COUNT, answerSchemas: SCHEMAS, turn: TURN }, [
  'cassette',
  'model',
]);

function isHeader(value: unknown): value is CassetteHeader {
  return checkJson(value, HEADER).length === 0;
}

function isEntry(value: unknown): value is CassetteEntry {
  return checkJson(value, ENTRY).length === 0;
}

function invalid(file: string, problem: string): SkillError<'input/invalid'> {
  return invalidInput(
    `cannot use ${quoted(file, 200)} as a cassette: ${problem}`,
    `a cassette of version ${String(CASSETTE_VERSION)}`,
    'record it again into another file',
  );
}

function unreadable(file: string, cause: string): SkillError<'io/failed'> {
  return new SkillError({
    code: 'io/failed',
    message: `cannot use the cassette ${quoted(file, 200)}: ${cause}`,
    hint: 'record it first, into an existing folder',
    data: { path: file, cause },
  });
}
