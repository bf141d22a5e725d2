/**
 * `chain.jsonl` beside the runs of a project: a line for the start, the end and the removal of each run, in the form of journal lines. The end
 * carries the last hash of the run's journal, and a run names the line of its start, so each run covers all before it. With the key of the
 * user each line is authenticated, and the newest line is remembered in the home folder: a run that is deleted, exchanged or added shows.
 */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, lstatSync, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';

import { visibleJson } from '../core/json/visible-json.ts';
import { writeFileAtomically } from '../platform/fs/atomic-replace.ts';
import { withFileLockSync } from '../platform/fs/lock.ts';
import { makeFolders } from '../platform/fs/make-folders.ts';
import { GROWING_FILE, OWN_FILE } from '../platform/fs/open-flags.ts';
import { isSystemError, realPath } from '../platform/fs/paths.ts';
import { readPrivateFile } from '../platform/fs/read-file.ts';
import { sha256 } from '../platform/hash.ts';
import { IncompleteWrite } from './append-file.ts';
import { FIRST_HASH, linkLine } from './chain.ts';
import { parseLine } from './journal-lines.ts';
import { isWriteError } from './record-failure.ts';
import { codeOf } from './seal.ts';
import { fieldOf } from '../core/json/shape.ts';
import { parseJson } from '../core/json/parse-json.ts';

export const CHAIN_FILE = 'chain.jsonl';

export type ChainEvent =
  | { readonly type: 'run-start'; readonly run: string }
  | { readonly type: 'run-end'; readonly run: string; readonly head: string; readonly count: number }
  | { readonly type: 'run-remove'; readonly run: string; readonly reason: RemovalReason; readonly head?: string };

/** `missing`: the folder was already gone, and the user knows. */
export const REMOVAL_REASONS = ['age', 'size', 'named', 'missing'] as const;
export type RemovalReason = (typeof REMOVAL_REASONS)[number];

export interface ChainKeys {
  /** Authenticates the lines. */
  readonly sealKey?: Uint8Array | undefined;
  /** The home folder, where the newest line is remembered. */
  readonly home?: string | undefined;
}

/** A hash as JSON writes it; longer lines are not ours. */
const MAX_TAIL = 4096;

/** Appends one line on behalf of one process at a time, and returns its hash. Throws system errors and `io/failed` if the file stays locked. */
export function appendToChain(
  directory: string,
  event: ChainEvent,
  { sealKey, home, now, sync = false }: ChainKeys & { readonly now: Date; readonly sync?: boolean },
): string {
  const file = path.join(directory, CHAIN_FILE);
  return withFileLockSync(file, () => {
    const descriptor = openSync(file, GROWING_FILE, 0o600);
    try {
      const { seq, hash: previous } = lastLine(descriptor);
      const known = sealKey === undefined ? event : { ...event, mac: chainCode(sealKey, previous, event) };
      const json = `{"seq":${String(seq + 1)},"time":"${now.toISOString()}","elapsed":0,"event":${visibleJson(JSON.stringify(known))}}`;
      const { line, hash } = linkLine(previous, json);
      if (writeSync(descriptor, line) !== Buffer.byteLength(line))
        throw new IncompleteWrite('the write was incomplete');
      if (sync) fdatasyncSync(descriptor);
      if (sealKey !== undefined && home !== undefined) remember(directory, { seq: seq + 1, hash }, { sealKey, home });
      return hash;
    } finally {
      closeSync(descriptor);
    }
  });
}

/** A run that could not begin is not missing later. If the disk is full, this fails too, and verify names the run. */
export function forgetRun(
  { id, path: place }: { readonly id: string; readonly path: string },
  keys: ChainKeys & { readonly now: Date },
): void {
  try {
    appendToChain(path.dirname(place), { type: 'run-remove', run: id, reason: 'missing' }, keys);
  } catch (error) {
    if (!isWriteError(error)) throw error;
  }
}

/** The code of a line, which only the owner of the key can make. */
export function chainCode(key: Uint8Array, previous: string, event: object): string {
  return codeOf(key, `skillwright runs\n${previous}\n${JSON.stringify(event)}`);
}

/** The last whole line; half a line at the end is cut off. An unreadable one starts a new chain, which verify reports. */
function lastLine(descriptor: number): ChainHead {
  const { size } = fstatSync(descriptor);
  const tail = Buffer.alloc(Math.min(size, MAX_TAIL));
  readSync(descriptor, tail, 0, tail.length, size - tail.length);
  const end = tail.lastIndexOf(LINE_END);
  if (end !== tail.length - 1) ftruncateSync(descriptor, size - tail.length + end + 1);
  if (end === -1) return { seq: 0, hash: FIRST_HASH };
  const parsed = parseLine(tail.subarray(end === 0 ? 0 : tail.lastIndexOf(LINE_END, end - 1) + 1, end));
  return parsed.type === 'bad' ? { seq: 0, hash: FIRST_HASH } : { seq: parsed.line.seq, hash: parsed.line.hash };
}

const LINE_END = 0x0a;

/** The newest line of a chain. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

interface HeadKeys {
  readonly sealKey: Uint8Array;
  readonly home: string;
}

function remember(directory: string, head: ChainHead, { sealKey, home }: HeadKeys): void {
  const real = realPath(directory);
  const file = headFile(real, home);
  const known = { directory: real, ...head };
  const text = JSON.stringify({ ...known, mac: codeOf(sealKey, `skillwright chain\n${JSON.stringify(known)}`) });
  const json = Buffer.from(visibleJson(text));
  const slot = Buffer.alloc(Math.ceil((json.length + 1) / SECTOR) * SECTOR, ' ');
  json.copy(slot);
  slot[slot.length - 1] = LINE_END;
  try {
    if (overwrite(file, slot, head.seq)) return;
    makeFolders(path.dirname(file), 0o700);
    writeFileAtomically(file, Buffer.concat([slot, slot]), { mode: 0o600 });
  } catch (error) {
    // A home folder that cannot be written costs this protection, not the run.
    if (!isSystemError(error)) throw error;
  }
}

/** A disk writes this many bytes completely or not at all. */
const SECTOR = 512;

/**
 * Overwrites one of the two slots of the file with one write; the other still holds the line before, so that one of them is whole at any
 * time. Renaming a new file over it makes ext4 write it to disk at once, which takes milliseconds. The caller holds the lock of the chain.
 * Returns false if the file does not hold the line before: a chain that began anew, or a file of another form.
 */
function overwrite(file: string, slot: Buffer, seq: number): boolean {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const descriptor = openSync(file, OWN_FILE);
  try {
    const place = (seq % 2) * slot.length;
    const other = Buffer.alloc(slot.length);
    if (fstatSync(descriptor).size !== 2 * slot.length) return false;
    readSync(descriptor, other, 0, other.length, slot.length - place);
    return (
      other.includes(`,"seq":${String(seq - 1)},`) && writeSync(descriptor, slot, 0, slot.length, place) === slot.length
    );
  } finally {
    closeSync(descriptor);
  }
}

/** The newest line that this user's runs wrote; undefined if none is known, `invalid` if the file was edited. */
export function rememberedHead(directory: string, { sealKey, home }: ChainKeys): ChainHead | 'invalid' | undefined {
  if (sealKey === undefined || home === undefined) return undefined;
  const real = realPath(directory);
  const read = readPrivateFile(headFile(real, home), { maxBytes: 2 * MAX_TAIL });
  if (read.type === 'absent') return undefined;
  if (read.type === 'failed') return 'invalid';
  const { bytes } = read;
  // Earlier versions wrote one line.
  const middle = bytes.length % (2 * SECTOR) === 0 ? bytes.length / 2 : bytes.length;
  const heads = [bytes.subarray(0, middle), bytes.subarray(middle)]
    .flatMap((slot) => readSlot(slot.toString('utf8'), real, sealKey) ?? [])
    .toSorted((one, two) => two.seq - one.seq);
  return heads[0] ?? 'invalid';
}

/** Returns undefined for half a slot, and for one that another key or another directory wrote. */
function readSlot(text: string, directory: string, sealKey: Uint8Array): ChainHead | undefined {
  const value = parseJson(text);
  const [seq, hash, mac] = ['seq', 'hash', 'mac'].map((name) => fieldOf(value, name));
  if (typeof seq !== 'number' || typeof hash !== 'string') return undefined;
  const known = { directory, seq, hash };
  return mac === codeOf(sealKey, `skillwright chain\n${JSON.stringify(known)}`) ? { seq, hash } : undefined;
}

function headFile(realDirectory: string, home: string): string {
  return path.join(home, '.agent/run-heads', `${sha256(realDirectory).slice(0, 32)}.json`);
}
