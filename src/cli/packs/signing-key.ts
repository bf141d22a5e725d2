/** Opens the secret key that a command signs with. */
import path from 'node:path';

import { quoted } from '../../core/text/text.ts';
import { packRefusal } from '../../packs/problems.ts';
import type { PackRefusal } from '../../packs/problems.ts';
import { openKeyFile } from '../../packs/sign/keys.ts';
import type { SigningKey } from '../../packs/sign/secret-key.ts';
import { askPassword, passwordOfFile } from '../terminal/ask-password.ts';
import { askStreams } from '../terminal/ask.ts';
import { option } from '../command.ts';

export const KEY_FLAGS = {
  key: option('FILE', 'sign with this secret key (see skillwright keys new)', { short: 'k' }),
  'password-file': option('FILE', 'read the password of the key from FILE'),
} as const;

export interface OpenKeyOptions {
  /** Absolute path. */
  readonly file: string;
  readonly passwordFile: string | undefined;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/** A password is asked for only where the key has one. */
export async function openKey({ file, passwordFile, cwd, signal }: OpenKeyOptions): Promise<SigningKey | PackRefusal> {
  const refused = (reason: string): PackRefusal =>
    packRefusal('source/failed', `cannot use the key ${quoted(file, 200)}: ${reason}`, file);
  const stored = passwordFile === undefined ? undefined : passwordOfFile(passwordFile, cwd);
  if (typeof stored === 'object') return stored;
  const opened = await openKeyFile(file, stored);
  if (opened.type === 'signing-key') return opened;
  if (opened.problem !== 'password' || stored !== undefined) return refused(opened.reason);
  const typed = await askPassword(askStreams(process), `password of ${quoted(path.basename(file))}`, { signal });
  if (typed === undefined) return refused(`${opened.reason}; without a terminal pass --password-file`);
  const again = await openKeyFile(file, typed);
  return again.type === 'signing-key' ? again : refused(again.reason);
}
