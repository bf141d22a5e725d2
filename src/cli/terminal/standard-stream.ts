import { fstatSync, writeFileSync } from 'node:fs';

import { isSystemError } from '../../platform/fs/paths.ts';
import { EXIT } from '../exit.ts';
import type { Stream } from './terminal.ts';

const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

export interface StreamOwner {
  /** The process is shutting down and still has records to close: a lost stdout must not cut that short. */
  readonly isEnding: () => boolean;
  /** Called when the terminal is gone. */
  readonly onHangUp: () => void;
}

/**
 * Opens an output of the process and handles its write errors. A reader of stdout that goes away (EPIPE) ends the process with 0; any
 * other write error of stdout is reported and ends it with 1. A lost stderr does not stop the work.
 */
export function standardStream(
  process: NodeJS.Process,
  name: keyof typeof DESCRIPTORS,
  { isEnding, onHangUp }: StreamOwner = { isEnding: () => false, onHangUp: () => undefined },
): Stream {
  const onError = (error: NodeJS.ErrnoException): void => {
    // The SIGHUP of a closed terminal may arrive later than the write error.
    if (error.code === 'EIO' && process[name].isTTY) onHangUp();
    if (name === 'stdout' && !isEnding()) exitWithoutOutput(process, error);
  };
  const descriptor = DESCRIPTORS[name];
  // For files, Node's own stream ignores short writes: on a full disk it would lose output and report success.
  if (isFile(descriptor)) return { write: (text) => writeAll(descriptor, text, onError) };
  return process[name].on('error', onError);
}

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

function writeAll(descriptor: number, text: string, onError: (error: NodeJS.ErrnoException) => void): void {
  try {
    writeFileSync(descriptor, text);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    onError(error);
  }
}

function exitWithoutOutput(process: NodeJS.Process, { code = 'unknown error' }: NodeJS.ErrnoException): never {
  // oxlint-disable-next-line unicorn/no-process-exit
  if (code === 'EPIPE') process.exit(EXIT.done);
  const hint = code === 'ENOSPC' || code === 'EDQUOT' ? 'hint: free some disk space\n' : '';
  // Synchronous, because the process ends on the next line.
  writeAll(DESCRIPTORS.stderr, `error: cannot write the output (${code})\n${hint}`, () => undefined);
  // oxlint-disable-next-line unicorn/no-process-exit
  process.exit(EXIT.failed);
}
