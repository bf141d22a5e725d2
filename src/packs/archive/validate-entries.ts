import type { ArchiveLimits } from '../../core/archive-limits.ts';
import { leftOutLine, leftOutOf } from '../sources/left-out.ts';
import { openPathValidator } from '../sources/portable-name.ts';
import { PackRefused, isRefusal, refused } from '../problems.ts';
import type { ArchiveEntry } from './extract-tree.ts';
import { entryRefused } from './entry-name.ts';

/** An entry as the archive describes it. Untrusted. */
export interface RawEntry {
  /** Ends with a slash if it is a folder. */
  readonly name: string;
  /** From the type field; `unsaid` if only the name tells. */
  readonly kind: 'file' | 'folder' | 'link' | 'special' | 'unsaid';
  /** Permission bits including setuid, setgid and sticky; absent if the archive has none. */
  readonly mode?: number;
  readonly bytes: number;
  /** Compressed size, if each entry is compressed separately. */
  readonly packed?: number;
}

/** `entry` is absent if it is not extracted. */
export interface ValidatedEntry {
  readonly entry?: ArchiveEntry;
}

/** Validates entries one after another, each alone and against the earlier ones. Throws `PackRefused`. */
export interface EntryValidator {
  check(raw: RawEntry): ValidatedEntry;
  leftOut(): readonly string[];
}

/** Up to this size, a high compression ratio is not suspicious. */
export const ALWAYS_ALLOWED_BYTES = 1024 * 1024;

export function openEntryValidator(archiveBytes: number, limits: ArchiveLimits): EntryValidator {
  const names = openPathValidator(limits);
  const leftOut = new Map<string, string>();
  let bytes = 0;
  return {
    check(raw) {
      const isFolder = raw.name.endsWith('/');
      const type = isFolder ? 'folder' : 'file';
      const name = isFolder ? raw.name.slice(0, -1) : raw.name;
      const omission = leftOutOf(name, type);
      const usable = omission === undefined ? names.check(name, type) : names.checkLeftOut(name, omission);
      if (isRefusal(usable)) throw new PackRefused(usable);
      const { path } = usable;
      validateType(raw, type, path);
      validateSize(raw.bytes, raw.packed ?? archiveBytes, path, limits);
      bytes += raw.bytes;
      validateTotal(bytes, archiveBytes, limits);
      if (omission !== undefined) leftOut.set(omission.path, leftOutLine(omission));
      if (omission !== undefined) return {};
      const isExecutable = type === 'file' && ((raw.mode ?? 0) & 0o111) !== 0;
      return { entry: { path, type, bytes: raw.bytes, isExecutable } };
    },
    leftOut: () => [...leftOut.values()],
  };
}

/** `type` follows from the name. */
function validateType({ kind, mode = 0, bytes }: RawEntry, type: 'file' | 'folder', path: string): void {
  if (kind === 'link') throw entryRefused('archive/link', path, 'is a link');
  if (kind === 'special') throw entryRefused('archive/special-file', path, 'is neither a file nor a folder');
  if ((mode & 0o7000) !== 0) throw entryRefused('archive/mode', path, 'has a setuid, setgid or sticky bit');
  if (kind !== 'unsaid' && kind !== type)
    throw entryRefused('archive/conflict', path, `is a ${type} by its name and a ${kind} by its type`);
  if (type === 'folder' && bytes !== 0) throw entryRefused('archive/conflict', path, 'is a folder with content');
}

function validateSize(bytes: number, packed: number, path: string, limits: ArchiveLimits): void {
  if (bytes > ALWAYS_ALLOWED_BYTES && bytes > packed * limits.maxRatio)
    throw entryRefused('archive/bomb', path, `unpacks from ${String(packed)} to ${String(bytes)} bytes`);
  if (bytes > limits.maxFileBytes)
    throw entryRefused('archive/too-large', path, `has more than ${String(limits.maxFileBytes)} bytes`);
}

function validateTotal(bytes: number, archiveBytes: number, limits: ArchiveLimits): void {
  if (bytes > ALWAYS_ALLOWED_BYTES && bytes > archiveBytes * limits.maxRatio)
    throw refused(
      'archive/bomb',
      `the archive unpacks from ${String(archiveBytes)} to more than ${String(bytes)} bytes`,
    );
  if (bytes > limits.maxBytes)
    throw refused('archive/too-large', `the archive unpacks to more than ${String(limits.maxBytes)} bytes`);
}
