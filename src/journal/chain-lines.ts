/**
 * The newest line of a chain as the home folder remembers it. Only this user can write there, so lines that were cut off the end of
 * `chain.jsonl` are noticed. The line is written to the chain first and remembered second: after a kill in between the chain is ahead,
 * which is not a break.
 */
import { closeSync, fstatSync, lstatSync, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';

import { readField, parseJson, quoted, visibleJson } from '#core';
import {
  OPEN_FLAGS,
  isSystemError,
  makeFolders,
  readPrivateFile,
  realPath,
  sha256,
  writeFileAtomically,
} from '#platform';
import { computeCode, checkCode, type SealState } from './seal.ts';
import { FIRST_HASH, isLinked, LineReader, openJournal, parseLine } from './journal-lines.ts';
import { listRuns } from './run-folder.ts';

export interface ChainKeys {
  /** Authenticates the lines. */
  readonly sealKey?: Uint8Array | undefined;
  /** The home folder, where the newest line is remembered. */
  readonly home?: string | undefined;
  /** Receives why a line of the chain could not be remembered. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** The newest line of a chain. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/**
 * `absent`: nothing is remembered, or only by another key. `invalid`: the file was edited; the digest identifies its bytes.
 */
export type RememberedHead =
  | { readonly type: 'head'; readonly head: ChainHead }
  | { readonly type: 'absent' }
  | { readonly type: 'invalid'; readonly digest: string };

const LINE_END = 0x0a;
const MAX_BYTES = 8192;
/** A disk writes this many bytes completely or not at all. */
const SECTOR = 512;

/** Identifies a directory in the lines of its chain and in the home folder. */
export function directoryId(directory: string): string {
  return sha256(realPath(directory)).slice(0, 32);
}

/** Remembers the newest line. Does nothing without a key or a home folder. */
export function rememberHead(directory: string, head: ChainHead, { sealKey, home, onWarning }: ChainKeys): void {
  if (sealKey === undefined || home === undefined) return;
  const file = headFile(directory, home);
  const known = { directory: realPath(directory), ...head };
  const text = JSON.stringify({ ...known, mac: computeCode(sealKey, `skillwright chain\n${JSON.stringify(known)}`) });
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
    onWarning?.(
      `cannot write ${quoted(file, 200)} (${error.code}): if the newest runs are deleted, skillwright runs verify will not report it; free disk space, or give yourself write permission`,
    );
  }
}

/**
 * Overwrites one of the two slots of the file with one write; the other still holds the line before, so that one of them is whole at any
 * time. Renaming a new file over it makes ext4 write it to disk at once, which takes milliseconds. The caller holds the lock of the chain.
 * Returns false if the file does not hold the line before: a chain that began anew, or a file of another form.
 */
function overwrite(file: string, slot: Buffer, seq: number): boolean {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const descriptor = openSync(file, OPEN_FLAGS.ownFile);
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

/** The newest line that this user's runs wrote. */
export function rememberedHead(directory: string, { sealKey, home }: ChainKeys): RememberedHead {
  if (sealKey === undefined || home === undefined) return { type: 'absent' };
  const real = realPath(directory);
  const read = readPrivateFile(headFile(directory, home), { maxBytes: MAX_BYTES });
  if (read.type === 'absent') return { type: 'absent' };
  if (read.type === 'failed') return { type: 'invalid', digest: sha256(read.reason) };
  const { bytes } = read;
  // Earlier versions wrote one line.
  const middle = bytes.length % (2 * SECTOR) === 0 ? bytes.length / 2 : bytes.length;
  const slots = [bytes.subarray(0, middle), bytes.subarray(middle)].map((slot) =>
    readSlot(slot.toString('utf8'), real, sealKey),
  );
  const [newest] = slots
    .flatMap((slot) => (typeof slot === 'object' ? [slot] : []))
    .toSorted((one, two) => two.seq - one.seq);
  if (newest !== undefined) return { type: 'head', head: newest };
  return slots.includes('other-key') ? { type: 'absent' } : { type: 'invalid', digest: sha256(bytes) };
}

/** `other-key`: written with a key that this user had before. Undefined for half a slot, and for one that was edited or copied here. */
function readSlot(text: string, directory: string, sealKey: Uint8Array): ChainHead | 'other-key' | undefined {
  const value = parseJson(text);
  const [seq, hash, mac] = ['seq', 'hash', 'mac'].map((name) => readField(value, name));
  if (typeof seq !== 'number' || typeof hash !== 'string' || typeof mac !== 'string') return undefined;
  const expected = computeCode(sealKey, `skillwright chain\n${JSON.stringify({ directory, seq, hash })}`);
  if (mac === expected) return { seq, hash };
  return mac.split(':')[0] === expected.split(':')[0] ? undefined : 'other-key';
}

function headFile(directory: string, home: string): string {
  return path.join(home, '.agent/run-heads', `${directoryId(directory)}.json`);
}

export const CHAIN_FILE = 'chain.jsonl';

/** `missing`: the folder was already gone, and the user knows. `not-begun`: its record could not be created. */
export const REMOVAL_REASONS = ['age', 'size', 'named', 'missing', 'not-begun'] as const;
export type RemovalReason = (typeof REMOVAL_REASONS)[number];

/** How a chain differs from the line that the home folder remembers. */
export const BREAK_CODES = ['chain/cut', 'chain/missing', 'chain/forged', 'chain/head-missing'] as const;

/** A break that the next line records for good: nothing else remembers it once the chain goes on. */
export interface ChainBreak {
  readonly type: 'chain-break';
  readonly code: (typeof BREAK_CODES)[number];
  /** The line that was remembered. For an edited memory: 0 and the digest of its bytes. Absent if nothing is remembered. */
  readonly expected?: ChainHead;
  /** The number of lines that were there. */
  readonly found: number;
}

export interface ChainLine {
  readonly line: number;
  readonly seq: number;
  readonly time: string;
  readonly hash: string;
  /** Without its code. */
  readonly event: object;
  readonly seal: SealState;
  /** Whether it follows from the line before it; true after a line that cannot be read. */
  readonly isLinked: boolean;
}

export type ChainPiece =
  | ({ readonly type: 'line' } & ChainLine)
  | { readonly type: 'bad'; readonly line: number; readonly reason: string };

/** Every whole line of a chain; a reason if the file is there and cannot be read. */
export function readChainLines(
  directory: string,
  sealKey: Uint8Array | undefined,
): readonly ChainPiece[] | { readonly reason: string } {
  const opened = openJournal(directory, CHAIN_FILE);
  if (opened.type === 'failed') return { reason: opened.reason };
  if (opened.type === 'absent') return [];
  const pieces: ChainPiece[] = [];
  // Undefined after a line that cannot be read: what follows it can neither be linked nor authenticated.
  let previous: ChainHead | undefined = { seq: 0, hash: FIRST_HASH };
  try {
    for (const piece of new LineReader(opened.descriptor).lines()) {
      const line = pieces.length + 1;
      const parsed =
        piece.type === 'line' ? parseLine(piece.bytes) : ({ type: 'bad', reason: 'it is too long' } as const);
      if (parsed.type === 'bad') {
        pieces.push({ type: 'bad', line, reason: parsed.reason });
        previous = undefined;
        continue;
      }
      const { seq, hash, time } = parsed.line;
      const { mac, ...event }: Record<string, unknown> = { mac: undefined, ...parsed.line.event };
      const before = previous;
      pieces.push({
        type: 'line',
        line,
        seq,
        time,
        hash,
        event,
        seal:
          before === undefined
            ? 'absent'
            : checkCode(typeof mac === 'string' ? mac : undefined, sealKey, (key) =>
                chainCode(key, before.hash, event),
              ),
        isLinked: before === undefined || (seq === before.seq + 1 && isLinked(before.hash, parsed.split)),
      });
      previous = { seq, hash };
    }
  } finally {
    closeSync(opened.descriptor);
  }
  return pieces;
}

/** The code of a line, which only the owner of the key can make. */
export function chainCode(key: Uint8Array, previous: string, event: object): string {
  return computeCode(key, `skillwright runs\n${previous}\n${JSON.stringify(event)}`);
}

/** How a chain differs from what is remembered of it; undefined if nothing differs, or if a line of the chain already says so. */
export function findBreak(
  directory: string,
  pieces: readonly ChainPiece[],
  remembered: RememberedHead,
): ChainBreak | undefined {
  const found = pieces.length;
  if (remembered.type === 'absent') return unrememberedBreak(directory, pieces);
  const expected = remembered.type === 'head' ? remembered.head : { seq: 0, hash: remembered.digest };
  if (pieces.some((piece) => isLine(piece, expected) || isRecorded(piece, expected))) return undefined;
  const code = remembered.type === 'invalid' ? 'chain/forged' : pieces.length === 0 ? 'chain/missing' : 'chain/cut';
  return { type: 'chain-break', code, expected, found };
}

function isLine(piece: ChainPiece, { seq, hash }: ChainHead): boolean {
  return piece.type === 'line' && piece.seq === seq && piece.hash === hash;
}

function isRecorded(piece: ChainPiece, { seq, hash }: ChainHead): boolean {
  const expected = piece.type === 'line' && isBreak(piece.event) ? piece.event.expected : undefined;
  return expected?.seq === seq && expected.hash === hash;
}

/** Nothing is remembered: as before the first run, or because both were deleted. */
function unrememberedBreak(directory: string, pieces: readonly ChainPiece[]): ChainBreak | undefined {
  const last = pieces.at(-1);
  if (last === undefined) {
    const isNamed = listRuns(directory).some(({ reading }) => reading.type === 'run' && reading.info.chain);
    return isNamed ? { type: 'chain-break', code: 'chain/missing', found: 0 } : undefined;
  }
  // A folder that was moved here is remembered under its old path.
  const wasRemembered =
    last.type === 'line' && last.seal === 'good' && readField(last.event, 'remembered') === directoryId(directory);
  return wasRemembered ? { type: 'chain-break', code: 'chain/head-missing', found: pieces.length } : undefined;
}

export function isBreak(event: object): event is ChainBreak {
  const [type, code, expected, found] = ['type', 'code', 'expected', 'found'].map((name) => readField(event, name));
  const isHead = typeof readField(expected, 'seq') === 'number' && typeof readField(expected, 'hash') === 'string';
  return (
    type === 'chain-break' &&
    BREAK_CODES.some((known) => known === code) &&
    (expected === undefined || isHead) &&
    typeof found === 'number'
  );
}

/** What a break means, for a line of output. */
export function breakText({ code, expected, found }: ChainBreak): string {
  const lines = `${String(found)} ${found === 1 ? 'line' : 'lines'}`;
  switch (code) {
    case 'chain/missing':
      return expected === undefined
        ? `${CHAIN_FILE} was gone, and runs that it announced were there`
        : `${CHAIN_FILE} was gone; it had ${String(expected.seq)} lines`;
    case 'chain/cut':
      return expected !== undefined && found < expected.seq
        ? `it had ${lines}; its last known line was ${String(expected.seq)}`
        : 'its last known line was not the one that was written';
    case 'chain/forged':
      return 'the newest line, remembered in the home folder, was edited';
    case 'chain/head-missing':
      return 'the newest line was no longer remembered in the home folder';
  }
}
