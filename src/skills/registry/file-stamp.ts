import { lstatSync } from 'node:fs';
import { isSystemError } from '#platform';

export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  readonly dev: number;
}

/** The stamp of a regular file; `undefined` for anything else, a link included, and for system errors. */
export function statFile(file: string): FileStamp | undefined {
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return stats?.isFile() === true ? stats : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
