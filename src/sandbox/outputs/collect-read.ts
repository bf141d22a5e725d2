/** Reads one opened file: its start for the result, and all of it for the digest and the artifact store. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { fstatSync, readSync, type Stats } from 'node:fs';

import {
  detectMediaType,
  failure,
  isSkillError,
  problemError,
  startOfText,
  toProblem,
  type ActionProblem,
  type Problem,
  type RunResult,
  wholeCharacters,
} from '#core';
import { isSystemError, sha256 } from '#platform';

interface OutputToSave {
  readonly name: string;
  readonly mediaType: string;
  readonly chunks: Iterable<Uint8Array>;
}

export type SaveOutput = (output: OutputToSave) => Promise<RunResult['artifact_files'][number]>;

interface FileToRead {
  readonly name: string;
  readonly descriptor: number;
  readonly stats: Stats;
  /** False: reads only the start. */
  readonly isWhole: boolean;
  readonly save: SaveOutput | undefined;
}

export interface ReadOutput {
  readonly type: 'read';
  readonly mediaType: string;
  readonly isBinary: boolean;
  /** The start of the file, up to a number of characters; absent if it is binary or not UTF-8. Valid until the next read. */
  readonly text: ((characters: number) => string) | undefined;
  readonly isHeadWhole: boolean;
  readonly digest?: string;
  readonly saved?: RunResult['artifact_files'][number];
  /** Why the store rejected the file. */
  readonly problem?: string;
}

export type OutputReading = ReadOutput | { readonly type: 'changed' | 'unreadable' };

const CHUNK_BYTES = 64 * 1024;

/** Raised into a store that is reading, so that it stores nothing. */
const CHANGED: ActionProblem = failure('file/changed', 'the file changed while it was read');

/** Reads files one after the other; `headBytes` of each are kept for its text. */
export function openOutputReader(headBytes: number): (file: FileToRead) => Promise<OutputReading> {
  const buffer = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, headBytes));
  return async ({ name, descriptor, stats, isWhole, save }) => {
    try {
      const head = buffer.subarray(0, readFully(descriptor, buffer, 0, stats.size));
      const isHeadWhole = head.length === stats.size;
      const { mediaType, isBinary } = detectMediaType(name, head);
      const text = isBinary ? undefined : decodeText(head, isHeadWhole);
      const shared = { type: 'read', mediaType, isBinary, text, isHeadWhole } as const;
      if (!isWhole) return shared;
      if (isHeadWhole && save === undefined) {
        if (!isUnchanged(descriptor, stats)) return { type: 'changed' };
        return { ...shared, digest: `sha256:${sha256(head)}` };
      }
      const hash = createHash('sha256');
      const chunks = readChunks(descriptor, stats, head, (chunk) => void hash.update(chunk));
      // A store may stop early, but the digest needs the rest: the iterator has no `return` that would end the generator.
      const next = { next: () => chunks.next() };
      const kept = await keep(save, { name, mediaType, chunks: { [Symbol.iterator]: () => next } });
      for (const rest of chunks) void rest;
      return { ...shared, ...kept, digest: `sha256:${hash.digest('hex')}` };
    } catch (error) {
      if (isSystemError(error)) return { type: 'unreadable' };
      toProblem(error, isChange);
      return { type: 'changed' };
    }
  };
}

function isChange(problem: Problem): problem is ActionProblem {
  return problem === CHANGED;
}

/** Yields the file in chunks that the store may keep. Throws before the end if the file has changed. */
function* readChunks(
  descriptor: number,
  stats: Stats,
  head: Uint8Array,
  seen: (chunk: Uint8Array) => void,
): Generator<Uint8Array, void, undefined> {
  if (head.length > 0) {
    seen(head);
    yield Buffer.from(head);
  }
  for (let at = head.length; at < stats.size;) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, stats.size - at));
    const length = readFully(descriptor, buffer, at, buffer.length);
    if (length === 0) throw problemError(CHANGED);
    at += length;
    const chunk = buffer.subarray(0, length);
    seen(chunk);
    yield chunk;
  }
  if (!isUnchanged(descriptor, stats)) throw problemError(CHANGED);
}

async function keep(
  save: SaveOutput | undefined,
  output: OutputToSave,
): Promise<Pick<ReadOutput, 'saved' | 'problem'>> {
  try {
    return { saved: await save?.(output) };
  } catch (error) {
    // A store that rejects a file or is full does not fail the run.
    if (!isSkillError(error) || error.raised === CHANGED) throw error;
    return { problem: error.message };
  }
}

function readFully(descriptor: number, buffer: Buffer, at: number, maxLength: number): number {
  const room = Math.min(buffer.length, maxLength);
  let length = 0;
  while (length < room) {
    const count = readSync(descriptor, buffer, length, room - length, at + length);
    if (count === 0) break;
    length += count;
  }
  return length;
}

function isUnchanged(descriptor: number, before: Stats): boolean {
  const after = fstatSync(descriptor);
  return after.size === before.size && after.mtimeMs === before.mtimeMs && after.ctimeMs === before.ctimeMs;
}

/** Returns text for UTF-8 only. Drops a character that is cut at the end of the head. */
function decodeText(head: Buffer, isHeadWhole: boolean): ((characters: number) => string) | undefined {
  const bytes = isHeadWhole ? head : head.subarray(0, wholeCharacters(head));
  if (!isUtf8(bytes)) return undefined;
  return (characters) => {
    const text = bytes.toString('utf8');
    return characters === Number.POSITIVE_INFINITY ? text : startOfText(text, characters);
  };
}
