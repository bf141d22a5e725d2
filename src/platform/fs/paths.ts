import { lstatSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';

const QUIET = { throwIfNoEntry: false } as const;

/** The path with every link resolved; the path itself where that cannot be done. */
export function realPath(file: string): string {
  return tryRealPath(file) ?? path.resolve(file);
}

/** The path with every link resolved; nothing where a part is missing, loops or may not be searched. */
export function tryRealPath(file: string): string | undefined {
  try {
    // Most folders that are asked for are not there, and an error takes ten times as long as a look.
    return lstatSync(file, QUIET) === undefined ? undefined : realpathSync.native(file);
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** Something stands there, a broken link included. */
export function isPresent(file: string): boolean {
  try {
    return lstatSync(file, QUIET) !== undefined;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** Nothing stands there; false where nobody can tell. */
export function isAbsent(file: string): boolean {
  try {
    return lstatSync(file, QUIET) === undefined;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** A directory, or a link to one. */
export function isDirectory(file: string): boolean {
  try {
    return statSync(file, QUIET)?.isDirectory() ?? false;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** `inner` is `outer` or lies below it; both absolute and with links resolved. */
export function isInside(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}

/** Absolute paths are shown with forward slashes on every system. */
export function withForwardSlashes(file: string): string {
  return path.sep === '/' ? file : file.replaceAll(path.sep, '/');
}

/** An error of the operating system, with its `code` (`ENOENT`, ...). */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error;
}
