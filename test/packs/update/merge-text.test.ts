import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { mergeText } from '../../../src/packs/update/merge-text.ts';

const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join('');
const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }), fc.boolean())
  .map(([all, isEnded]) => all.join('\n') + (isEnded ? '\n' : ''));

describe('mergeText', () => {
  test('merges changes of different lines', () => {
    const base = lines('1', '2', '3', '4', '5');
    expect(
      mergeText({
        base,
        local: lines('0', '1', '2', '3', '4', '5'),
        incoming: lines('1', '2', '3', 'four', '5', '6'),
      }),
    ).toEqual({ type: 'merged', text: lines('0', '1', '2', '3', 'four', '5', '6') });
  });

  test('applies the same change of both sides once, even next to conflicts', () => {
    const base = lines('1', '2', '3', '4', '5');
    expect(
      mergeText({ base, local: lines('one', '2', '3', '4', '5'), incoming: lines('one', '2', '3', '4', 'five') }),
    ).toEqual({ type: 'merged', text: lines('one', '2', '3', '4', 'five') });
  });

  test('reports the conflicting lines of all three texts', () => {
    expect(
      mergeText({
        base: lines('1', '2', '3', '4', '5'),
        local: lines('0', '1', '2', '3', 'mine', '5'),
        incoming: lines('1', '3', 'theirs', 'more', '5'),
      }),
    ).toEqual({
      type: 'conflict',
      conflicts: [
        {
          base: { line: 4, lines: ['4\n'] },
          local: { line: 5, lines: ['mine\n'] },
          incoming: { line: 3, lines: ['theirs\n', 'more\n'] },
        },
      ],
    });
  });

  test('merges changes of adjacent lines', () => {
    const base = lines('1', '2', '3');
    const merged = (local: string, incoming: string): unknown => mergeText({ base, local, incoming });
    expect(merged(lines('one', '2', '3'), lines('1', 'two', '3'))).toEqual({
      type: 'merged',
      text: lines('one', 'two', '3'),
    });
    expect(merged(lines('one', '2', 'three'), lines('1', 'two', 'more', '3'))).toEqual({
      type: 'merged',
      text: lines('one', 'two', 'more', 'three'),
    });
    expect(merged(lines('2', '3'), lines('1', 'two', '3'))).toEqual({ type: 'merged', text: lines('two', '3') });
  });

  test('reports an insertion beside a change and two insertions at one position as conflicts', () => {
    const base = lines('1', '2');
    for (const [local, incoming] of [
      [lines('1', 'a', '2'), lines('1', 'two')],
      [lines('1', 'a', '2'), lines('one', '2')],
    ] as const)
      for (const [ours, theirs] of [
        [local, incoming],
        [incoming, local],
      ] as const)
        expect(mergeText({ base, local: ours, incoming: theirs }).type).toBe('conflict');
    expect(mergeText({ base, local: lines('1', 'a', '2'), incoming: lines('1', 'b', '2') })).toEqual({
      type: 'conflict',
      conflicts: [
        {
          base: { line: 2, lines: [] },
          local: { line: 2, lines: ['a\n'] },
          incoming: { line: 2, lines: ['b\n'] },
        },
      ],
    });
  });

  test('treats the final newline and carriage returns as part of a line', () => {
    expect(mergeText({ base: '1\n2\n3', local: '1\n2\n3\n', incoming: 'one\n2\n3' })).toEqual({
      type: 'merged',
      text: 'one\n2\n3\n',
    });
    expect(mergeText({ base: '1\n2\n3\n', local: '1\r\n2\n3\n', incoming: '1\n2\nthree\n' })).toEqual({
      type: 'merged',
      text: '1\r\n2\nthree\n',
    });
  });

  test('merges a mostly rewritten side with a small edit elsewhere', () => {
    const base = Array.from({ length: 1000 }, (_, at) => `line ${String(at)}`);
    const incoming = base.map((line, at) => (at % 2 === 0 ? line : `new ${line}`));
    const local = base.map((line, at) => (at === 500 ? 'mine' : line));
    const merge = mergeText({ base: lines(...base), local: lines(...local), incoming: lines(...incoming) });
    expect(merge).toEqual({ type: 'merged', text: lines(...incoming.with(500, 'mine')) });
    const apart = base.map((line, at) => (at < 600 ? `new ${line}` : line));
    expect(
      mergeText({
        base: lines(...base),
        local: lines(...base.map((line, at) => (at === 700 ? 'mine' : line))),
        incoming: lines('first', ...apart, 'last'),
      }),
    ).toEqual({
      type: 'merged',
      text: lines('first', ...apart.map((line, at) => (at === 700 ? 'mine' : line)), 'last'),
    });
  });

  test('reports one conflict for long texts with nothing in common', () => {
    const many = (word: string): string => Array.from({ length: 2_000 }, (_, at) => `${word} ${String(at)}\n`).join('');
    const merge = mergeText({ base: many('a'), local: many('b'), incoming: many('c') });
    expect(merge.type === 'conflict' && merge.conflicts.length).toBe(1);
    const long = '\n'.repeat(150_000);
    expect(mergeText({ base: long, local: `a\n${long}`, incoming: `${long}b\n` })).toEqual({
      type: 'merged',
      text: `a\n${long}b\n`,
    });
  });

  test('takes the changed side if the other is unchanged, and either of two equal sides', () => {
    fc.assert(
      fc.property(text, text, (base, other) => {
        const merged = { type: 'merged', text: other };
        expect(mergeText({ base, local: base, incoming: other })).toEqual(merged);
        expect(mergeText({ base, local: other, incoming: base })).toEqual(merged);
        expect(mergeText({ base, local: other, incoming: other })).toEqual(merged);
      }),
    );
  });

  test('is symmetric: swapping the sides only swaps them in conflicts', () => {
    fc.assert(
      fc.property(text, text, text, (base, local, incoming) => {
        const [one, other] = [
          mergeText({ base, local, incoming }),
          mergeText({ base, local: incoming, incoming: local }),
        ];
        if (one.type === 'merged') {
          expect(other).toEqual(one);
          return;
        }
        expect(other.type === 'conflict' && other.conflicts).toEqual(
          one.conflicts.map((conflict) => ({ ...conflict, local: conflict.incoming, incoming: conflict.local })),
        );
      }),
    );
  });

  test('reports correct line numbers of conflicts', () => {
    fc.assert(
      fc.property(text, text, text, (base, local, incoming) => {
        const merge = mergeText({ base, local, incoming });
        if (merge.type === 'merged') return;
        for (const conflict of merge.conflicts)
          for (const [side, whole] of [
            [conflict.base, base],
            [conflict.local, local],
            [conflict.incoming, incoming],
          ] as const)
            expect(whole.split(/(?<=\n)/).slice(side.line - 1, side.line - 1 + side.lines.length)).toEqual(side.lines);
      }),
    );
  });

  test('loses no added line and restores no removed line', () => {
    const base = Array.from({ length: 8 }, (_, at) => `base ${String(at)}`);
    const edits = fc.array(fc.record({ at: fc.nat({ max: 7 }), isTaken: fc.boolean() }), { maxLength: 3 });
    const withEdits = (word: string, all: readonly { readonly at: number; readonly isTaken: boolean }[]) => {
      const taken = new Set(all.filter(({ isTaken }) => isTaken).map(({ at }) => at));
      const added = new Set(all.filter(({ isTaken }) => !isTaken).map(({ at }) => at));
      return base.flatMap((line, at) => [
        ...(added.has(at) ? [`${word} ${String(at)}`] : []),
        ...(taken.has(at) ? [] : [line]),
      ]);
    };
    fc.assert(
      fc.property(edits, edits, (ours, theirs) => {
        const [local, incoming] = [withEdits('local', ours), withEdits('incoming', theirs)];
        const merge = mergeText({ base: lines(...base), local: lines(...local), incoming: lines(...incoming) });
        if (merge.type === 'conflict') return;
        const result = merge.text.split('\n').slice(0, -1);
        const kept = base.filter((line) => local.includes(line) && incoming.includes(line));
        const added = [...local, ...incoming].filter((line) => !base.includes(line));
        expect(result.toSorted()).toEqual([...kept, ...added].toSorted());
      }),
    );
  });
});
