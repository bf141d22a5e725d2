import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { portableText } from '../../../src/evals/run/case-model.ts';

const here = portableText({ skills: '/home/a/evals/work/sets/0123', project: '/home/a/evals/work/projects/7' });
const there = portableText({ skills: 'C:\\b\\sets\\4567', project: 'C:\\b\\projects\\1' });

describe('portable texts', () => {
  test('are equal on two machines', () => {
    const text = (places: readonly string[], time: string): string =>
      `read ${places[0] ?? ''}/tables/SKILL.md in ${places[1] ?? ''}: {"duration_ms": ${time}} "{\\"duration_ms\\":${time}}"`;
    const first = here.hide(text(['/home/a/evals/work/sets/0123', '/home/a/evals/work/projects/7'], '35'));
    const second = there.hide(text(['C:\\b\\sets\\4567', 'C:\\b\\projects\\1'], '1204'));
    expect(first).toBe(second);
    expect(there.show(first)).toContain('C:\\b\\sets\\4567/tables/SKILL.md in C:\\b\\projects\\1');
  });

  test('round-trip if no program ran', () => {
    const piece = fc.constantFrom(
      '/home/a/evals/work/sets/0123',
      '/home/a/evals/work/projects/7',
      ' ',
      'x/',
      '$1',
      '$&',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        expect(here.show(here.hide(text))).toBe(text);
        expect(here.hide(here.hide(text))).toBe(here.hide(text));
      }),
    );
  });
});
