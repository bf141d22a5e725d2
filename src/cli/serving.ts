/** What commands that serve until Ctrl-C share. */
import { once } from 'node:events';

import { isSystemError } from '#platform';
import { usageError } from './exit.ts';

/** Handles a server that could not listen. */
export function portInUse(port: number | undefined, hint: string): (error: unknown) => never {
  return (error) => {
    if (isSystemError(error) && error.code === 'EADDRINUSE') throw usageError(`port ${String(port)} is in use`, hint);
    if (isSystemError(error) && error.code === 'EACCES')
      throw usageError(`port ${String(port)} needs rights that this user lacks`, hint);
    throw error;
  };
}

export async function untilStopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
