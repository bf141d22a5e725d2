/** The secret key that a command signs with. */
import path from 'node:path';

import { quoted } from '#core';
import { askPassword, passwordOfFile } from '../terminal/ask-password.ts';
import { askStreams } from '../terminal/ask.ts';
import { option, type Invocation } from '../command.ts';

export const KEY_FLAGS = {
  key: option('FILE', 'sign with this secret key (see skillwright keys new)', { short: 'k' }),
  'password-file': option('FILE', 'read the password of the key from FILE'),
} as const;

/** The key in `file`, relative to `cwd`, and where its password comes from. */
export function chooseKey(file: string, cwd: string, { flags, signal }: Invocation<typeof KEY_FLAGS>) {
  const { 'password-file': passwordFile } = flags;
  return {
    file: path.resolve(cwd, file),
    password: passwordFile === undefined ? undefined : passwordOfFile(passwordFile, cwd),
    askPassword: () => askPassword(askStreams(process), `password of ${quoted(path.basename(file))}`, { signal }),
  };
}
