/**
 * Three-way merge by lines. Changes of different lines merge, also of adjacent ones; changes of the same lines are a conflict, and so is an
 * insertion beside a change of the other side, because the order is not known. `text-diff.ts` bounds the work: texts that differ in very
 * many lines conflict more often.
 */
import { isDeepStrictEqual } from 'node:util';

import { changesBetween } from '#core';

export interface MergeTexts {
  readonly base: string;
  readonly local: string;
  readonly incoming: string;
}

/** Lines starting at `line`, which is 1-based. Without lines, `line` is the position where they would be inserted. */
export interface MergeSide {
  readonly line: number;
  /** With their line endings. */
  readonly lines: readonly string[];
}

export interface MergeConflict {
  readonly base: MergeSide;
  readonly local: MergeSide;
  readonly incoming: MergeSide;
}

export type TextMerge =
  | { readonly type: 'merged'; readonly text: string }
  | { readonly type: 'conflict'; readonly conflicts: readonly MergeConflict[] };

/** Changed lines up to which a side is compared exactly; needs about 20 MB. */
const MAX_STEPS = 1500;

/** One side replaces the base lines from `from` up to, but not including, `to` by `lines`. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** `merge(b, b, x)`, `merge(b, x, b)` and `merge(b, x, x)` are `x`. Swapping the sides only swaps them in conflicts. */
export function mergeText({ base, local, incoming }: MergeTexts): TextMerge {
  if (local === incoming || base === incoming) return { type: 'merged', text: local };
  if (base === local) return { type: 'merged', text: incoming };
  const lines = splitLines(base);
  const sides = { local: editsBetween(lines, splitLines(local)), incoming: editsBetween(lines, splitLines(incoming)) };
  const pieces: (readonly string[])[] = [];
  const conflicts: MergeConflict[] = [];
  const moved = { local: 0, incoming: 0 };
  let at = 0;
  for (const { from, to, local: ours, incoming: theirs } of groupEdits(sides.local, sides.incoming)) {
    const old = lines.slice(from, to);
    const here = applyEdits(lines, { from, to }, ours);
    const there = applyEdits(lines, { from, to }, theirs);
    pieces.push(lines.slice(at, from));
    if (ours.length === 0 || isDeepStrictEqual(here, there)) pieces.push(there);
    else if (theirs.length === 0) pieces.push(here);
    else
      conflicts.push({
        base: { line: from + 1, lines: old },
        local: { line: from + moved.local + 1, lines: here },
        incoming: { line: from + moved.incoming + 1, lines: there },
      });
    moved.local += here.length - old.length;
    moved.incoming += there.length - old.length;
    at = to;
  }
  if (conflicts.length > 0) return { type: 'conflict', conflicts };
  return { type: 'merged', text: [...pieces, lines.slice(at)].flat().join('') };
}

/** Keeps line endings, so that a newline added to the last line is a change. */
function splitLines(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function editsBetween(base: readonly string[], side: readonly string[]): readonly Edit[] {
  const edits: { readonly from: number; to: number; readonly lines: string[] }[] = [];
  let at = 0;
  let open: (typeof edits)[number] | undefined;
  for (const { kind, text } of changesBetween(base, side, MAX_STEPS)) {
    if (kind === 'same') {
      open = undefined;
      at += 1;
      continue;
    }
    if (open === undefined) {
      open = { from: at, to: at, lines: [] };
      edits.push(open);
    }
    if (kind === 'added') open.lines.push(text);
    else {
      at += 1;
      open.to = at;
    }
  }
  return edits;
}

interface EditGroup {
  readonly from: number;
  to: number;
  readonly local: Edit[];
  readonly incoming: Edit[];
}

/** Groups edits that overlap, and insertions with the edits that they touch; each edit is in one group. */
function groupEdits(local: readonly Edit[], incoming: readonly Edit[]): readonly EditGroup[] {
  const all = [
    ...local.map((edit) => ({ edit, side: 'local' as const })),
    ...incoming.map((edit) => ({ edit, side: 'incoming' as const })),
  ].sort((a, b) => a.edit.from - b.edit.from || a.edit.to - b.edit.to);
  const groups: EditGroup[] = [];
  for (const { edit, side } of all) {
    const last = groups.at(-1);
    const group =
      last !== undefined && meets(edit, last) ? last : { from: edit.from, to: edit.to, local: [], incoming: [] };
    if (group !== last) groups.push(group);
    group[side].push(edit);
    group.to = Math.max(group.to, edit.to);
  }
  return groups;
}

function meets(edit: Edit, { to, local, incoming }: EditGroup): boolean {
  if (edit.from !== to) return edit.from < to;
  return [edit, ...local, ...incoming].some((one) => one.from === one.to && one.from === to);
}

function applyEdits(
  base: readonly string[],
  { from, to }: Pick<Edit, 'from' | 'to'>,
  edits: readonly Edit[],
): readonly string[] {
  const pieces: (readonly string[])[] = [];
  let at = from;
  for (const edit of edits) {
    pieces.push(base.slice(at, edit.from), edit.lines);
    at = edit.to;
  }
  return [...pieces, base.slice(at, to)].flat();
}
