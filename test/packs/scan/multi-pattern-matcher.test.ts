import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { openMultiPatternMatcher } from '../../../src/packs/scan/multi-pattern-matcher.ts';
import { prefilterOf } from '../../../src/packs/scan/regex-prefilter.ts';
import { PATTERNS } from '../../../src/packs/scan/patterns/all.ts';
import { CONTROL_CASES } from './rule-cases-control.ts';
import { DAMAGE_CASES } from './rule-cases-damage.ts';
import { RUNNING_CASES } from './rule-cases-running.ts';
import { SECRETS_CASES } from './rule-cases-secrets.ts';
import { runs } from '../../property-runs.ts';

const EXPRESSIONS = PATTERNS.map(({ find }) => find);
const MATCHER = openMultiPatternMatcher(EXPRESSIONS);

/** The matches of each expression alone: the expected result. */
function byMatchAll(text: string): readonly (readonly [number, number, number])[] {
  return EXPRESSIONS.flatMap((find, number) =>
    [...text.matchAll(find)].map((match) => [number, match.index, match[0].length] as const),
  );
}

function byMatcher(text: string): readonly (readonly [number, number, number])[] {
  const candidates = MATCHER.candidates(text);
  return EXPRESSIONS.flatMap((_, number) =>
    [...MATCHER.matches(text, candidates, { expression: number, limit: Infinity })].map(
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
      const { prefixes = [], required = [] } = prefilterOf(source);
      return [...prefixes, ...required].map(({ text }) => text);
    }),
  ),
];

describe('openMultiPatternMatcher', () => {
  test('finds the same as each expression alone in every rule case', () => {
    expect(CASES.length).toBeGreaterThan(100);
    for (const text of CASES) expect(byMatcher(text)).toEqual(byMatchAll(text));
  });

  test('finds the same as each expression alone in random texts', () => {
    const piece = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...PIECES) },
      { weight: 4, arbitrary: fc.constantFrom(...STARTS) },
      { weight: 1, arbitrary: fc.constantFrom(' ', '\n', '.', '_', '-', '"', '\u00e9', '\u4e2d', '0', 'A') },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 4 }) },
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        expect(byMatcher(text)).toEqual(byMatchAll(text));
      }),
      { numRuns: runs(300) },
    );
  });

  test('finds matches at the start and at the end of a text', () => {
    const matcher = openMultiPatternMatcher([/\bif\b/g, /<x/g, /\b(?:send|post) it\b/g]);
    const found = (text: string) => {
      const candidates = matcher.candidates(text);
      return [0, 1, 2].map((number) => [...matcher.matches(text, candidates, { expression: number, limit: Infinity })]);
    };
    expect(found('if')).toEqual([[{ index: 0, length: 2 }], [], []]);
    expect(found('a if')).toEqual([[{ index: 2, length: 2 }], [], []]);
    expect(found('gif <x')).toEqual([[], [{ index: 4, length: 2 }], []]);
    expect(found('post it\nsend\nit')).toEqual([[], [], [{ index: 0, length: 7 }]]);
  });

  test('only the pattern for long encoded strings has no prefix', () => {
    const open = PATTERNS.filter(({ find }) => prefilterOf(find.source).prefixes === undefined);
    expect(open.map(({ longRun }) => longRun)).toEqual([400]);
  });
});

describe('prefilterOf', () => {
  const literal = (text: string, isAtWordStart = false) => ({ text, isAtWordStart });

  test('lists the literals that a match can start with, without those that a shorter one covers', () => {
    expect(prefilterOf(String.raw`\b(?:send|post)(?:s|ing)?\b`)).toEqual({
      prefixes: [literal('send', true), literal('post', true)],
      required: [literal('send', true), literal('post', true)],
    });
    expect(prefilterOf(String.raw`(?:ab?)?c[xy]`).prefixes).toEqual(
      ['cx', 'cy', 'acx', 'acy', 'abcx', 'abcy'].map((text) => literal(text)),
    );
    expect(prefilterOf(String.raw`#{1,4} \[?x`).prefixes).toEqual([literal('#')]);
  });

  test('lists required literals after the start where they are longer', () => {
    expect(prefilterOf(String.raw`\bif\b[^.\n]{0,40}\b(?:asks|asked)\b`)).toEqual({
      prefixes: [literal('if', true)],
      required: [literal('asks', true), literal('asked', true)],
    });
    expect(prefilterOf(String.raw`a[^\n]{0,9}xyz|bcd`).required).toEqual([literal('xyz'), literal('bcd')]);
    expect(prefilterOf(String.raw`\bsend it\b[^\n]{0,9}\b(?:to|at) (?:our|the) servers?\b`).required).toEqual(
      ['to our ser', 'to the ser', 'at our ser', 'at the ser'].map((text) => literal(text, true)),
    );
    expect(prefilterOf(String.raw`\bsend[^\n]{0,9} server\b`).required).toEqual([literal('server', true)]);
  });

  test('ignores lookarounds, and a word boundary before punctuation', () => {
    expect(prefilterOf(String.raw`(?<=a)(?!b)c`).prefixes).toEqual([literal('c')]);
    expect(prefilterOf(String.raw`\b--no-x`).prefixes).toEqual([literal('--no-x')]);
    expect(prefilterOf('.b')).toEqual({});
    expect(prefilterOf('[^a]b|c').prefixes).toBeUndefined();
  });
});
