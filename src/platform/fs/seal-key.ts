import { lstatSync } from 'node:fs';
import path from 'node:path';

import { isSkillError, SkillError } from '#core';
import { nodeCrypto } from '../hash.ts';
import { readPrivateFile } from './read-file.ts';
import { makeFolders } from './make-folders.ts';
import { isSystemError } from '../system-error.ts';
import { writeFileAtomically } from './atomic-replace.ts';

const KEY_BYTES = 32;

/**
 * The key that authenticates this user's records: `.agent/seal.key` in the home folder, created on first use. A seal (HMAC) detects
 * edits by anything that cannot read the key. Throws `io/failed`.
 */
export function sealKey(home: string): Uint8Array {
  const file = sealKeyFile(home);
  try {
    const known = readKey(file);
    if (known !== undefined) return known;
    makeKey(file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw unusable(file, error.code);
  }
  const created = readKey(file);
  if (created === undefined) throw unusable(file, 'it was removed again');
  return created;
}

/** The key; `undefined` without a home folder, or if it is unusable or, unless `create` is set, missing. */
export function readSealKey(
  home: string | undefined,
  { create = false }: { readonly create?: boolean } = {},
): Uint8Array | undefined {
  try {
    if (home === undefined) return undefined;
    return create ? sealKey(home) : readKey(sealKeyFile(home));
  } catch (error) {
    if (isSkillError(error)) return undefined;
    throw error;
  }
}

function sealKeyFile(home: string): string {
  return path.join(home, '.agent/seal.key');
}

/** The file of the key and why it is unusable; it may not exist yet. */
export function checkSealKey(home: string): { readonly file: string; readonly problem?: string } {
  const file = sealKeyFile(home);
  try {
    readKey(file);
    return { file };
  } catch (error) {
    if (isSkillError(error)) return { file, problem: error.message };
    throw error;
  }
}

export interface Seals {
  /** HMAC-SHA-256 in hex. */
  compute(text: string): string;
  isValid(seal: string, text: string): boolean;
}

/** Takes a key or the home folder that has one. `purpose` separates kinds of records: a seal of one kind is invalid for another. */
export function openSeals(keyOrHome: Uint8Array | string, purpose: string): Seals {
  const key = typeof keyOrHome === 'string' ? sealKey(keyOrHome) : keyOrHome;
  const compute = (text: string): string =>
    nodeCrypto().createHmac('sha256', key).update(`${purpose}\0`).update(text).digest('hex');
  return {
    compute,
    isValid: (seal, text) =>
      /^[0-9a-f]{64}$/.test(seal) && nodeCrypto().timingSafeEqual(Buffer.from(seal), Buffer.from(compute(text))),
  };
}

function readKey(file: string): Uint8Array | undefined {
  const read = readPrivateFile(file, { maxBytes: KEY_BYTES });
  if (read.type === 'absent') return undefined;
  if (read.type === 'failed') throw unusable(file, read.reason);
  if (read.bytes.length !== KEY_BYTES)
    throw unusable(file, `it has ${String(read.bytes.length)} bytes; expected ${String(KEY_BYTES)}`);
  // Windows has no such bits and reports all of them as set.
  if (process.platform !== 'win32' && (lstatSync(file).mode & 0o077) !== 0)
    throw unusable(file, 'other users have access to it');
  return new Uint8Array(read.bytes);
}

/** If two processes create the key at once, the second one keeps the key of the first. */
function makeKey(file: string): void {
  makeFolders(path.dirname(file), 0o700);
  try {
    writeFileAtomically(file, nodeCrypto().randomBytes(KEY_BYTES), { sync: true, isNew: true });
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
  }
}

function unusable(file: string, cause: string): SkillError<'io/failed'> {
  return new SkillError({
    code: 'io/failed',
    message: `cannot use the key ${JSON.stringify(file)}: ${cause}`,
    hint: 'restrict it to yourself (chmod 600), or delete it: a new key is created, and records sealed with the old one become invalid',
    data: { path: file, cause },
  });
}
