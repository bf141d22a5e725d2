import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { openManyFinder } from '../../../src/packs/scan/find-many.ts';
import { outlineOf } from '../../../src/packs/scan/regex-prefilter.ts';
import { PATTERNS } from '../../../src/packs/scan/patterns/all.ts';
import { CONTROL_CASES } from './rule-cases-control.ts';
import { DAMAGE_CASES } from './rule-cases-damage.ts';
import { RUNNING_CASES } from './rule-cases-running.ts';
import { SECRETS_CASES } from './rule-cases-secrets.ts';
import { runs } from '../../property-runs.ts';

const EXPRESSIONS = PATTERNS.map(({ find }) => find);
const FINDER = openManyFinder(EXPRESSIONS);
const LOOK = FINDER.openLook();

/** All that the expressions find, one after the other: what the one pass must find too. */
function bySlowPath(text: string): readonly (readonly [number, number, number])[] {
  return EXPRESSIONS.flatMap((find, number) =>
    [...text.matchAll(find)].map((match) => [number, match.index, match[0].length] as const),
  );
}

function byOnePass(text: string): readonly (readonly [number, number, number])[] {
  const sightings = LOOK(text);
  return EXPRESSIONS.flatMap((_, number) =>
    [...FINDER.matches(text, sightings, { expression: number, most: Infinity })].map(
      ({ index, length }) => [number, index, length] as const,
    ),
  );
}

const CASES = [CONTROL_CASES, DAMAGE_CASES, RUNNING_CASES, SECRETS_CASES].flatMap((cases) =>
  Object.values(cases).flatMap(({ fires, misses }) => [...fires, ...misses].map(({ text }) => text.toLowerCase())),
);
const PIECES = [...new Set(CASES.flatMap((text) => text.split(/(?<=[\s"'`|;:(])/)))];
const STARTS = [
  ...new Set(
    EXPRESSIONS.flatMap(({ source }) => {
      const { openings = [], needs = [] } = outlineOf(source);
      return [...openings, ...needs].map((opening) => opening.text);
    }),
  ),
];

describe('many expressions in one pass', () => {
  test('every case of every rule gives what each expression finds by itself', () => {
    expect(CASES.length).toBeGreaterThan(100);
    for (const text of CASES) expect(byOnePass(text)).toEqual(bySlowPath(text));
  });

  test('so does any text made of pieces of them, of starts, and of anything', () => {
    const piece = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...PIECES) },
      { weight: 4, arbitrary: fc.constantFrom(...STARTS) },
      { weight: 1, arbitrary: fc.constantFrom(' ', '\n', '.', '_', '-', '"', '\u00e9', '\u4e2d', '0', 'A') },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 4 }) },
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        expect(byOnePass(text)).toEqual(bySlowPath(text));
      }),
      { numRuns: runs(300) },
    );
  });

  test('a match at the very start and at the very end is found', () => {
    const finder = openManyFinder([/\bif\b/g, /<x/g, /\b(?:send|post) it\b/g]);
    const found = (text: string) => {
      const sightings = finder.openLook()(text);
      return [0, 1, 2].map((number) => [...finder.matches(text, sightings, { expression: number, most: Infinity })]);
    };
    expect(found('if')).toEqual([[{ index: 0, length: 2 }], [], []]);
    expect(found('a if')).toEqual([[{ index: 2, length: 2 }], [], []]);
    expect(found('gif <x')).toEqual([[], [{ index: 4, length: 2 }], []]);
    expect(found('post it\nsend\nit')).toEqual([[], [], [{ index: 0, length: 7 }]]);
  });

  test('only the one for long encoded texts may begin with anything', () => {
    const open = PATTERNS.filter(({ find }) => outlineOf(find.source).openings === undefined);
    expect(open.map(({ longRun }) => longRun)).toEqual([400]);
  });
});

describe('the outline of an expression', () => {
  const opening = (text: string, isAtWord = false) => ({ text, isAtWord });

  test('names all texts with which a match begins, the shortest of those that begin alike', () => {
    expect(outlineOf(String.raw`\b(?:send|post)(?:s|ing)?\b`)).toEqual({
      openings: [opening('send', true), opening('post', true)],
      needs: [opening('send', true), opening('post', true)],
    });
    expect(outlineOf(String.raw`(?:ab?)?c[xy]`).openings).toEqual(
      ['cx', 'cy', 'acx', 'acy', 'abcx', 'abcy'].map((text) => opening(text)),
    );
    expect(outlineOf(String.raw`#{1,4} \[?x`).openings).toEqual([opening('#')]);
  });

  test('names what must stand further on where that tells more', () => {
    expect(outlineOf(String.raw`\bif\b[^.\n]{0,40}\b(?:asks|asked)\b`)).toEqual({
      openings: [opening('if', true)],
      needs: [opening('asks', true), opening('asked', true)],
    });
    expect(outlineOf(String.raw`a[^\n]{0,9}xyz|bcd`).needs).toEqual([opening('xyz'), opening('bcd')]);
    expect(outlineOf(String.raw`\bsend it\b[^\n]{0,9}\b(?:to|at) (?:our|the) servers?\b`).needs).toEqual(
      ['to our ser', 'to the ser', 'at our ser', 'at the ser'].map((text) => opening(text, true)),
    );
    expect(outlineOf(String.raw`\bsend[^\n]{0,9} server\b`).needs).toEqual([opening('server', true)]);
  });

  test('what is only looked at begins no match, and a border before a sign is no start of a word', () => {
    expect(outlineOf(String.raw`(?<=a)(?!b)c`).openings).toEqual([opening('c')]);
    expect(outlineOf(String.raw`\b--no-x`).openings).toEqual([opening('--no-x')]);
    expect(outlineOf('.b')).toEqual({});
    expect(outlineOf('[^a]b|c').openings).toBeUndefined();
  });
});
