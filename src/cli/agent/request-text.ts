import { once } from 'node:events';
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';
import { UsageError } from '../exit.ts';
import { quoted } from '../../core/text/text.ts';

/** Larger inputs are files, which belong to --in. */
const MAX_BYTES = 1024 * 1024;

export interface RequestSources {
  readonly words: readonly string[];
  readonly file: string | undefined;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/** Reads the request from the words of the command line, a file, or stdin, as written but for line ends at the end. */
export async function readRequest({ words, file, cwd, signal }: RequestSources): Promise<string> {
  const isPiped = words.join(' ') === '-' || file === '-';
  if (words.length > 0 && file !== undefined)
    throw new UsageError('the request is given twice', 'give either words or --file');
  const text =
    isPiped || (words.length === 0 && file === undefined)
      ? await readStandardInput(isPiped, signal)
      : file === undefined
        ? words.join(' ')
        : readFile(file, cwd);
  if (text.trim() === '') throw new UsageError('the request is empty', 'describe the task');
  return text.replace(/(?:\r?\n)+$/, '');
}

function readFile(file: string, cwd: string): string {
  const read = readTextFile(path.resolve(cwd, file), MAX_BYTES);
  if (read.type === 'read' && read.validUtf8) return read.text;
  const cause = read.type === 'absent' ? 'file not found' : read.type === 'failed' ? read.reason : 'not valid UTF-8';
  throw new SkillError({
    code: 'io/failed',
    message: `cannot read the request from ${quoted(file, 200)}: ${cause}`,
    hint: 'name a UTF-8 text file of at most 1 MiB',
    data: { path: file, cause },
  });
}

async function readStandardInput(isExplicit: boolean, signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  if (stdin.isTTY && !isExplicit)
    throw new UsageError(
      'missing argument: REQUEST',
      'e.g. skillwright run "What is in this CSV file?" --in orders.csv',
    );
  const pieces: Buffer[] = [];
  let bytes = 0;
  stdin.on('data', (piece: Buffer) => {
    bytes += piece.length;
    pieces.push(piece);
    if (bytes > MAX_BYTES) stdin.destroy();
  });
  // A file as stdin emits `end` but never `close`; a destroyed stream emits `close` but never `end`.
  await Promise.race([once(stdin, 'end', { signal }), once(stdin, 'close', { signal })]);
  if (bytes > MAX_BYTES) throw new UsageError('the request is larger than 1 MiB', 'pass files with --in');
  return Buffer.concat(pieces).toString('utf8');
}
