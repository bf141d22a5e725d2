/** Opens the secret key that a command signs with. */
import path from 'node:path';

import { problemError, quoted, type SkillError } from '#core';
import { openKeyFile, packRefusal, type SigningKey } from '#packs';
import { askPassword, passwordOfFile } from '../terminal/ask-password.ts';
import { askStreams } from '../terminal/ask.ts';
import { option, type Invocation } from '../command.ts';

export const KEY_FLAGS = {
  key: option('FILE', 'sign with this secret key (see skillwright keys new)', { short: 'k' }),
  'password-file': option('FILE', 'read the password of the key from FILE'),
} as const;

interface KeyInvocation extends Invocation<typeof KEY_FLAGS> {
  readonly cwd: string;
}

/** Opens a key by its absolute path. A password is asked for only where the key has one. */
export async function openKey(file: string, { flags, cwd, signal }: KeyInvocation): Promise<SigningKey> {
  const refused = (reason: string): SkillError =>
    problemError(packRefusal('source/failed', `cannot use the key ${quoted(file, 200)}: ${reason}`, file));
  const { 'password-file': passwordFile } = flags;
  const stored = passwordFile === undefined ? undefined : passwordOfFile(passwordFile, cwd);
  const opened = await openKeyFile(file, stored);
  if (opened.type === 'signing-key') return opened;
  if (opened.problem !== 'password' || stored !== undefined) throw refused(opened.reason);
  const typed = await askPassword(askStreams(process), `password of ${quoted(path.basename(file))}`, { signal });
  if (typed === undefined) throw refused(`${opened.reason}; without a terminal pass --password-file`);
  const again = await openKeyFile(file, typed);
  if (again.type !== 'signing-key') throw refused(again.reason);
  return again;
}
