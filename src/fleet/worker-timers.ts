/** The clock of a worker and what it does again and again. */
import { setTimeout as pause } from 'node:timers/promises';

/** Returns by how many milliseconds the clock went back since the last call. */
export function openClockWatch(): () => number {
  let offset = Date.now() - performance.now();
  return () => {
    const before = offset;
    offset = Date.now() - performance.now();
    return before - offset;
  };
}

/** Calls `act` again and again, each time `ms` after it has ended. */
export function openInterval(act: () => Promise<void>, ms: number): { close(): Promise<void> } {
  const closing = new AbortController();
  const { signal } = closing;
  const loop = (async () => {
    while (!signal.aborted) {
      await act();
      await pause(ms, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    async close() {
      closing.abort();
      await loop;
    },
  };
}
