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
import { computeCode } from './seal.ts';

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
