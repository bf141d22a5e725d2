import { printable } from '#core';
import type { Distrust } from '#runtime';

/** Skills that are hidden from models because their folder is untrusted, by folder or name. */
export type Untrusted = ReadonlyMap<string, Distrust>;

/** One line for each command that would trust them; usually there is one. */
export function trustRemarks(untrusted: Untrusted): readonly string[] {
  const counts = new Map<string, number>();
  for (const { command } of untrusted.values()) counts.set(command, (counts.get(command) ?? 0) + 1);
  return [...counts].map(
    ([command, count]) => `${String(count)} untrusted, hidden from models; review, then run: ${printable(command)}`,
  );
}
