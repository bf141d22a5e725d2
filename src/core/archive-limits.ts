/** What an archive may be. Settings `install.archive.*`; see docs/install.md for why each has its value. */
export interface ArchiveLimits {
  /** Of the archive file itself. */
  readonly maxArchiveBytes: number;
  /** Files and folders. */
  readonly maxEntries: number;
  /** Of all files together, unpacked. */
  readonly maxBytes: number;
  /** Of one file, unpacked. */
  readonly maxFileBytes: number;
  /** Unpacked to packed, for the archive as a whole and for every file over 1 MiB. */
  readonly maxRatio: number;
  /** Folders inside folders. */
  readonly maxDepth: number;
  /** Of one path, in UTF-8. */
  readonly maxNameBytes: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  maxArchiveBytes: 256 * 1024 * 1024,
  maxEntries: 20_000,
  maxBytes: 512 * 1024 * 1024,
  maxFileBytes: 128 * 1024 * 1024,
  maxRatio: 200,
  maxDepth: 32,
  maxNameBytes: 1024,
};
