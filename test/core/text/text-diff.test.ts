import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { diffLines } from '../../../src/core/text/text-diff.ts';
import { runs } from '../../property-runs.ts';

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${String(at)}\n`).join('');

describe('diffLines', () => {
  test('gives changed lines with three around them', () => {
    const before = numbered(10);
    expect(diffLines(before, before.replace('line 5\n', 'LINE 5\nnew\n'))).toEqual({
      added: 2,
      removed: 1,
      isEndChanged: false,
      hunks: [
        {
          line: 3,
          lines: [
            { kind: 'same', text: 'line 2' },
            { kind: 'same', text: 'line 3' },
            { kind: 'same', text: 'line 4' },
            { kind: 'removed', text: 'line 5' },
            { kind: 'added', text: 'LINE 5' },
            { kind: 'added', text: 'new' },
            { kind: 'same', text: 'line 6' },
            { kind: 'same', text: 'line 7' },
            { kind: 'same', text: 'line 8' },
          ],
        },
      ],
    });
  });

  test('changes far from each other are hunks of their own', () => {
    const after = numbered(40).replace('line 5\n', '').replace('line 30\n', 'line 30\r\n');
    expect(diffLines(numbered(40), after).hunks.map(({ line, lines }) => [line, lines.length])).toEqual([
      [3, 7],
      [27, 8],
    ]);
  });

  test('a line end that comes or goes at the end of the text is told', () => {
    expect(diffLines('a\nb\n', 'a\nb')).toEqual({ added: 0, removed: 0, hunks: [], isEndChanged: true });
  });

  test('equal texts differ in nothing, and an empty text has no lines', () => {
    expect(diffLines('a\nb', 'a\nb')).toEqual({ added: 0, removed: 0, hunks: [], isEndChanged: false });
    expect(diffLines('', 'a\n')).toEqual({
      added: 1,
      removed: 0,
      hunks: [{ line: 1, lines: [{ kind: 'added', text: 'a' }] }],
      isEndChanged: false,
    });
  });

  test('texts with nothing in common are all removed and all added, however long they are', () => {
    const { added, removed } = diffLines(numbered(50_000), numbered(50_000).replaceAll('line', 'row'));
    expect([added, removed]).toEqual([50_000, 50_000]);
  });

  test('whatever changed: what is removed and kept is the old text, what is added and kept is the new one', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(lines, lines, (old, now) => {
        const [before, after] = [`${old.join('\n')}\n`, `${now.join('\n')}\n`];
        const { hunks, added, removed } = diffLines(before, after);
        const all = hunks.flatMap((hunk) => hunk.lines);
        expect(all.filter(({ kind }) => kind === 'added').length).toBe(added);
        expect(all.filter(({ kind }) => kind === 'removed').length).toBe(removed);
        expect(old.length - removed).toBe(now.length - added);
        for (const { line, lines: shown } of hunks) {
          const present = shown.filter(({ kind }) => kind !== 'removed').map(({ text }) => text);
          expect(now.slice(line - 1, line - 1 + present.length)).toEqual(present);
        }
        expect(withChanges(old, hunks)).toEqual(now);
      }),
      { numRuns: runs(2000) },
    );
  });
});

/** The new lines, from the old ones and the hunks alone. */
function withChanges(old: readonly string[], hunks: ReturnType<typeof diffLines>['hunks']): readonly string[] {
  const now: string[] = [];
  let at = 0;
  for (const { line, lines } of hunks) {
    while (now.length < line - 1) {
      now.push(old[at] ?? 'missing');
      at += 1;
    }
    for (const { kind, text } of lines) {
      if (kind !== 'added') {
        expect(old[at]).toBe(text);
        at += 1;
      }
      if (kind !== 'removed') now.push(text);
    }
  }
  return [...now, ...old.slice(at)];
}
