/** `skills.lock.json`: what is installed in a root, from where, with which bytes. Lies in the root itself. Reading and writing is in `lock-file.ts`. */
export const LOCK_FILE_NAME = 'skills.lock.json';
export const LOCK_SCHEMA = 1;

/** One file of an installed skill. */
export interface LockedFile {
  /** Hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** Absent: it is not executable. */
  readonly executable?: true;
}

export interface LockedSkill {
  readonly name: string;
  /** `metadata.version` of its SKILL.md. */
  readonly version?: string;
  /** As in `ResolvedSource`. */
  readonly source: string;
  readonly revision?: string;
  /** `sha256:<hex>` of the archive as it came. */
  readonly archive?: string;
  /** Below the source; absent where the source itself is the skill. */
  readonly folder?: string;
  /** `sha256-tree:<hex>`, see `platform/fs/tree-digest.ts`. */
  readonly digest: string;
  /** By path, `/` between parts, sorted. */
  readonly files: Readonly<Record<string, LockedFile>>;
  /** Names of skills that it needs. */
  readonly requires?: readonly string[];
  /** The id of the key that signed it. */
  readonly signedBy?: string;
  /** ISO 8601, to the second. Changes only when the bytes change. */
  readonly installedAt: string;
  /** The version of skillwright. */
  readonly tool: string;
}

export interface LockFile {
  readonly schema: typeof LOCK_SCHEMA;
  readonly skills: ReadonlyMap<string, LockedSkill>;
}

/** How the files of an installed skill differ from the lock; each list sorted. Empty: nothing does. */
export interface Drift {
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  readonly added: readonly string[];
}
