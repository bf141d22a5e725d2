/** Passwords of keys: from a file that is its owner's alone, or typed unseen. Never from the command line, which others can read. */
import path from 'node:path';

import { packRefusal } from '../../packs/problems.ts';
import type { PackRefusal } from '../../packs/problems.ts';
import { quoted } from '../../core/text/text.ts';
import { readPrivateFile } from '../../platform/fs/read-file.ts';
import { isTerminal, takeKeys } from './ask.ts';
import type { AskStreams } from './ask.ts';

const MAX_BYTES = 4096;
const [CTRL_C, CTRL_D, CTRL_U, ESCAPE] = ['\u0003', '\u0004', '\u0015', '\u001B'];

/** The text of a password file, without the line end that editors add. */
export function passwordOfFile(file: string, cwd: string): string | PackRefusal {
  const place = path.resolve(cwd, file);
  const read = readPrivateFile(place, { maxBytes: MAX_BYTES, isSecret: true });
  if (read.type === 'read') return read.bytes.toString('utf8').replace(/\r?\n$/, '');
  const reason = read.type === 'absent' ? 'it is not there' : read.reason;
  return packRefusal('source/failed', `the password file ${quoted(place, 200)} cannot be used: ${reason}`, place);
}

/** What is typed up to the enter key; nothing where nobody is at a terminal, or they leave. Not a character of it is shown. */
export async function askPassword(
  { input, output, interrupt }: AskStreams,
  prompt: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<string | undefined> {
  if (!isTerminal({ input, output, interrupt })) return undefined;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    let typed = '';
    const leave = (): void => {
      release();
      signal.removeEventListener('abort', onAbort);
      output.write('\n');
    };
    const finish = (answer: string | undefined): void => {
      leave();
      resolve(answer);
    };
    const onAbort = (): void => {
      leave();
      reject(signal.reason);
    };
    const onKeys = (keys: string): void => {
      // An arrow key is no part of a password.
      if (keys.startsWith(ESCAPE)) return;
      for (const key of keys) {
        if (key === '\r' || key === '\n') return finish(typed);
        if (key === CTRL_C || key === CTRL_D) {
          finish(undefined);
          if (key === CTRL_C) interrupt();
          return;
        }
        typed = edited(typed, key);
      }
    };
    signal.addEventListener('abort', onAbort, { once: true });
    output.write(`${prompt}: `);
    const release = takeKeys(input, onKeys, () => {
      finish(undefined);
    });
  });
}

function edited(typed: string, key: string): string {
  if (key === CTRL_U) return '';
  if (key === '\u007F' || key === '\b') return [...typed].slice(0, -1).join('');
  return key < ' ' || typed.length >= MAX_BYTES ? typed : typed + key;
}
