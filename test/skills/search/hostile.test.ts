import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { buildSearchIndex } from '../../../src/skills/search/search-index.ts';
import { CATALOG, namesFound } from './fixture.ts';

const index = buildSearchIndex(CATALOG);

describe('hostile queries', () => {
  test.each([
    ['nothing', ''],
    ['spaces', ' \t\n\u00a0\u3000'],
    ['punctuation', '?!.,;:()[]{}"\'`~@#$%^&*-_=+|\\/<>。，、'],
    ['regular expression characters', '(.*)+$^[^\\]\\1(?<=x)'],
    ['NULs', '\0\0\0'],
    ['lone surrogates', '\ud800\udfff\udc00 \ud83d'],
    ['emoji', '🙂🙃👩‍👩‍👧‍👦'],
    ['combining marks', '\u0300'.repeat(5000)],
  ])('%s find nothing and do no harm', (_, query) => {
    expect(index.search(query)).toEqual([]);
  });

  test('stop words alone are looked for in names', () => {
    const odd = [...CATALOG, { name: 'how-to', description: 'Explains.' }];
    expect(namesFound(buildSearchIndex(odd), 'how to', 5, odd)).toEqual(['how-to']);
    expect(index.search('how could you do that for me')).toEqual([]);
  });

  test('junk around a word does not hide it', () => {
    expect(namesFound(index, '\0\ud800((kubernetes))\u0000*', 1)).toEqual(['kubernetes-deploy']);
  });

  test('ten megabytes are read as far as their first pages', () => {
    expect(namesFound(index, `merge pdf ${'word '.repeat(2_000_000)}`, 1)).toEqual(['pdf-merge']);
    expect(index.search('x'.repeat(10_000_000))).toEqual([]);
    expect(index.search('合'.repeat(10_000_000)).length).toBeLessThanOrEqual(5);
    expect(index.search('a-'.repeat(5_000_000))).toEqual([]);
  });

  test('words that are names of object members are only words', () => {
    for (const query of ['constructor', '__proto__', 'toString hasOwnProperty', 'valueOf'])
      expect(index.search(query)).toEqual([]);
  });

  test('no text throws, and every hit is a document', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (query) => {
        for (const { position, score } of index.search(query, 50)) {
          expect(CATALOG[position]).toBeDefined();
          expect(score).toBeGreaterThan(0);
        }
      }),
    );
  });
});

describe('hostile documents', () => {
  test('a word said five hundred times does not win over an honest match', () => {
    const stuffed = [
      ...CATALOG,
      { name: 'best-skill', description: 'kubernetes '.repeat(500) },
      { name: 'top-skill', description: 'kubernetes, '.repeat(500) },
    ];
    expect(namesFound(buildSearchIndex(stuffed), 'kubernetes', 1, stuffed)).toEqual(['kubernetes-deploy']);
    const honest = [
      ...stuffed.slice(1),
      { name: 'rollouts', description: 'Deploy services to Kubernetes clusters with Helm.' },
    ];
    expect(namesFound(buildSearchIndex(honest), 'kubernetes', 1, honest)).toEqual(['rollouts']);
    expect(namesFound(buildSearchIndex(honest), 'deploy to kubernetes', 1, honest)).toEqual(['rollouts']);
  });

  test('a description made of every trigger does not win over the skill that was asked for', () => {
    const everything = CATALOG.map(({ description }) => description).join(' ');
    const greedy = [...CATALOG, { name: 'do-it-all', description: `${everything} ${everything}` }];
    for (const [query, name] of [
      ['merge pdf files', 'pdf-merge'],
      ['deploy to kubernetes', 'kubernetes-deploy'],
      ['审查合同', 'contract-review'],
    ] as const) {
      expect(namesFound(buildSearchIndex(greedy), query, 1, greedy)).toEqual([name]);
    }
  });

  test('documents may hold anything', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            name: fc.string({ unit: 'binary' }),
            description: fc.string({ unit: 'binary' }),
            body: fc.string({ unit: 'binary' }),
          }),
        ),
        (documents) => {
          const odd = buildSearchIndex(documents);
          expect(odd.size).toBe(documents.length);
          expect(odd.search('anything at all').length).toBeLessThanOrEqual(5);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('thousands of documents that are all alike are ranked by position', () => {
    const alike = Array.from({ length: 5000 }, () => ({ name: 'same', description: 'The same words in each.' }));
    expect(
      buildSearchIndex(alike)
        .search('same words', 3)
        .map(({ position }) => position),
    ).toEqual([0, 1, 2]);
  });
});
