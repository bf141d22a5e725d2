import { readFileSync, readdirSync } from 'node:fs';

import { isSystemError } from '../../platform/fs/paths.ts';

/** Reads /proc and /sys, where files vanish with their process and may belong to another user. */

/** One process as /proc shows it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** In clock ticks since boot. Process ids are reused; an id together with its start time is unique. */
  readonly started: number;
  readonly isZombie: boolean;
}

/** Returns `undefined` where the file does not exist or cannot be read. */
export function tryRead(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** Returns an empty list where the folder does not exist or cannot be read. */
export function tryList(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

export function readProcFile(pid: number, name: string): string | undefined {
  return tryRead(`/proc/${String(pid)}/${name}`);
}

/** Returns `undefined` where the process is gone. */
export function readProcess(pid: number): ProcessRow | undefined {
  const stat = readProcFile(pid, 'stat');
  if (stat === undefined) return undefined;
  // The command name is in parentheses and may itself contain parentheses and spaces.
  const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { pid, parent: Number(parent), started: Number(rest[17]), isZombie: state === 'Z' || state === 'X' };
}

/** Every process of this machine. */
export function readProcesses(): readonly ProcessRow[] {
  return tryList('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}
