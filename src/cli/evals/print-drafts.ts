import path from 'node:path';

import { countText, printable, quoted } from '#core';
import type { GlobalInvocation } from '../command.ts';

interface WrittenDrafts {
  readonly file: string;
  readonly drafts: Readonly<Record<string, number>>;
  readonly dropped: readonly { readonly input: string; readonly reason: string }[];
}

/** Prints the file with drafts, how many there are, and what to do with them. */
export function printDrafts(
  written: WrittenDrafts,
  { terminal, surroundings }: Pick<GlobalInvocation, 'terminal' | 'surroundings'>,
): void {
  const { drafts, dropped } = written;
  const shown = printable(path.relative(surroundings.cwd, written.file));
  if (!terminal.printJson(written)) terminal.out(shown);
  const counts = Object.entries(drafts).map(([kind, count]) => `${String(count)} ${kind}`);
  terminal.remark([
    `${countText(
      Object.values(drafts).reduce((sum, count) => sum + count, 0),
      'draft',
    )}: ${counts.join(', ')}; ${String(dropped.length)} dropped`,
    ...dropped.map(({ input, reason }) => `  dropped: ${quoted(input, 80)}: ${printable(reason)}`),
    `next: read each draft in ${shown}, remove its line "draft: true" to confirm it, then run skillwright eval check ${shown}`,
  ]);
}
