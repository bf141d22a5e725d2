import { fstatSync, statSync, writeSync } from 'node:fs';
import type { Stats } from 'node:fs';

import { isSystemError } from '../../platform/fs/paths.ts';
import { EXIT } from '../exit.ts';
import type { Stream } from './terminal.ts';

/** What a pipe takes before anybody has read from it: writing so much does not wait for the reader. */
const PIPE_BYTES = 64 * 1024;

const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

/** How a process ends that has something to close first. */
export interface Ending {
  readonly isEnding: () => boolean;
  readonly hangUp: () => void;
}

/**
 * An output of the process. Node's own stream takes milliseconds to make, so what goes to a file, to the null device and its like
 * or into an empty pipe is written without it. A terminal, a socket and a pipe that is full get Node's. A reader of the output that
 * goes away is no error; output that cannot be written is said and ends the process, unless it is ending and has its records to
 * close. Where messages cannot be written the work goes on without them.
 */
export function standardStream(
  process: NodeJS.Process,
  name: keyof typeof DESCRIPTORS,
  { isEnding, hangUp }: Ending = { isEnding: () => false, hangUp: () => undefined },
): Stream {
  const descriptor = DESCRIPTORS[name];
  let room = process.platform === 'win32' ? 0 : roomOf(descriptor);
  let opened: NodeJS.WriteStream | undefined;
  const giveUp = (error: NodeJS.ErrnoException): void => {
    // A terminal that goes away is told of as a signal, too, which may come later.
    if (error.code === 'EIO' && opened?.isTTY === true) hangUp();
    if (name === 'stdout' && !isEnding()) endWithout(process, error);
  };
  const open = (): NodeJS.WriteStream => {
    opened ??= process[name].on('error', giveUp);
    return opened;
  };
  if (room === 0) return open();
  return {
    write(text) {
      const bytes = Buffer.from(text);
      // Once the stream is in use everything goes there, in order.
      const written = bytes.length > room ? 0 : writeNow(descriptor, bytes, giveUp);
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
    return stats.isCharacterDevice() && driverOf(stats) === driverOf(statSync('/dev/null'))
      ? Number.POSITIVE_INFINITY
      : 0;
  } catch (error) {
    if (isSystemError(error)) return 0;
    throw error;
  }
}

/** The null device shares its driver with devices that never wait either; one of them is always full. */
function driverOf({ rdev }: Stats): number {
  return Math.floor(rdev / 256);
}

/** Gives the number of bytes that are done with: fewer than all where the other side is slow and the descriptor does not wait. */
function writeNow(descriptor: number, bytes: Buffer, onFailure: (error: NodeJS.ErrnoException) => void): number {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'EAGAIN') return written;
    onFailure(error);
  }
  return bytes.length;
}

/** What was asked for cannot be given: whoever reads it has gone, or there is no room for it. */
function endWithout(process: NodeJS.Process, { code = 'an unknown error' }: NodeJS.ErrnoException): never {
  // oxlint-disable-next-line unicorn/no-process-exit
  if (code === 'EPIPE') process.exit(EXIT.done);
  const hint = code === 'ENOSPC' || code === 'EDQUOT' ? 'hint: make room on the disk\n' : '';
  const said = Buffer.from(`error: the output cannot be written (${code})\n${hint}`);
  writeNow(DESCRIPTORS.stderr, said, () => undefined);
  // oxlint-disable-next-line unicorn/no-process-exit
  process.exit(EXIT.failed);
}
