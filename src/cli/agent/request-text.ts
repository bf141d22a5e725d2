import { once } from 'node:events';
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';
import { UsageError } from '../exit.ts';
import { quoted } from '../../core/text/text.ts';

/** More is no request; files are given with --in. */
const MAX_BYTES = 1024 * 1024;

export interface RequestPlaces {
  readonly words: readonly string[];
  readonly file: string | undefined;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/** What is asked for: the words of the command line, a file, or what comes on stdin. */
export async function readRequest({ words, file, cwd, signal }: RequestPlaces): Promise<string> {
  const isPiped = words.join(' ') === '-' || file === '-';
  if (words.length > 0 && file !== undefined)
    throw new UsageError('the request is given twice', 'give words, or --file');
  const text =
    isPiped || (words.length === 0 && file === undefined)
      ? await readStandardInput(isPiped, signal)
      : file === undefined
        ? words.join(' ')
        : readFile(file, cwd);
  if (text.trim() === '') throw new UsageError('the request is empty', 'say what is to be done');
  return text.trim();
}

function readFile(file: string, cwd: string): string {
  const read = readTextFile(path.resolve(cwd, file), MAX_BYTES);
  if (read.type === 'read' && read.validUtf8) return read.text;
  const cause = read.type === 'absent' ? 'it is not there' : read.type === 'failed' ? read.reason : 'it is no UTF-8';
  throw new SkillError({
    code: 'io/failed',
    message: `the request cannot be read from ${quoted(file, 200)}: ${cause}`,
    hint: 'give a text file of at most 1 MiB',
    data: { path: file, cause },
  });
}

async function readStandardInput(isAskedFor: boolean, signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY && !isAskedFor)
    throw new UsageError(
      'what is to be done?',
      'give a request, as in skillwright run "What is in this CSV file?" --in orders.csv',
    );
  const pieces: Buffer[] = [];
  let bytes = 0;
  stdin.on('data', (piece: Buffer) => {
    bytes += piece.length;
    pieces.push(piece);
    if (bytes > MAX_BYTES) stdin.destroy();
  });
  // A file that is stdin ends and is never closed; what was destroyed is closed and never ends.
  await Promise.race([once(stdin, 'end', { signal }), once(stdin, 'close', { signal })]);
  if (bytes > MAX_BYTES) throw new UsageError('the request is longer than 1 MiB', 'give files with --in');
  return Buffer.concat(pieces).toString('utf8');
}
