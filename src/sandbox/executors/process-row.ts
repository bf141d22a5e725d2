import { readFileSync, readdirSync } from 'node:fs';

import { isSystemError } from '../../platform/fs/paths.ts';

/** One process as /proc shows it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** In ticks since the start of the machine; with the number it names one process for ever. */
  readonly started: number;
  /** Dead, and only waiting for its parent to notice. */
  readonly isZombie: boolean;
}

/** One process, or nothing where it is gone. */
export function readProcess(pid: number): ProcessRow | undefined {
  const stat = readProcFile(pid, 'stat');
  if (stat === undefined) return undefined;
  // The name stands in parentheses and may hold anything, parentheses and spaces included.
  const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { pid, parent: Number(parent), started: Number(rest[17]), isZombie: state === 'Z' || state === 'X' };
}

/** Every process of this machine. */
export function readProcesses(): readonly ProcessRow[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}

/** A file of a process; nothing where it is gone or another user's. */
export function readProcFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${String(pid)}/${name}`, 'latin1');
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
