import { printable } from '../../core/text/text.ts';
import type { Distrust } from '../../runtime/skill-trust.ts';

/** Skills that no model may use yet, by their folders or names. */
export type Untrusted = ReadonlyMap<string, Distrust>;

/** What to do about them: one line for each command, which is nearly always one. */
export function trustRemarks(untrusted: Untrusted): readonly string[] {
  const counts = new Map<string, number>();
  for (const { command } of untrusted.values()) counts.set(command, (counts.get(command) ?? 0) + 1);
  return [...counts].map(
    ([command, count]) => `${String(count)} untrusted, hidden from models: look first, then ${printable(command)}`,
  );
}
