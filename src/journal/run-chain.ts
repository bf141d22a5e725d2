/**
 * `chain.jsonl` beside the runs of a project: a line for the start, the end, each resume and the removal of each run, in the form of
 * journal lines. The end carries the last hash of the run's journal, and a run names the line of its start, so each run covers all before
 * it. With the key of the user each line is authenticated, and the newest line is remembered in the home folder: a run that is deleted,
 * exchanged or added shows. Before it goes on, the chain is compared with what is remembered, and a difference becomes a line of its own.
 */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';

import { visibleJson } from '#core';
import { OPEN_FLAGS, withFileLockSync, type LockOwner } from '#platform';
import { incomplete, isWriteError } from './record-storage.ts';
import { FIRST_HASH, linkLine, parseLine } from './journal-lines.ts';
import {
  directoryId,
  rememberHead,
  rememberedHead,
  CHAIN_FILE,
  chainCode,
  findBreak,
  readChainLines,
  type ChainHead,
  type ChainKeys,
  type RememberedHead,
  type ChainBreak,
  type RemovalReason,
} from './chain-lines.ts';

export type ChainEvent =
  | { readonly type: 'run-start'; readonly run: string }
  | { readonly type: 'run-end'; readonly run: string; readonly head: string; readonly count: number }
  | {
      readonly type: 'run-remove';
      readonly run: string;
      readonly reason: RemovalReason;
      /** Identifies the folder while it is being removed. */
      readonly folder?: string;
    }
  /** `by` continues `run`; empty if it is not recorded. The process tells whether a run without a record has ended. */
  | {
      readonly type: 'run-resume';
      readonly run: string;
      readonly by: string;
      /** The directory of `by`, if it is another one. */
      readonly directory?: string;
      readonly process: LockOwner;
      readonly again: boolean;
    }
  /** The user knows of all breaks in the lines before. */
  | { readonly type: 'breaks-known' }
  /** The user knows of a run whose start was lost with the chain. `head` and `count` are absent while it runs. */
  | { readonly type: 'run-known'; readonly run: string; readonly head?: string; readonly count?: number };

interface AppendOptions extends ChainKeys {
  readonly now: Date;
  readonly sync?: boolean;
  /** Called under the lock of the chain: whether the line is written (default: true). */
  readonly isValid?: () => boolean;
}

/** A hash as JSON writes it; longer lines are not ours. */
const MAX_TAIL = 4096;
const LINE_END = 0x0a;

/**
 * Appends one line on behalf of one process at a time, and returns its hash; undefined if the line was not valid any more. Throws system
 * errors, and `io/failed` if the file stays locked.
 */
export function appendToChain(directory: string, event: ChainEvent, options: AppendOptions): string | undefined {
  const { now, sync = false, isValid = () => true } = options;
  const file = path.join(directory, CHAIN_FILE);
  return withFileLockSync(file, () => {
    if (!isValid()) return undefined;
    const remembered = rememberedHead(directory, options);
    const descriptor = openSync(file, OPEN_FLAGS.growingFile, 0o600);
    try {
      // A pipe takes every line and keeps none.
      if (!fstatSync(descriptor).isFile()) incomplete(`${CHAIN_FILE} is not a regular file`);
      const { last, found } = endOfChain(directory, descriptor, remembered, options);
      const isRemembered = remembered.type === 'head' && found === undefined;
      const mark = isRemembered ? { remembered: directoryId(directory) } : {};
      const events = [...(found === undefined ? [] : [found]), { ...event, ...mark }];
      let { seq, hash } = last;
      let lines = '';
      for (const one of events) {
        seq += 1;
        const linked = linkLine(hash, lineJson(one, { seq, previous: hash, now }, options.sealKey));
        lines += linked.line;
        ({ hash } = linked);
      }
      if (writeSync(descriptor, lines) !== Buffer.byteLength(lines)) incomplete('the write was incomplete');
      if (sync) fdatasyncSync(descriptor);
      rememberHead(directory, { seq, hash }, options);
      return hash;
    } finally {
      closeSync(descriptor);
    }
  });
}

function lineJson(
  event: object,
  { seq, previous, now }: { readonly seq: number; readonly previous: string; readonly now: Date },
  sealKey: Uint8Array | undefined,
): string {
  const known = sealKey === undefined ? event : { ...event, mac: chainCode(sealKey, previous, event) };
  return `{"seq":${String(seq)},"time":"${now.toISOString()}","elapsed":0,"event":${visibleJson(JSON.stringify(known))}}`;
}

/** A run that could not begin is not missing later. If the disk is full, this fails too, and verify names the run. */
export function forgetRun(
  { id, path: place }: { readonly id: string; readonly path: string },
  keys: ChainKeys & { readonly now: Date },
): void {
  try {
    appendToChain(path.dirname(place), { type: 'run-remove', run: id, reason: 'not-begun' }, keys);
  } catch (error) {
    if (!isWriteError(error)) throw error;
  }
}

interface ChainEnd {
  readonly last: ChainHead;
  readonly found: ChainBreak | undefined;
}

/** Reads the whole chain only if its last line is not the remembered one. */
function endOfChain(
  directory: string,
  descriptor: number,
  remembered: RememberedHead,
  { sealKey, home }: ChainKeys,
): ChainEnd {
  const last = lastLine(descriptor);
  const isExpected =
    remembered.type === 'head' && last?.seq === remembered.head.seq && last.hash === remembered.head.hash;
  const isUnprotected = sealKey === undefined || home === undefined;
  if (last !== undefined && (isExpected || isUnprotected)) return { last, found: undefined };
  const pieces = readChainLines(directory, sealKey);
  const known = Array.isArray(pieces) ? pieces : [];
  return {
    // After a line that cannot be read, verify continues with the number of the line in the file.
    last: last ?? { seq: known.length, hash: FIRST_HASH },
    found: isUnprotected ? undefined : findBreak(directory, known, remembered),
  };
}

/** The last whole line; half a line at the end is cut off. Undefined if it cannot be read. */
function lastLine(descriptor: number): ChainHead | undefined {
  const { size } = fstatSync(descriptor);
  const tail = Buffer.alloc(Math.min(size, MAX_TAIL));
  readSync(descriptor, tail, 0, tail.length, size - tail.length);
  const end = tail.lastIndexOf(LINE_END);
  if (end === -1 && size > tail.length) {
    // Not half a line of ours. It stays, as a line that verify reports.
    writeSync(descriptor, '\n');
    return undefined;
  }
  if (end !== tail.length - 1) ftruncateSync(descriptor, size - tail.length + end + 1);
  if (end === -1) return { seq: 0, hash: FIRST_HASH };
  const parsed = parseLine(tail.subarray(end === 0 ? 0 : tail.lastIndexOf(LINE_END, end - 1) + 1, end));
  return parsed.type === 'bad' ? undefined : { seq: parsed.line.seq, hash: parsed.line.hash };
}
