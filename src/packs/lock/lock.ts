/**
 * `skills.lock.json` records what is installed in a root, from which source and with which bytes. It is stored in the root. `lock-file.ts`
 * reads and writes it.
 */
export const LOCK_FILE_NAME = 'skills.lock.json';
export const LOCK_SCHEMA = 1;

/** One file of an installed skill. */
export interface LockedFile {
  readonly sha256: string;
  readonly bytes: number;
  /** Absent if the file is not executable. */
  readonly executable?: true;
}

export interface LockedSkill {
  readonly name: string;
  /** `metadata.version` of SKILL.md. */
  readonly version?: string;
  /** As `ResolvedSource.source`. */
  readonly source: string;
  readonly revision?: string;
  /** `sha256:<hex>` of the original archive. */
  readonly archive?: string;
  /** Relative to the source; absent if the source itself is the skill. */
  readonly folder?: string;
  /** `sha256-tree:<hex>`, see `platform/fs/tree-digest.ts`. */
  readonly digest: string;
  /** Sorted by path, with `/` as separator. */
  readonly files: Readonly<Record<string, LockedFile>>;
  /** Folders that have a link to the skill, relative to the root, with `/` as separator; sorted. */
  readonly links?: readonly string[];
  /** Folders that have a copy of the skill. */
  readonly copies?: readonly string[];
  /** Digests of copies, by folder, if they differ from `digest`: a merged or edited skill was copied. */
  readonly copyDigests?: Readonly<Record<string, string>>;
  /** Names of the required skills. */
  readonly requires?: readonly string[];
  /** Id of the key that signed it. */
  readonly signedBy?: string;
  /** ISO 8601 to the second. Changes only when the bytes change. */
  readonly installedAt: string;
  /** The version of skillwright. */
  readonly tool: string;
}

export interface LockFile {
  readonly schema: typeof LOCK_SCHEMA;
  readonly skills: ReadonlyMap<string, LockedSkill>;
}

/** Differences between an installed skill and the lock, each list sorted. */
export interface Drift {
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  readonly added: readonly string[];
}
