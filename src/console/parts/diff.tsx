/** Lines that differ between two texts. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import { t } from '../language.ts';
import { visible } from '../text.ts';

interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added' | 'gap';
  readonly text: string;
}

/** More lines are compared only at their start and end. */
const MAX_LINES = 1_500;
const MAX_SHOWN = 3_000;
const CONTEXT = 3;

export function Diff({
  before,
  after,
  label,
}: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}): JSX.Element {
  const lines = useMemo(() => withGaps(diffLines(visible(before), visible(after))), [before, after]);
  const marks = { same: ' ', removed: '-', added: '+', gap: ' ' } as const;
  return (
    <pre class="diff" tabIndex={0} aria-label={label}>
      {lines.slice(0, MAX_SHOWN).map(({ kind, text }, at) => (
        <span key={at} class={kind}>{`${marks[kind]} ${text}\n`}</span>
      ))}
      {lines.length > MAX_SHOWN ? (
        <span class="gap">{t('… {count} more lines', { count: lines.length - MAX_SHOWN })}</span>
      ) : null}
    </pre>
  );
}

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return [
    ...same(a.slice(0, start)),
    ...(left.length * right.length <= MAX_LINES * MAX_LINES
      ? middle(left, right)
      : [...left.map(removed), ...right.map(added)]),
    ...same(a.slice(a.length - end)),
  ];
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

const same = (lines: readonly string[]): readonly DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
const removed = (text: string): DiffLine => ({ kind: 'removed', text });
const added = (text: string): DiffLine => ({ kind: 'added', text });

/** Aligns by the longest common subsequence. */
function middle(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [one = '', other = ''] = [a[i], b[j]];
    const down = lengths[(i + 1) * width + j] ?? 0;
    const right = lengths[i * width + j + 1] ?? 0;
    if (i < a.length && j < b.length && one === other) {
      lines.push({ kind: 'same', text: one });
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || down >= right)) {
      lines.push(removed(one));
      i += 1;
    } else {
      lines.push(added(other));
      j += 1;
    }
  }
  return lines;
}

/** Leaves out unchanged lines that are far from a change. */
function withGaps(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = new Uint8Array(lines.length);
  for (const [at, { kind }] of lines.entries())
    if (kind !== 'same') isNear.fill(1, Math.max(0, at - CONTEXT), Math.min(lines.length, at + CONTEXT + 1));
  const shown: DiffLine[] = [];
  let left = 0;
  const gap = (): void => {
    if (left > 0) shown.push({ kind: 'gap', text: t('… {count} unchanged lines', { count: left }) });
    left = 0;
  };
  for (const [at, line] of lines.entries()) {
    if (isNear[at] === 1) {
      gap();
      shown.push(line);
    } else left += 1;
  }
  gap();
  return shown;
}
