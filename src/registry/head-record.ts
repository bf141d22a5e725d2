import type { Diagnostic } from '../core/diagnostic.ts';
import type { SkillHead } from '../core/skill.ts';
import type { FileStamp } from '../platform/fs/file-stamp.ts';

/** What was read from one SKILL.md, with the stamp of the file it was read from. */
export interface HeadRecord extends FileStamp {
  /** `SKILL.md`, or how it was spelled. */
  readonly file: string;
  /** `sha256:` of the frontmatter; empty where there is none. */
  readonly digest: string;
  /** Absent where the skill is left out; `diagnostics` then says why. */
  readonly head: SkillHead | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** A record and where its folder is. */
export interface PlacedRecord extends HeadRecord {
  /** The directory that holds the skill folder, as it was reached. */
  readonly parent: string;
  /** The skill folder's own name. */
  readonly name: string;
}

/** What earlier scans read and may be believed: records by number, so that one kept on disk need not be parsed to be compared. */
export interface Memory {
  readonly count: number;
  /** Numbers of the records in a directory, by folder name. */
  directory(path: string): ReadonlyMap<string, number> | undefined;
  /** The name of a record's folder. */
  name(number: number): string;
  /** How the file of a record is spelled. */
  file(number: number): string;
  /** Five numbers a record: size, mtime, ctime, inode, device. */
  readonly stamps: Float64Array;
  record(number: number): HeadRecord;
}

export const STAMP_FIELDS = 5;

/** The file on disk is the one that was read, and unchanged. */
export function isUnchanged(
  { stamps }: Memory,
  number: number,
  { size, mtimeMs, ctimeMs, ino, dev }: FileStamp,
): boolean {
  const at = number * STAMP_FIELDS;
  return (
    stamps[at] === size &&
    stamps[at + 1] === mtimeMs &&
    stamps[at + 2] === ctimeMs &&
    stamps[at + 3] === ino &&
    stamps[at + 4] === dev
  );
}

/** The stamps of records, in their order. */
export function stampsOf(placed: readonly PlacedRecord[]): Float64Array<ArrayBuffer> {
  const stamps = new Float64Array(placed.length * STAMP_FIELDS);
  let at = 0;
  for (const record of placed) {
    stamps[at] = record.size;
    stamps[at + 1] = record.mtimeMs;
    stamps[at + 2] = record.ctimeMs;
    stamps[at + 3] = record.ino;
    stamps[at + 4] = record.dev;
    at += STAMP_FIELDS;
  }
  return stamps;
}

/** A memory of these records, numbered in this order. */
export function remember(placed: readonly PlacedRecord[]): Memory {
  const directories = new Map<string, Map<string, number>>();
  for (const [number, { parent, name }] of placed.entries()) {
    const directory = directories.get(parent);
    if (directory === undefined) directories.set(parent, new Map([[name, number]]));
    else directory.set(name, number);
  }
  const at = (number: number): PlacedRecord => {
    const item = placed[number];
    if (item === undefined) throw new RangeError(`no record ${String(number)}`);
    return item;
  };
  return {
    count: placed.length,
    directory: (path) => directories.get(path),
    name: (number) => at(number).name,
    file: (number) => at(number).file,
    stamps: stampsOf(placed),
    record: at,
  };
}

export const NOTHING_KNOWN: Memory = remember([]);
