/** A line diff for people, with bounded time and memory. */

interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Changed lines with their context. */
interface DiffHunk {
  /** 1-based, in the new text. */
  readonly line: number;
  readonly lines: readonly DiffLine[];
}

export interface TextDiff {
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly DiffHunk[];
  /** Whether only one of the texts ends with a line end. */
  readonly isEndChanged: boolean;
}

/** Unchanged lines shown around a change. */
const CONTEXT = 3;

/** Maximum number of changes for the shortest-path search; beyond that, the whole middle is shown as removed and added. */
const MAX_STEPS = 400;

/** Splits at `\n` only, so a changed `\r` is a changed line. */
export function diffLines(before: string, after: string): TextDiff {
  const [old, now] = [splitLines(before), splitLines(after)];
  const all = changesBetween(old, now);
  return {
    added: all.filter(({ kind }) => kind === 'added').length,
    removed: all.filter(({ kind }) => kind === 'removed').length,
    hunks: groupHunks(all),
    isEndChanged: before !== '' && after !== '' && before.endsWith('\n') !== after.endsWith('\n'),
  };
}

function splitLines(text: string): readonly string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

/** All lines in order: removed and unchanged lines form the old text, added and unchanged ones the new text. */
export function changesBetween(
  old: readonly string[],
  now: readonly string[],
  maxSteps = MAX_STEPS,
): readonly DiffLine[] {
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  return [
    ...old.slice(0, start).map((text) => toDiffLine('same', text)),
    ...middleChanges(old.slice(start, old.length - end), now.slice(start, now.length - end), maxSteps),
    ...old.slice(old.length - end).map((text) => toDiffLine('same', text)),
  ];
}

function toDiffLine(kind: DiffLine['kind'], text: string): DiffLine {
  return { kind, text };
}

/** Myers' greedy algorithm: `reached[k]` is the furthest position in `old` on diagonal `k`. */
function middleChanges(old: readonly string[], now: readonly string[], maxSteps: number): readonly DiffLine[] {
  const trace: (readonly number[])[] = [];
  const most = Math.min(maxSteps, old.length + now.length);
  const offset = most + 1;
  const reached = Array.from({ length: 2 * most + 3 }, () => 0);
  for (let steps = 0; steps <= most; steps += 1) {
    trace.push(reached.slice(offset - steps - 1, offset + steps + 2));
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      const below = reached[offset + diagonal + 1] ?? 0;
      const beside = reached[offset + diagonal - 1] ?? 0;
      const isDown = diagonal === -steps || (diagonal !== steps && beside < below);
      let at = isDown ? below : beside + 1;
      while (at < old.length && at - diagonal < now.length && old[at] === now[at - diagonal]) at += 1;
      reached[offset + diagonal] = at;
      if (at >= old.length && at - diagonal >= now.length) return walkBack(trace, old, now);
    }
  }
  return [...old.map((text) => toDiffLine('removed', text)), ...now.map((text) => toDiffLine('added', text))];
}

function walkBack(
  trace: readonly (readonly number[])[],
  old: readonly string[],
  now: readonly string[],
): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [old.length, now.length];
  for (let steps = trace.length - 1; steps > 0; steps -= 1) {
    // The row saved for this step starts at diagonal `-steps - 1`.
    const reached = (diagonal: number): number => trace[steps]?.[diagonal + steps + 1] ?? 0;
    const diagonal = x - y;
    const isDown = diagonal === -steps || (diagonal !== steps && reached(diagonal - 1) < reached(diagonal + 1));
    const from = isDown ? diagonal + 1 : diagonal - 1;
    const [startX, startY] = [reached(from), reached(from) - from];
    for (; x > startX && y > startY; x -= 1, y -= 1) lines.push(toDiffLine('same', old[x - 1] ?? ''));
    if (isDown) lines.push(toDiffLine('added', now[y - 1] ?? ''));
    else lines.push(toDiffLine('removed', old[x - 1] ?? ''));
    [x, y] = [startX, startY];
  }
  for (; x > 0; x -= 1) lines.push(toDiffLine('same', old[x - 1] ?? ''));
  return lines.reverse();
}

function groupHunks(all: readonly DiffLine[]): readonly DiffHunk[] {
  const isShown = new Uint8Array(all.length);
  for (const [place, { kind }] of all.entries())
    if (kind !== 'same') isShown.fill(1, Math.max(0, place - CONTEXT), place + CONTEXT + 1);
  const hunks: { readonly line: number; readonly lines: DiffLine[] }[] = [];
  let line = 1;
  for (const [place, entry] of all.entries()) {
    if (isShown[place] === 1) {
      if (isShown[place - 1] !== 1) hunks.push({ line, lines: [] });
      hunks.at(-1)?.lines.push(entry);
    }
    if (entry.kind !== 'removed') line += 1;
  }
  return hunks;
}
