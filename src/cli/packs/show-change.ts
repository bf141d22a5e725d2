/** Reports the result of uninstall, restore and rollback. */
import { printable } from '#core';
import type { Changed } from '#packs';
import type { GlobalInvocation } from '../command.ts';
import { reportUnplaced } from './agent-flags.ts';
import { refreshed } from './pack-command.ts';

export async function reportChange(
  invocation: GlobalInvocation,
  changed: Changed,
  line: (name: string) => string,
): Promise<number> {
  const { terminal, flags } = invocation;
  const { names, kept, notes, unplaced, isDone, root } = changed;
  terminal.remark(notes.map((note) => (isDone ? `note: ${printable(note)}` : printable(note))));
  if (flags.json !== true && isDone) {
    terminal.out(names.map(line));
    terminal.remark(kept.map(({ part, id, name }) => `${printable(name)} kept in ${part}/${id}`));
  }
  const indexHash = isDone ? (await refreshed(invocation)).index.indexHash : undefined;
  terminal.printJson({ ok: unplaced.length === 0, done: isDone, root, names, kept, unplaced, indexHash });
  return reportUnplaced(invocation, changed);
}

/** `pdf-forms  1.2.0  2026-01-02T03:04:05Z  20260102T030405Z-…` */
export function backupLine({ name, lock, at, id }: Changed['kept'][number]): string {
  return `${printable(name)}  ${printable(lock?.version ?? '-')}  ${at}  ${id}`;
}
