/**
 * The seal of a finished run: a code that only who has this user's key can make. Without it a chain of hashes shows that a journal was
 * changed, but not that it was written anew as a whole.
 */
import { linkSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { RunInfo } from '../core/journal.ts';
import { sha256 } from '../platform/hash.ts';
import { isSystemError } from '../platform/paths.ts';
import { readPrivateFile } from '../platform/private-file.ts';
import { temporaryName } from '../platform/temporary-name.ts';

const KEY_BYTES = 32;
const KEY_FILE = '.agent/seal.key';

/** The user's key, made at the first use; nothing where there is none to be had. */
export function sealKey(home: string): Uint8Array | undefined {
  const known = readSealKey(home);
  if (known !== undefined) return known;
  const file = path.join(home, KEY_FILE);
  try {
    makeKey(file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
  return readSealKey(home);
}

/** The user's key where there is one. One that others can read is no key. */
export function readSealKey(home: string): Uint8Array | undefined {
  const file = path.join(home, KEY_FILE);
  const read = readPrivateFile(file, { maxBytes: KEY_BYTES });
  if (read.type !== 'read' || read.bytes.length !== KEY_BYTES) return undefined;
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return process.platform !== 'win32' && ((stats?.mode ?? 0o777) & 0o077) !== 0 ? undefined : read.bytes;
}

/** Appears whole, and never in the place of another. */
function makeKey(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const temporary = temporaryName(file, '.tmp');
  try {
    writeFileSync(temporary, process.getBuiltinModule('node:crypto').randomBytes(KEY_BYTES), {
      flag: 'wx',
      mode: 0o600,
    });
    linkSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** `<id of the key>:<code>`. The id tells a seal by another key from a wrong one. `text` is `run.json` without the seal. */
export function sealOf(key: Uint8Array, { run, events }: Pick<RunInfo, 'run' | 'events'>, text: string): string {
  const { createHmac } = process.getBuiltinModule('node:crypto');
  const sealed = `skillwright run\n${run}\n${events.head}\n${String(events.count)}\n${sha256(text)}`;
  return `${keyId(key)}:${createHmac('sha256', key).update(sealed).digest('hex')}`;
}

/** `no-key`: made with a key that is not here. */
export type SealState = 'good' | 'bad' | 'absent' | 'no-key';

export function checkSeal(
  seal: string | undefined,
  key: Uint8Array | undefined,
  info: Pick<RunInfo, 'run' | 'events'>,
  text: string,
): SealState {
  if (seal === undefined) return 'absent';
  if (key === undefined) return 'no-key';
  const [id, code] = sealOf(key, info, text).split(':');
  const [givenId, givenCode] = seal.split(':');
  if (id === givenId && code === givenCode && seal === `${String(id)}:${String(code)}`) return 'good';
  // The right code under another id is ours all the same, and somebody changed the id.
  return id === givenId || code === givenCode ? 'bad' : 'no-key';
}

function keyId(key: Uint8Array): string {
  return sha256(Buffer.concat([Buffer.from('skillwright seal key\n'), key])).slice(0, 16);
}
