/** Reads passwords from a private file or the terminal; never from the command line, which other users can read. */
import path from 'node:path';

import { packRefusal } from '#packs';
import { problemError, quoted } from '#core';
import { readPrivateFile } from '#platform';
import { isTerminal, readKeys, type AskStreams } from './ask.ts';

const MAX_BYTES = 4096;
const [CTRL_C, CTRL_D, CTRL_U, ESCAPE] = ['\u0003', '\u0004', '\u0015', '\u001B'];

/** The password in a file, without the final line break that editors add. */
export function passwordOfFile(file: string, cwd: string): string {
  const place = path.resolve(cwd, file);
  const read = readPrivateFile(place, { maxBytes: MAX_BYTES, isSecret: true });
  if (read.type === 'read') return read.bytes.toString('utf8').replace(/\r?\n$/, '');
  const reason = read.type === 'absent' ? 'file not found' : read.reason;
  throw problemError(
    packRefusal('source/failed', `cannot use the password file ${quoted(place, 200)}: ${reason}`, place),
  );
}

/** Reads a line from the terminal without echo; undefined without a terminal, or if the user cancels. */
export async function askPassword(
  streams: AskStreams,
  prompt: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<string | undefined> {
  if (!isTerminal(streams)) return undefined;
  return readKeys<string | undefined>(streams, signal, undefined, ({ finish, cancel }) => {
    const { output } = streams;
    let typed = '';
    const onKeys = (keys: string): void => {
      // Ignores arrow keys.
      if (keys.startsWith(ESCAPE)) return;
      for (const key of keys) {
        if (key === '\r' || key === '\n') return finish(typed);
        if (key === CTRL_C) return cancel();
        if (key === CTRL_D) return finish(undefined);
        typed = edited(typed, key);
      }
    };
    return { onKeys, start: () => void output.write(`${prompt}: `), leave: () => void output.write('\n') };
  });
}

function edited(typed: string, key: string): string {
  if (key === CTRL_U) return '';
  if (key === '\u007F' || key === '\b') return [...typed].slice(0, -1).join('');
  return key < ' ' || typed.length >= MAX_BYTES ? typed : typed + key;
}
