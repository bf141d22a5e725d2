/** Limits for archives (settings `install.archive.*`); docs/install.md explains the values. */
export interface ArchiveLimits {
  /** Size of the archive file. */
  readonly maxArchiveBytes: number;
  /** Number of files and folders. */
  readonly maxEntries: number;
  /** Total unpacked size. */
  readonly maxBytes: number;
  /** Unpacked size of one file. */
  readonly maxFileBytes: number;
  /** Ratio of unpacked to packed size, for the whole archive and for every file over 1 MiB. */
  readonly maxRatio: number;
  /** Nesting depth of folders. */
  readonly maxDepth: number;
  /** Length of one path in UTF-8 bytes. */
  readonly maxNameBytes: number;
}
