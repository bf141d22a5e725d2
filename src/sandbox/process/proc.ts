/** Reads /proc and /sys, where files vanish with their process and may belong to another user. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

import { namesIn, quietly } from '#platform';

/** One process as /proc shows it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** In clock ticks since boot. Process ids are reused; an id together with its start time is unique. */
  readonly started: number;
  /** Exited, and not yet reaped by its parent. */
  readonly isZombie: boolean;
}

/** Larger than any /proc/PID/stat: some fifty numbers and a short name. */
const STAT_BYTES = 2048;

/** Returns `undefined` where the file does not exist or cannot be read. */
export function tryRead(file: string): string | undefined {
  return quietly(() => readFileSync(file, 'latin1'), undefined);
}

export function readProcFile(pid: number, name: string): string | undefined {
  return tryRead(`/proc/${String(pid)}/${name}`);
}

/** Returns `undefined` where the process is gone. */
export function readProcess(pid: number, buffer: Buffer = Buffer.allocUnsafe(STAT_BYTES)): ProcessRow | undefined {
  const stat = quietly(() => readShort(`/proc/${String(pid)}/stat`, buffer), undefined);
  if (stat === undefined) return undefined;
  // The command name is in parentheses and may itself contain parentheses and spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, session] = fields;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started: Number(fields[19]),
    isZombie: state === 'Z' || state === 'X',
  };
}

/** Every process of this machine; none without /proc. */
export function readProcesses(): readonly ProcessRow[] {
  const buffer: Buffer = Buffer.allocUnsafe(STAT_BYTES);
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name), buffer) ?? []);
}

/** Reads into a shared buffer: `readFileSync` allocates 64 KiB for a file of unknown length. */
function readShort(file: string, buffer: Buffer): string {
  const descriptor = openSync(file, 'r');
  try {
    return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(descriptor);
  }
}
