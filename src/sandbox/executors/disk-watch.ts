import { lstatSync, readdirSync, statSync, statfsSync } from 'node:fs';
import type { Stats } from 'node:fs';

import type { RunLimits } from '../../core/execution.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { tryList } from './proc.ts';

/** A look at the folders takes this part of the time at most, unless the disk says that much was written. */
const SHARE = 10;
const MIN_PAUSE_MS = 100;
/** Descriptors that are looked at for files without a name. */
const MAX_DESCRIPTORS = 20_000;

export interface DiskUse {
  readonly bytes: number;
  readonly files: number;
  /** Counting ended early because a limit was passed, or a path too long to be opened hides what is below. */
  readonly isOver: boolean;
}

export interface DiskWatchOptions {
  /** Folders that programs may write, on the host. */
  readonly folders: readonly string[];
  readonly limits: Pick<RunLimits, 'diskBytes' | 'files'>;
  /** Processes whose open files count too: a file that was removed while open takes place without a name. */
  readonly processes: () => readonly number[];
}

/**
 * Says when a program has left too much in its workspace. Counting every file is dear, so between two counts only the free space of the
 * file system is asked: what was written must be missing there. The kernel bounds each file (`RLIMIT_FSIZE`); this bounds the sum, at
 * the latest a poll after it was passed. The last look always counts: others who share the disk may have freed what was written.
 */
export function diskWatch({ folders, limits, processes }: DiskWatchOptions): (isLast: boolean) => boolean {
  let headroom = { bytes: 0, files: 0, free: freeSpace(folders) };
  let notBefore = 0;
  return (isLast) => {
    const free = freeSpace(folders);
    const isSuspicious =
      headroom.free.bytes - free.bytes >= headroom.bytes || headroom.free.files - free.files >= headroom.files;
    const began = performance.now();
    if (!isLast && !isSuspicious && began < notBefore) return false;
    const named = diskUse(folders, limits);
    const unnamed = unnamedBytes(processes(), folders);
    const ended = performance.now();
    notBefore = ended + Math.max(MIN_PAUSE_MS, SHARE * (ended - began));
    headroom = { bytes: limits.diskBytes - named.bytes - unnamed, files: limits.files - named.files, free };
    return named.isOver || headroom.bytes < 0;
  };
}

interface Free {
  readonly bytes: number;
  readonly files: number;
}

function freeSpace([folder = '/']: readonly string[]): Free {
  const { bfree, bsize, ffree } = statfsSync(folder);
  return { bytes: bfree * bsize, files: ffree };
}

/** What lies in the folders, in blocks of the disk: a sparse file costs what it takes, a second name nothing. */
export function diskUse(folders: readonly string[], limits: Pick<RunLimits, 'diskBytes' | 'files'>): DiskUse {
  // As bytes: a name that is no UTF-8 would otherwise not be found again.
  const waiting = folders.map((folder) => Buffer.from(folder));
  const devices = new Set(folders.map((folder) => statSync(folder).dev));
  const linked = new Set<number>();
  let bytes = 0;
  let files = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const names = attempt(folder, (file) => readdirSync(file, { encoding: 'buffer' }));
    if (names === 'too long') return { bytes, files, isOver: true };
    for (const name of names ?? []) {
      files += 1;
      const file = Buffer.concat([folder, SLASH, name]);
      const stats = attempt(file, (entry) => lstatSync(entry));
      if (stats === 'too long') return { bytes, files, isOver: true };
      if (stats !== undefined) {
        if (!linked.has(stats.ino)) bytes += stats.blocks * 512;
        if (stats.nlink > 1 && !stats.isDirectory()) linked.add(stats.ino);
        // Only what lies on the same disk: a folder that is swapped for a link while we look leads nowhere else.
        if (stats.isDirectory() && devices.has(stats.dev)) waiting.push(file);
      }
      if (bytes > limits.diskBytes || files > limits.files) return { bytes, files, isOver: true };
    }
  }
  return { bytes, files, isOver: false };
}

const SLASH = Buffer.from('/');

function attempt<T>(file: Buffer, look: (file: Buffer) => T): T | 'too long' | undefined {
  try {
    return look(file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // Removed since, or closed to us by its owner.
    return error.code === 'ENAMETOOLONG' ? 'too long' : undefined;
  }
}

function unnamedBytes(pids: readonly number[], folders: readonly string[]): number {
  const devices = new Set(folders.map((folder) => statSync(folder).dev));
  const seen = new Set<number>();
  let bytes = 0;
  let looked = 0;
  for (const pid of pids)
    for (const name of tryList(`/proc/${String(pid)}/fd`)) {
      looked += 1;
      if (looked > MAX_DESCRIPTORS) return bytes;
      const stats = statDescriptor(`/proc/${String(pid)}/fd/${name}`);
      if (stats === undefined || !stats.isFile() || stats.nlink > 0) continue;
      if (!devices.has(stats.dev) || seen.has(stats.ino)) continue;
      seen.add(stats.ino);
      bytes += stats.blocks * 512;
    }
  return bytes;
}

function statDescriptor(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
