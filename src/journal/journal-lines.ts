/** The lines of `events.jsonl`, as bytes and as read. The file may be larger than memory, and it is untrusted. */
import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';

import { sha256, OPEN_FLAGS, isSystemError } from '#platform';
import { readField, parseJson, type JournalLine } from '#core';
import { EVENTS_FILE } from './run-folder.ts';

/** The previous hash of the first line. */
export const FIRST_HASH = '0'.repeat(64);

/** Longer lines are not read. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

const TAIL = /^,"hash":"([0-9a-f]{64})"\}$/;
const TAIL_LENGTH = ',"hash":""}'.length + 64;

export interface LinkedLine {
  /** Including its line feed. */
  readonly line: string;
  readonly hash: string;
}

/** Links a line, given as JSON without its hash, to the previous line. */
export function linkLine(previous: string, json: string): LinkedLine {
  const hash = sha256(`${previous}\n${json}`);
  return { line: `${json.slice(0, -1)},"hash":"${hash}"}\n`, hash };
}

export interface SplitLine {
  /** The hashed bytes: the line without its hash. */
  readonly json: Buffer;
  readonly hash: string;
}

/** Splits a line (without its line feed) into JSON and hash. Returns undefined if it does not end with a hash. */
export function splitLine(line: Buffer): SplitLine | undefined {
  const cut = line.length - TAIL_LENGTH;
  if (cut < 1) return undefined;
  const hash = TAIL.exec(line.toString('latin1', cut))?.[1];
  return hash === undefined ? undefined : { json: Buffer.concat([line.subarray(0, cut), CLOSE]), hash };
}

const CLOSE = Buffer.from('}');

export function isLinked(previous: string, { json, hash }: SplitLine): boolean {
  return sha256(Buffer.concat([Buffer.from(`${previous}\n`), json])) === hash;
}

const CHUNK_BYTES = 64 * 1024;
const LINE_END = 0x0a;

export type OpenedJournal =
  | { readonly type: 'open'; readonly descriptor: number; readonly bytes: number }
  | { readonly type: 'absent' }
  | { readonly type: 'failed'; readonly reason: string };

/** Opens the journal of a run, or another file of lines, unless it is a link, a pipe or a folder. The caller closes the descriptor. */
export function openJournal(run: string, name = EVENTS_FILE): OpenedJournal {
  try {
    const descriptor = openSync(path.join(run, name), OPEN_FLAGS.foreignFile);
    const stats = fstatSync(descriptor);
    if (stats.isFile()) return { type: 'open', descriptor, bytes: stats.size };
    closeSync(descriptor);
    return { type: 'failed', reason: 'it is not a regular file' };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { type: 'absent' };
    return { type: 'failed', reason: error.code === 'ELOOP' ? 'it is a link' : error.code };
  }
}

/** Whether the file ends in the middle of a line. */
export function endsTorn({ descriptor, bytes }: { readonly descriptor: number; readonly bytes: number }): boolean {
  if (bytes === 0) return false;
  const last = Buffer.alloc(1);
  return readSync(descriptor, last, 0, 1, bytes - 1) === 1 && last[0] !== LINE_END;
}

/** A line without its line feed. */
export type JournalPiece = { readonly type: 'line'; readonly bytes: Buffer } | { readonly type: 'too-long' };

export class LineReader {
  readonly #descriptor: number;
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #position = 0;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Yields every whole line that was added since the last call. Stops after a line that is too long. */
  *lines(): Generator<JournalPiece> {
    for (;;) {
      const count = readSync(this.#descriptor, this.#chunk, 0, CHUNK_BYTES, this.#position);
      if (count === 0) return;
      this.#position += count;
      let from = 0;
      for (let end = this.#end(from, count); end !== -1; end = this.#end(from, count)) {
        this.#hold(from, end);
        yield { type: 'line', bytes: this.#take() };
        from = end + 1;
      }
      this.#hold(from, count);
      if (this.#pendingBytes > MAX_LINE_BYTES) {
        yield { type: 'too-long' };
        return;
      }
    }
  }

  /** Returns the bytes after the last whole line. */
  rest(): Buffer {
    return Buffer.concat(this.#pending);
  }

  #end(from: number, count: number): number {
    const end = this.#chunk.indexOf(LINE_END, from);
    return end < count ? end : -1;
  }

  #hold(from: number, to: number): void {
    if (from === to) return;
    this.#pending.push(Buffer.from(this.#chunk.subarray(from, to)));
    this.#pendingBytes += to - from;
  }

  #take(): Buffer {
    const [only] = this.#pending;
    const line = this.#pending.length === 1 && only !== undefined ? only : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    return line;
  }
}

/** A line as stored, with references instead of long texts. */
export type StoredLine = Omit<JournalLine, 'event'> & { readonly event: object };

export type ParsedLine =
  | { readonly type: 'line'; readonly line: StoredLine; readonly split: SplitLine }
  | { readonly type: 'bad'; readonly reason: string };

export function parseLine(bytes: Buffer): ParsedLine {
  if (!isUtf8(bytes)) return { type: 'bad', reason: 'it is not UTF-8' };
  const split = splitLine(bytes);
  if (split === undefined) return { type: 'bad', reason: 'it does not end with its hash' };
  const value = parseJson(split.json.toString('utf8'));
  if (value === undefined) return { type: 'bad', reason: 'it is not JSON' };
  const [seq, time, elapsed, event] = ['seq', 'time', 'elapsed', 'event'].map((name) => readField(value, name));
  if (
    typeof seq !== 'number' ||
    typeof time !== 'string' ||
    typeof elapsed !== 'number' ||
    typeof event !== 'object' ||
    event === null
  )
    return { type: 'bad', reason: 'it has an unexpected form' };
  return { type: 'line', line: { seq, time, elapsed, event, hash: split.hash }, split };
}
