import type { ArchiveLimits } from '../../core/archive-limits.ts';
import { leftOutLine, leftOutOf } from '../sources/left-out.ts';
import { openPathJudge } from '../sources/portable-name.ts';
import { PackRefused, isRefusal, refused } from '../problems.ts';
import type { ArchiveEntry } from './extract-tree.ts';
import { entryRefused } from './entry-name.ts';

/** An entry as the archive tells of it: nothing in it is believed. */
export interface ToldEntry {
  /** With a slash at its end where it is written as a folder. */
  readonly name: string;
  /** What its type says; `unsaid` where only the name tells. */
  readonly kind: 'file' | 'folder' | 'link' | 'special' | 'unsaid';
  /** Permission bits with those above them; nothing where the archive has none. */
  readonly mode?: number;
  readonly bytes: number;
  /** Bytes in the archive, where each entry is packed by itself. */
  readonly packed?: number;
}

/** `entry` is absent where it is left out. */
export interface JudgedEntry {
  readonly entry?: ArchiveEntry;
}

/** Looks at one entry after another: what they are together counts as much as each alone. Throws `PackRefused`. */
export interface EntryJudge {
  judge(told: ToldEntry): JudgedEntry;
  leftOut(): readonly string[];
}

/** Small files that compress well prove nothing. */
export const UNJUDGED_BYTES = 1024 * 1024;

export function openJudge(archiveBytes: number, limits: ArchiveLimits): EntryJudge {
  const names = openPathJudge(limits);
  const leftOut = new Map<string, string>();
  let bytes = 0;
  return {
    judge(told) {
      const isFolder = told.name.endsWith('/');
      const type = isFolder ? 'folder' : 'file';
      const name = isFolder ? told.name.slice(0, -1) : told.name;
      const omission = leftOutOf(name, type);
      const usable = omission === undefined ? names.judge(name, type) : names.judgeLeftOut(name, omission);
      if (isRefusal(usable)) throw new PackRefused(usable);
      const { path } = usable;
      judgeType(told, type, path);
      judgeSize(told.bytes, told.packed ?? archiveBytes, path, limits);
      bytes += told.bytes;
      judgeSum(bytes, archiveBytes, limits);
      if (omission !== undefined) leftOut.set(omission.path, leftOutLine(omission));
      if (omission !== undefined) return {};
      const isExecutable = type === 'file' && ((told.mode ?? 0) & 0o111) !== 0;
      return { entry: { path, type, bytes: told.bytes, isExecutable } };
    },
    leftOut: () => [...leftOut.values()],
  };
}

/** `type` is what its name says. */
function judgeType({ kind, mode = 0, bytes }: ToldEntry, type: 'file' | 'folder', path: string): void {
  if (kind === 'link') throw entryRefused('archive/link', path, 'is a link');
  if (kind === 'special') throw entryRefused('archive/special-file', path, 'is neither a file nor a folder');
  if ((mode & 0o7000) !== 0) throw entryRefused('archive/mode', path, 'has a setuid, setgid or sticky bit');
  if (kind !== 'unsaid' && kind !== type)
    throw entryRefused('archive/conflict', path, `is a ${type} by its name and a ${kind} by its type`);
  if (type === 'folder' && bytes !== 0) throw entryRefused('archive/conflict', path, 'is a folder with content');
}

function judgeSize(bytes: number, packed: number, path: string, limits: ArchiveLimits): void {
  if (bytes > UNJUDGED_BYTES && bytes > packed * limits.maxRatio)
    throw entryRefused('archive/bomb', path, `unpacks from ${String(packed)} to ${String(bytes)} bytes`);
  if (bytes > limits.maxFileBytes)
    throw entryRefused('archive/too-large', path, `has more than ${String(limits.maxFileBytes)} bytes`);
}

function judgeSum(bytes: number, archiveBytes: number, limits: ArchiveLimits): void {
  if (bytes > UNJUDGED_BYTES && bytes > archiveBytes * limits.maxRatio)
    throw refused(
      'archive/bomb',
      `the archive unpacks from ${String(archiveBytes)} to more than ${String(bytes)} bytes`,
    );
  if (bytes > limits.maxBytes)
    throw refused('archive/too-large', `the archive unpacks to more than ${String(limits.maxBytes)} bytes`);
}
