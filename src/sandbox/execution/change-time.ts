import { lstatSync, lutimesSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** File system clocks tick coarsely. */
const TICK_MS = 50;

/**
 * A change time (`ctimeMs`) that divides changes: earlier ones of this file system are before it, later ones are not. The entry must be
 * new. Waits for the next tick of the clock where needed: Linux since 6.13 stamps a change exactly if the stamp before it was read. On
 * file systems with long ticks it returns the current tick, which earlier changes may share.
 */
export async function nextChangeTime(entry: string): Promise<number> {
  const { ctimeMs: before } = lstatSync(entry);
  for (const deadline = performance.now() + TICK_MS; performance.now() < deadline; await delay(1)) {
    const now = new Date();
    lutimesSync(entry, now, now);
    const { ctimeMs } = lstatSync(entry);
    if (ctimeMs > before) return ctimeMs;
  }
  return before;
}
