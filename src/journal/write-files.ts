/** Writes the files of a record: all of them or none. */

import { fsyncSync, openSync, closeSync } from 'node:fs';

import { PendingFile, writeAll, type writeFileAtomically } from '#platform';
export interface FileContent {
  readonly file: string;
  readonly data: Uint8Array;
}

/** Files that belong together, written under temporary names. Wait for `descriptors`, then call `replace`; or call `discard`. */
export interface PendingFiles {
  readonly descriptors: readonly number[];
  /** Renames them in order. Throws system errors and leaves no temporary file behind. */
  replace(): void;
  discard(): void;
}

/** Throws system errors and leaves no temporary file behind. */
export function writePendingFiles(files: readonly FileContent[], { mode = 0o600 } = {}): PendingFiles {
  const written: PendingFile[] = [];
  const discard = (): void => written.forEach((pending) => pending.discard());
  const orDiscard = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      discard();
      throw error;
    }
  };
  orDiscard(() => {
    for (const { file, data } of files) {
      const pending = new PendingFile(file, { mode });
      written.push(pending);
      pending.write(data);
    }
  });
  return {
    descriptors: written.map(({ descriptor }) => descriptor),
    replace: () => orDiscard(() => written.forEach((pending) => pending.replace())),
    discard,
  };
}

/**
 * Replaces several files that belong together: writes all of them, calls `before`, and then renames them in this order. All bytes are
 * written before the first sync, because waiting for each file in turn takes longer.
 */
export function writeFilesAtomically(
  files: readonly FileContent[],
  before: () => void,
  { mode = 0o600, sync = false }: Omit<NonNullable<Parameters<typeof writeFileAtomically>[2]>, 'like'> = {},
): void {
  const pending = writePendingFiles(files, { mode });
  try {
    before();
    if (sync) pending.descriptors.forEach(fsyncSync);
  } catch (error) {
    pending.discard();
    throw error;
  }
  pending.replace();
}

/** Creates a file directly under its name, for files that no reader opens before another file names them. Throws EEXIST. */
export function writeNewFile(
  file: string,
  data: Uint8Array,
  { mode = 0o600, sync = false }: Omit<NonNullable<Parameters<typeof writeFileAtomically>[2]>, 'like'> = {},
): void {
  const descriptor = openSync(file, 'wx', mode);
  try {
    writeAll(descriptor, data);
    if (sync) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
