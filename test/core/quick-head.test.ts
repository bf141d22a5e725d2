import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readQuickHead } from '../../src/core/quick-head.ts';
import { readPlainHead } from '../../src/core/skill-head.ts';
import { sourceOf } from './skill-source.ts';
import { anyText, mostlyRight } from './yaml-ish.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 3000);

/** As a scan gives it: up to the end of the first closing fence. */
function cut(text: string): string {
  const end = /\n(?:-{3,}|\.\.\.)[ \t\r]*(?:\n|$)/.exec(text.slice(3));
  return end === null ? text : text.slice(0, 3 + end.index + end[0].length);
}

describe('the quick reader', () => {
  it('gives the head of the plain reader wherever it gives one', () => {
    let taken = 0;
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: mostlyRight }, anyText), (inner) => {
        const text = cut(`---\n${inner}\n---\n`);
        const head = readQuickHead(text);
        if (head === undefined) return;
        taken += 1;
        const { controls, ...rest } = readPlainHead(sourceOf(text), { mode: 'lenient' })?.head ?? { controls: {} };
        expect(head).toEqual({ ...rest, controls });
        // Written to the cache and hashed as JSON: the order of keys is part of it.
        expect(JSON.stringify([head.controls, head.meta])).toBe(
          JSON.stringify([controls, 'meta' in rest ? rest.meta : undefined]),
        );
      }),
      { numRuns: RUNS * 2 },
    );
    expect(taken).toBeGreaterThan(RUNS / 20);
  });
});
