import { problemError } from '#core';

/** Leaves the evaluation because the user asked for something that cannot be done. `skillwright eval` exits with code 2. */
export function raiseUsage(message: string, hint: string): never {
  throw problemError({ code: 'usage', message, hint });
}
