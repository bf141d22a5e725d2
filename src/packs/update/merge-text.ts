/**
 * Two changes of one text made to one, line by line. Where both changed the same lines, or lines with nothing between them, nothing is
 * guessed: that is a conflict. As bounded as `text-diff.ts`, on which it stands: texts that differ in too many lines conflict sooner.
 */
import { changesBetween } from '../../core/text/text-diff.ts';

export interface MergeTexts {
  readonly base: string;
  readonly local: string;
  readonly incoming: string;
}

/** Lines from `line` on, 1-based; where there are none, `line` is the one that they would stand before. */
export interface MergeSide {
  readonly line: number;
  /** With their line ends. */
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

/** Changed lines up to which a side is compared exactly: enough for one that was rewritten, and some 20 MB for a moment. */
const MAX_STEPS = 1500;

/** Lines `from` to `to` of the base, without `to`, are `lines` on one side. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** `merge(b, b, x)` and `merge(b, x, b)` and `merge(b, x, x)` are `x`; exchanging the sides exchanges them in conflicts and nothing else. */
export function mergeText({ base, local, incoming }: MergeTexts): TextMerge {
  if (local === incoming || base === incoming) return { type: 'merged', text: local };
  if (base === local) return { type: 'merged', text: incoming };
  const lines = linesOf(base);
  const sides = { local: editsBetween(lines, linesOf(local)), incoming: editsBetween(lines, linesOf(incoming)) };
  const pieces: (readonly string[])[] = [];
  const conflicts: MergeConflict[] = [];
  const moved = { local: 0, incoming: 0 };
  let at = 0;
  for (const { from, to, local: ours, incoming: theirs } of groupsOf(sides.local, sides.incoming)) {
    const old = lines.slice(from, to);
    const here = applied(lines, { from, to }, ours);
    const there = applied(lines, { from, to }, theirs);
    pieces.push(lines.slice(at, from));
    if (ours.length === 0 || isSame(here, there)) pieces.push(there);
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

/** With their line ends, so that a last line that gains one is a changed line. */
function linesOf(text: string): readonly string[] {
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

interface Group {
  readonly from: number;
  to: number;
  readonly local: Edit[];
  readonly incoming: Edit[];
}

/** Edits of both sides that touch each other, together; each edit is in one group. */
function groupsOf(local: readonly Edit[], incoming: readonly Edit[]): readonly Group[] {
  const all = [
    ...local.map((edit) => ({ edit, side: 'local' as const })),
    ...incoming.map((edit) => ({ edit, side: 'incoming' as const })),
  ].sort((a, b) => a.edit.from - b.edit.from || a.edit.to - b.edit.to);
  const groups: Group[] = [];
  for (const { edit, side } of all) {
    const last = groups.at(-1);
    const group = last !== undefined && edit.from <= last.to ? last : { ...range(edit), local: [], incoming: [] };
    if (group !== last) groups.push(group);
    group[side].push(edit);
    group.to = Math.max(group.to, edit.to);
  }
  return groups;
}

function range({ from, to }: Edit): Pick<Edit, 'from' | 'to'> {
  return { from, to };
}

/** The lines of a part of the base, with the edits of one side in it. */
function applied(
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

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, at) => line === b[at]);
}
