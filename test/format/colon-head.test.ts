import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readColonHead } from '../../src/format/colon-head.ts';
import { readHeadInFull } from '../../src/format/read-head.ts';
import { fenced, placesOf, sourceOf } from '../core/skill-source.ts';
import { yamlIsh } from './yaml-ish.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 3000);
const OPTIONS = { mode: 'lenient' } as const;

const colonLine = fc
  .tuple(
    fc.constantFrom('description', 'name', 'license', 'metadata', 'allowed-tools', 'Allowed__Tools', 'paths', 'x'),
    fc.array(fc.constantFrom('a', 'Use when', '用', ': ', ':', ' ', '#', ' #', '"', "'", '[', '}', '*', '- ', 'b: c'), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  .map(([key, parts]) => `${key}: ${parts.join('')}`);

describe('the reader of unquoted colons', () => {
  it('agrees with the YAML library on everything it takes on, in both modes', () => {
    let taken = 0;
    fc.assert(
      fc.property(
        fc.tuple(yamlIsh, colonLine, yamlIsh),
        fc.constantFrom('\n', '\n\n', '\n  '),
        fc.constantFrom('lenient' as const, 'strict' as const),
        ([before, line, after], end, mode) => {
          for (const lines of [[line], [before, line], [line, after], [before, line, after]]) {
            const source = sourceOf(`---\n${lines.join(end)}\n---\nbody\n`);
            const reading = readColonHead(source, { mode });
            if (reading === undefined) continue;
            taken += 1;
            expect(reading).toEqual(readHeadInFull(source, { mode }));
          }
        },
      ),
      { numRuns: RUNS },
    );
    expect(taken).toBeGreaterThan(RUNS / 20);
  });

  it('takes on the commonest mistake: text with a colon in it', () => {
    const reading = readColonHead(
      sourceOf(fenced('name: pdf-forms', 'description: Use when: asked', 'metadata:', '  a: b')),
      OPTIONS,
    );
    expect(reading?.head?.description).toBe('Use when: asked');
    expect(reading === undefined ? [] : placesOf(reading)).toEqual(['frontmatter/unquoted-colon@3:22']);
  });

  it.each([
    ['plain frontmatter', ['name: pdf-forms', 'description: x']],
    ['a colon in the text below a key', ['name: pdf-forms', 'description: a', '  b: c']],
    ['a tab', ['name: pdf-forms', 'description: a: b', 'x:\ty']],
    ['a line that is no field', ['name: pdf-forms', 'description: a: b', 'rubbish']],
    ['an anchor', ['name: &x pdf-forms', 'description: a: b']],
    ['a restriction that no line shows', ['name: pdf-forms', 'description: x', 'allowed--tools: a: b']],
  ])('leaves to the library: %s', (_, lines) => {
    expect(readColonHead(sourceOf(fenced(...lines)), OPTIONS)).toBeUndefined();
  });
});
