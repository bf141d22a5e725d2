import { lstatSync, type Stats } from 'node:fs';

import { isSystemError } from './fs/paths.ts';

/** Returns the result of `act`, or `fallback` where the operating system refuses. Every other error is a bug and is thrown. */
export function quietly<Result, Fallback>(act: () => Result, fallback: Fallback): Result | Fallback {
  try {
    return act();
  } catch (error) {
    if (isSystemError(error)) return fallback;
    throw error;
  }
}

/** Links are not followed. Returns `undefined` where nothing exists or the system refuses. */
export function tryStat(file: string): Stats | undefined {
  return quietly(() => lstatSync(file, { throwIfNoEntry: false }), undefined);
}
