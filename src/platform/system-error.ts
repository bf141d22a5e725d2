import { lstatSync, type Stats } from 'node:fs';

/** Returns the result of `act`, or `fallback` where the operating system refuses. Every other error is a bug and is thrown. */
export function quietly<Result>(act: () => Result): Result | undefined;
export function quietly<Result, Fallback>(act: () => Result, fallback: Fallback): Result | Fallback;
export function quietly<Result, Fallback>(act: () => Result, fallback?: Fallback): Result | Fallback | undefined {
  try {
    return act();
  } catch (error) {
    if (isSystemError(error) || isNulPath(error)) return fallback;
    throw error;
  }
}

/** Node throws before it asks the system: nothing has a path with a NUL. */
function isNulPath(error: unknown): boolean {
  return error instanceof TypeError && 'code' in error && error.code === 'ERR_INVALID_ARG_VALUE';
}

/** Links are not followed. Returns `undefined` where nothing exists or the system refuses. */
export function tryStat(file: string): Stats | undefined {
  return quietly(() => lstatSync(file, { throwIfNoEntry: false }));
}

/** True for errors of the operating system, which have a `code` (`ENOENT`, ...). */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error;
}
