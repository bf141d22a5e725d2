import type { Diagnostic, SkillHead } from '#core';
import type { statFile } from './file-stamp.ts';

type FileStamp = NonNullable<ReturnType<typeof statFile>>;

/** A SKILL.md that an earlier scan read: enough to decide without opening it whether it changed. */
export interface KnownFile extends FileStamp {
  /** `SKILL.md`, or the spelling found on disk. */
  readonly file: string;
}

/** The result of reading one SKILL.md, with the stamp of the file at that time. */
export interface HeadRecord extends KnownFile {
  /** `sha256:` of the frontmatter; empty for a file without frontmatter. */
  readonly digest: string;
  /** Absent if the skill is excluded; `diagnostics` then contains the reason. */
  readonly head: SkillHead | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** A record and the location of its skill folder. */
export interface LocatedRecord extends HeadRecord {
  /** The directory that contains the skill folder, as the scan reached it. */
  readonly parent: string;
  /** The base name of the skill folder. */
  readonly name: string;
}

/** The skills that earlier scans read, from memory or from the cache file. */
export interface KnownSkills {
  readonly count: number;
  /** The known files of a directory, by skill folder name. */
  directory(path: string): ReadonlyMap<string, KnownFile> | undefined;
  /** The record of a skill folder returned by `directory`. */
  record(parent: string, name: string): HeadRecord;
}

/** Compares every field of the stamp: a file that was replaced or edited differs in at least one. */
export function isUnchanged(known: FileStamp, { size, mtimeMs, ctimeMs, ino, dev }: FileStamp): boolean {
  return (
    known.size === size &&
    known.mtimeMs === mtimeMs &&
    known.ctimeMs === ctimeMs &&
    known.ino === ino &&
    known.dev === dev
  );
}

export function rememberRecords(records: readonly LocatedRecord[]): KnownSkills {
  const directories = new Map<string, Map<string, LocatedRecord>>();
  for (const record of records) {
    const directory = directories.get(record.parent);
    if (directory === undefined) directories.set(record.parent, new Map([[record.name, record]]));
    else directory.set(record.name, record);
  }
  return {
    count: records.length,
    directory: (path) => directories.get(path),
    record(parent, name) {
      const record = directories.get(parent)?.get(name);
      if (record === undefined) throw new RangeError(`no record of ${parent}/${name}`);
      return record;
    },
  };
}

export const NO_KNOWN_SKILLS: KnownSkills = rememberRecords([]);
