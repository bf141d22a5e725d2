import { fstatSync, statSync, writeSync } from 'node:fs';

import { isSystemError } from '../platform/paths.ts';
import { EXIT } from './exit.ts';
import type { Stream } from './terminal.ts';

/** What a pipe takes before anybody has read from it: writing so much does not wait for the reader. */
const PIPE_BYTES = 64 * 1024;

const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

/**
 * An output of the process. Node's own stream takes milliseconds to make, so what goes to a file, to the null device or into an
 * empty pipe is written without it. A terminal, a socket and a pipe that is full get Node's. A closed pipe is no error.
 */
export function standardStream(process: NodeJS.Process, name: keyof typeof DESCRIPTORS): Stream {
  const descriptor = DESCRIPTORS[name];
  let room = process.platform === 'win32' ? 0 : roomOf(descriptor);
  let opened: NodeJS.WriteStream | undefined;
  const open = (): NodeJS.WriteStream => {
    opened ??= process[name].on('error', (error: NodeJS.ErrnoException) => {
      endIfClosed(process, error);
      throw error;
    });
    return opened;
  };
  if (room === 0) return open();
  return {
    write(text) {
      const bytes = Buffer.from(text);
      // Once the stream is in use everything goes there, in order.
      const written = bytes.length > room ? 0 : writeNow(process, descriptor, bytes);
      room = written < bytes.length ? 0 : room - written;
      if (written < bytes.length) open().write(bytes.subarray(written));
    },
  };
}

/** How much can be written at once without waiting for anybody. */
function roomOf(descriptor: number): number {
  try {
    const stats = fstatSync(descriptor);
    if (stats.isFile()) return Number.POSITIVE_INFINITY;
    if (stats.isFIFO()) return PIPE_BYTES;
    return stats.isCharacterDevice() && stats.rdev === statSync('/dev/null').rdev ? Number.POSITIVE_INFINITY : 0;
  } catch (error) {
    if (isSystemError(error)) return 0;
    throw error;
  }
}

/** Gives the number of bytes written: fewer than all where the other side is slow and the descriptor does not wait. */
function writeNow(process: NodeJS.Process, descriptor: number, bytes: Buffer): number {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    endIfClosed(process, error);
    if (error.code !== 'EAGAIN') throw error;
  }
  return written;
}

function endIfClosed(process: NodeJS.Process, { code }: NodeJS.ErrnoException): void {
  // oxlint-disable-next-line unicorn/no-process-exit
  if (code === 'EPIPE') process.exit(EXIT.done);
}
