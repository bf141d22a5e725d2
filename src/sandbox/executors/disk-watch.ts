import path from 'node:path';
import { lstatSync, readdirSync, statSync, statfsSync } from 'node:fs';

import { allowReading, isSystemError, namesIn, quietly } from '#platform';
import { readProcFile, tryRead } from '../process/proc.ts';
import { cpuTimer } from '../process/cpu-timer.ts';
import type { RunLimits } from '../program-types.ts';

/** Counting takes at most a tenth of a processor, unless the free space shows that much was written. */
const PAUSE_FACTOR = 10;
const MIN_PAUSE_MS = 100;
/** A program with more open descriptors counts as over its limit, because they cannot be checked in time. */
const MAX_DESCRIPTORS = 100_000;
/** Programs are expected to write at most this much in a millisecond; it decides how soon the next check is. */
const BYTES_PER_MS = 2 * 1024 * 1024;
const MIN_CHECK_MS = 10;

interface DiskUse {
  readonly bytes: number;
  readonly files: number;
  /** A limit is exceeded, or something cannot be counted because its path is too long. */
  readonly isOver: boolean;
  /** There is a folder that we may not read. */
  readonly isPartial: boolean;
}

export interface DiskWatchOptions {
  /** Writable folders on the host. */
  readonly folders: readonly string[];
  readonly limits: Pick<RunLimits, 'diskBytes' | 'files' | 'fileBytes'>;
  /** Processes whose open files count too: a deleted file that is still open occupies disk space. */
  readonly processes: () => readonly number[];
}

export interface DiskWatch {
  isExceeded(isLast: boolean): boolean;
  /** When to check again: soon, if the rest of the limit can be written in less time than usually passes between two checks. */
  pauseMs(): number;
}

/**
 * Detects that a program exceeds its disk limits. Counting every file is expensive, so between two counts only the free space of the
 * file system is checked. The kernel limits single files (`RLIMIT_FSIZE`); this limits their sum, at the latest one poll after it was
 * exceeded. The last check always counts, because other users of the disk may have freed the same amount meanwhile.
 *
 * A program can make a folder that we may not read. While it runs, such a folder counts by the space that is gone and that nothing else
 * explains; the last check makes it readable and counts it.
 */
export function diskWatch({ folders, limits, processes }: DiskWatchOptions): DiskWatch {
  let latest = freeSpace(folders);
  let headroom = { bytes: limits.diskBytes, files: 0, free: latest };
  // Free space and what the program uses: the sum sinks when others write, or the program to files that were not found.
  let highest = latest.bytes;
  let highestFiles = latest.files;
  let hiddenChecks = 0;
  let notBefore = 0;
  return {
    isExceeded: (isLast) => {
      latest = freeSpace(folders);
      const isSuspicious =
        headroom.free.bytes - latest.bytes >= headroom.bytes || headroom.free.files - latest.files >= headroom.files;
      if (!isLast && !isSuspicious && performance.now() < notBefore) return false;
      const timer = cpuTimer();
      const named = diskUse(folders, limits, isLast);
      const pids = processes();
      const unnamed = unnamedBytes(pids, folders);
      const used = named.bytes + unnamed;
      const level = latest.bytes + used;
      highest = Math.max(highest, level);
      const unexplained = highest - level;
      const levelFiles = latest.files + named.files;
      highestFiles = named.isPartial ? Math.max(highestFiles, levelFiles) : levelFiles;
      const unexplainedFiles = highestFiles - levelFiles;
      // Looking for files that cannot be measured takes long, so the free space has to have shrunk first.
      const isMuch = unexplained > limits.diskBytes / 2 || unexplainedFiles > limits.files / 2;
      const hidden = isMuch ? hiddenBytes(pids, limits.fileBytes, named) : 0;
      // Without such files it was others who wrote. A descriptor that is on its way for a moment is not one that is kept there.
      if (hidden === 0 && unexplained > limits.diskBytes / 2) highest = level;
      hiddenChecks = hidden === 0 ? 0 : hiddenChecks + 1;
      const isOver =
        named.isOver ||
        used > limits.diskBytes ||
        (hiddenChecks > 1 &&
          (used + Math.min(unexplained, hidden) > limits.diskBytes || named.files + unexplainedFiles > limits.files));
      notBefore = performance.now() + Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * timer());
      headroom = { bytes: limits.diskBytes - used, files: limits.files - named.files, free: latest };
      return isOver;
    },
    pauseMs: () => Math.max(MIN_CHECK_MS, (headroom.bytes - (headroom.free.bytes - latest.bytes)) / BYTES_PER_MS),
  };
}

interface Free {
  readonly bytes: number;
  readonly files: number;
}

function freeSpace([folder = '/']: readonly string[]): Free {
  const { bfree, bsize, ffree } = statfsSync(presentAncestor(folder));
  return { bytes: bfree * bsize, files: ffree };
}

/** Without isolation a program can remove, replace or close the folders themselves. */
function presentAncestor(folder: string): string {
  const above = path.dirname(folder);
  return above === folder || findDevice(folder) !== undefined ? folder : presentAncestor(above);
}

function findDevice(folder: string): number | undefined {
  return quietly(() => statSync(folder).dev);
}

/** Disk blocks used by the folders. Sparse files count by their blocks, further hard links count nothing. */
function diskUse(folders: readonly string[], limits: Pick<RunLimits, 'diskBytes' | 'files'>, isLast: boolean): DiskUse {
  // As bytes, because names need not be UTF-8.
  const waiting = folders.map((folder) => Buffer.from(folder));
  const devices = new Set(folders.map(findDevice));
  const linked = new Set<number>();
  let bytes = 0;
  let files = 0;
  let isPartial = false;
  const over = (): DiskUse => ({ bytes, files, isOver: true, isPartial });
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const names = attempt(folder, isLast ? readClosedFolder : readFolder);
    if (names === 'uncountable' || (isLast && names === 'closed')) return over();
    if (names === 'closed') {
      isPartial = true;
      continue;
    }
    for (const name of names ?? []) {
      files += 1;
      const file = Buffer.concat([folder, SLASH, name]);
      const stats = attempt(file, (entry) => lstatSync(entry));
      if (stats === 'uncountable' || (isLast && stats === 'closed')) return over();
      if (stats === 'closed') {
        isPartial = true;
        break;
      }
      if (stats !== undefined) {
        if (!linked.has(stats.ino)) bytes += stats.blocks * 512;
        if (stats.nlink > 1 && !stats.isDirectory()) linked.add(stats.ino);
        // Only on the same device: a folder swapped for a link meanwhile must not lead elsewhere.
        if (stats.isDirectory() && devices.has(stats.dev)) waiting.push(file);
      }
      if (bytes > limits.diskBytes || files > limits.files) return over();
    }
  }
  return { bytes, files, isOver: false, isPartial };
}

const SLASH = Buffer.from('/');

function readFolder(folder: Buffer): readonly Buffer[] {
  return readdirSync(folder, { encoding: 'buffer' });
}

/** After the program: a folder that it closed is opened. Its entries need the permission to search it as well. */
function readClosedFolder(folder: Buffer): readonly Buffer[] {
  if (process.getuid?.() !== 0 && (lstatSync(folder).mode & OWN_ACCESS) !== OWN_ACCESS) allowReading(folder);
  return readFolder(folder);
}

const OWN_ACCESS = 0o500;

/** `closed`: the program took away our permission. */
function attempt<T>(file: Buffer, look: (file: Buffer) => T): T | 'uncountable' | 'closed' | undefined {
  try {
    return look(file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'EACCES' || error.code === 'EPERM') return 'closed';
    // Everything else means that it was removed meanwhile.
    return error.code === 'ENAMETOOLONG' ? 'uncountable' : undefined;
  }
}

function unnamedBytes(pids: readonly number[], folders: readonly string[]): number {
  const devices = new Set(folders.map(findDevice));
  const seen = new Set<number>();
  let bytes = 0;
  let looked = 0;
  for (const pid of pids)
    for (const name of namesIn(`/proc/${String(pid)}/fd`)) {
      looked += 1;
      if (looked > MAX_DESCRIPTORS) return Number.POSITIVE_INFINITY;
      const stats = quietly(() => statSync(`/proc/${String(pid)}/fd/${name}`), undefined);
      if (stats === undefined || !stats.isFile() || stats.nlink > 0) continue;
      if (!devices.has(stats.dev) || seen.has(stats.ino)) continue;
      seen.add(stats.ino);
      bytes += stats.blocks * 512;
    }
  return bytes;
}

/** Mappings that are named like deleted files and occupy memory instead of disk space. */
const IN_MEMORY = /^\/(?:memfd:|SYSV|dev\/zero )/;

/**
 * The most that deleted files can occupy which no descriptor shows: mapped ones have at most the size of a file, and those that are on
 * their way through a socket any size, because sockets can be on their way themselves. Folders that we may not read can have any size too.
 */
function hiddenBytes(pids: readonly number[], fileBytes: number, { isPartial }: DiskUse): number {
  if (isPartial) return Number.POSITIVE_INFINITY;
  const mapped = new Set<string>();
  for (const pid of pids) {
    for (const [, inode = '', name = ''] of (readProcFile(pid, 'maps') ?? '').matchAll(DELETED_MAPPING))
      if (!IN_MEMORY.test(name)) mapped.add(inode);
    const infos = `/proc/${String(pid)}/fdinfo`;
    if (namesIn(infos).some((name) => /^scm_fds:\s+[1-9]/m.test(tryRead(`${infos}/${name}`) ?? '')))
      return Number.POSITIVE_INFINITY;
  }
  return mapped.size * fileBytes;
}

const DELETED_MAPPING = /^\S+ \S+ \S+ (\S+ \d+) +(\/.* \(deleted\))$/gm;
