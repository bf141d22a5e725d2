import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readHeadInFull } from '../../src/format/read-head.ts';
import { readPlainHead } from '../../src/format/skill-head.ts';
import { sourceOf } from '../core/skill-source.ts';
import { anyText, yamlIsh } from './yaml-ish.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 3000);

describe('the plain reader', () => {
  it('agrees with the YAML library on everything it takes on, in both modes', () => {
    let taken = 0;
    fc.assert(
      fc.property(yamlIsh, fc.constantFrom('lenient' as const, 'strict' as const), (inner, mode) => {
        const source = sourceOf(`---\n${inner}\n---\nbody\n`);
        const plain = readPlainHead(source, { mode });
        if (plain === undefined) return;
        taken += 1;
        expect(plain).toEqual(readHeadInFull(source, { mode }));
      }),
      { numRuns: RUNS },
    );
    expect(taken).toBeGreaterThan(RUNS / 20);
  });

  it('throws at nothing', () => {
    fc.assert(
      fc.property(anyText, (inner) => {
        const source = sourceOf(`---\n${inner}\n---\n`);
        const plain = readPlainHead(source, { mode: 'strict' });
        if (plain !== undefined) expect(plain).toEqual(readHeadInFull(source, { mode: 'strict' }));
      }),
      { numRuns: RUNS },
    );
  });
});
