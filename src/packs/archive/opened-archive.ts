import type { PackRefusal } from '../problems.ts';

export interface ArchiveEntry {
  /** Below the archive's own top: `/` between the parts, NFC, visible, fit for every system. */
  readonly path: string;
  readonly type: 'file' | 'folder';
  /** Unpacked; 0 for folders. */
  readonly bytes: number;
  readonly isExecutable: boolean;
}

export interface ExtractOptions {
  readonly signal?: AbortSignal;
  /** Told of each file that was written. */
  readonly onFile?: (path: string) => void;
}

export interface Extracted {
  readonly type: 'extracted';
  readonly files: number;
  readonly bytes: number;
}

/** An archive that was judged and is held open: whatever takes its name meanwhile, what is extracted is what was judged. */
export interface OpenedArchive {
  readonly type: 'archive';
  readonly format: 'zip' | 'tar.gz';
  readonly entries: readonly ArchiveEntry[];
  /** What is not extracted, and why, a line each: `.git/`, `.claude-plugin/`, `__MACOSX/`, `.DS_Store`, other hidden names. */
  readonly leftOut: readonly string[];
  /**
   * Writes the entries below a folder that is empty or not there, whose parent is there. All or nothing: where it refuses, or is
   * stopped, the folder is as it was. Nothing is synced to the disk: that is for whoever puts the folder in its place.
   */
  extract(to: string, options?: ExtractOptions): Promise<Extracted | PackRefusal>;
  close(): void;
}
