/**
 * The seal of a finished run: a code that needs the key of this user. The hash chain detects changes to a journal; the seal also
 * detects a journal that was rewritten as a whole.
 */
import type { RunInfo } from '#core';
import { sha256 } from '#platform';

/** `<key id>:<code>`. The id distinguishes a seal by another key from a wrong one. `text` is `run.json` without the seal. */
export function sealRun(key: Uint8Array, { run, events }: Pick<RunInfo, 'run' | 'events'>, text: string): string {
  return computeCode(key, `skillwright run\n${run}\n${events.head}\n${String(events.count)}\n${sha256(text)}`);
}

/** `text` starts with the kind of record, so that a code of one kind is invalid for another. */
export function computeCode(key: Uint8Array, text: string): string {
  const { createHmac } = process.getBuiltinModule('node:crypto');
  return `${keyId(key)}:${createHmac('sha256', key).update(text).digest('hex')}`;
}

/** `no-key`: sealed with a key that is not available. */
export type SealState = 'good' | 'bad' | 'absent' | 'no-key';

export function checkSeal(
  seal: string | undefined,
  key: Uint8Array | undefined,
  info: Pick<RunInfo, 'run' | 'events'>,
  text: string,
): SealState {
  return checkCode(seal, key, (own) => sealRun(own, info, text));
}

export function checkCode(
  seal: string | undefined,
  key: Uint8Array | undefined,
  expected: (key: Uint8Array) => string,
): SealState {
  if (seal === undefined) return 'absent';
  if (key === undefined) return 'no-key';
  const [id, code] = expected(key).split(':');
  const [givenId, givenCode] = seal.split(':');
  if (id === givenId && code === givenCode && seal === `${String(id)}:${String(code)}`) return 'good';
  // If the code is right under another id, the id was changed.
  return id === givenId || code === givenCode ? 'bad' : 'no-key';
}

function keyId(key: Uint8Array): string {
  return sha256(Buffer.concat([Buffer.from('skillwright seal key\n'), key])).slice(0, 16);
}
