import { fstatSync, statSync, writeSync } from 'node:fs';

import { isSystemError } from '#platform';
import { EXIT } from '../exit-codes.ts';
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
  // A terminal needs Node's stream for its width. Everything else is written directly: loading that stream takes milliseconds, and for
  // files it ignores short writes, so that on a full disk it would lose output and report success.
  let stream = mayBeTerminal(DESCRIPTORS[name]) ? process[name].on('error', onError) : undefined;
  if (stream !== undefined) return stream;
  return {
    write(text) {
      if (stream !== undefined) return stream.write(text);
      const rest = writeNow(DESCRIPTORS[name], Buffer.from(text), onError);
      if (rest.length === 0) return true;
      // The reader of a non-blocking pipe is slow. Node's stream can wait for it.
      stream = process[name].on('error', onError);
      return stream.write(rest);
    },
  };
}

/** A device other than the null device. `node:tty` would tell exactly, and load the stream that is to be avoided. */
function mayBeTerminal(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isCharacterDevice() && stats.rdev !== statSync('/dev/null', { throwIfNoEntry: false })?.rdev;
  } catch (error) {
    // A closed descriptor, which Node's stream ignores.
    if (isSystemError(error)) return true;
    throw error;
  }
}

/** Writes synchronously, and returns what a non-blocking pipe has no room for. */
function writeNow(descriptor: number, bytes: Buffer, onError: (error: NodeJS.ErrnoException) => void): Buffer {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'EAGAIN') return rest;
    onError(error);
  }
  return rest.subarray(rest.length);
}

function exitWithoutOutput(process: NodeJS.Process, { code = 'unknown error' }: NodeJS.ErrnoException): never {
  // oxlint-disable-next-line unicorn/no-process-exit
  if (code === 'EPIPE') process.exit(EXIT.done);
  const hint = code === 'ENOSPC' || code === 'EDQUOT' ? 'hint: free some disk space\n' : '';
  // Synchronous, because the process ends on the next line.
  writeNow(DESCRIPTORS.stderr, Buffer.from(`error: cannot write the output (${code})\n${hint}`), () => undefined);
  // oxlint-disable-next-line unicorn/no-process-exit
  process.exit(EXIT.failed);
}
