import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { openLineFilter } from '../../src/scan/line-filter.ts';
import { PATTERNS } from '../../src/scan/patterns/all.ts';
import { CONTROL_CASES } from './rule-cases-control.ts';
import { DAMAGE_CASES } from './rule-cases-damage.ts';
import { RUNNING_CASES } from './rule-cases-running.ts';
import { SECRETS_CASES } from './rule-cases-secrets.ts';
import { runs } from '../property-runs.ts';

const EXPRESSIONS = PATTERNS.map(({ find }) => find);
const FILTER = openLineFilter(EXPRESSIONS.map(({ source }) => source));

/** The pairs of an expression and a line that match without being candidates. */
function missed(text: string): readonly (readonly [RegExp, string])[] {
  const lines = text.split('\n');
  const candidates = FILTER(lines);
  return EXPRESSIONS.flatMap((find, number) =>
    lines.flatMap((line, at) =>
      new RegExp(find).test(line) && candidates.get(number)?.includes(at) !== true ? [[find, line] as const] : [],
    ),
  );
}

/** The lines in which an expression can match. */
function passing(source: string, lines: readonly string[]): readonly string[] {
  const candidates = openLineFilter([source])(lines).get(0) ?? [];
  return candidates.map((at) => lines[at] ?? '');
}

const CASES = [CONTROL_CASES, DAMAGE_CASES, RUNNING_CASES, SECRETS_CASES].flatMap((cases) =>
  Object.values(cases).flatMap(({ fires, misses }) => [...fires, ...misses].map(({ text }) => text.toLowerCase())),
);
const PIECES = [...new Set(CASES.flatMap((text) => text.split(/(?<=[\s"'`|;:(])/)))];
const WORDS = [...new Set(EXPRESSIONS.flatMap(({ source }) => source.match(/[\w ./~$-]{2,}/g) ?? []))];

describe('openLineFilter', () => {
  test('lets every line pass that an expression matches, in every rule case', () => {
    expect(CASES.length).toBeGreaterThan(100);
    for (const text of CASES) expect(missed(text)).toEqual([]);
  });

  test('lets every line pass that an expression matches, in random texts', () => {
    const piece = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...PIECES) },
      { weight: 4, arbitrary: fc.constantFrom(...WORDS) },
      { weight: 1, arbitrary: fc.constantFrom(' ', '\n', '.', '_', '-', '"', '\u00e9', '\u4e2d', '0') },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 4 }) },
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(missed(pieces.join(''))).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });

  test('requires the longest literals of a match, and one of each alternative', () => {
    const lines = ['post', 'send', 'it', 'if', 'asked', 'if asked', 'xyz', 'bcd', 'a'];
    expect(passing(String.raw`\b(?:send|post)(?:s|ing)?\b`, lines)).toEqual(['post', 'send']);
    expect(passing(String.raw`\bif\b[^.\n]{0,40}\b(?:asks|asked)\b`, lines)).toEqual(['asked', 'if asked']);
    expect(passing(String.raw`a[^\n]{0,9}xyz|bcd`, lines)).toEqual(['xyz', 'bcd']);
  });

  test('joins a literal with the alternatives after it, and ignores what is optional', () => {
    const lines = ['ab', 'abcd', 'abef', 'cd', 'ef', 'de', 'x'];
    expect(passing('ab(?:cd|ef)g', lines)).toEqual(['abcd', 'abef']);
    expect(passing('ab(?:cd)?efg|x', lines)).toEqual(['x']);
    expect(passing('(?:ab|c*)de', lines)).toEqual(['de']);
    expect(passing('#{1,4}x', lines)).toEqual(['x']);
  });

  test('ignores lookarounds and character classes', () => {
    expect(passing(String.raw`(?<=a)(?!b)c`, ['a', 'b', 'c'])).toEqual(['c']);
    expect(passing('.[ab]', ['a', ''])).toEqual(['a', '']);
  });

  test('finds literals that overlap or start with each other', () => {
    const candidates = openLineFilter(['abcd', 'bc', 'b', 'cde'])(['abcde', 'bcd', 'cd', 'b']);
    expect(new Map(candidates)).toEqual(
      new Map([
        [0, [0]],
        [1, [0, 1]],
        [2, [0, 1, 3]],
        [3, [0]],
      ]),
    );
  });

  test('only the pattern for long encoded strings can match in every line', () => {
    const open = [...FILTER(['']).keys()].map((at) => PATTERNS[at]?.longRun);
    expect(open).toEqual([400]);
  });

  test('expressions for Chinese text can match in every line of a text with Chinese characters', () => {
    const filter = openLineFilter(['忽略[^\\n]{0,9}x|y']);
    expect(filter(['y', 'a']).get(0)).toBe(undefined);
    expect(filter(['y', '\u4e2d']).get(0)).toEqual([0, 1]);
  });
});
