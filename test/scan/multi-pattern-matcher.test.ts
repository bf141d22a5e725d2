import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { MultiPatternMatcher, isChinese } from '../../src/scan/multi-pattern-matcher.ts';
import { requiredLiterals } from '../../src/scan/regex-prefilter.ts';
import { PATTERNS } from '../../src/scan/patterns/all.ts';
import { CONTROL_CASES } from './rule-cases-control.ts';
import { DAMAGE_CASES } from './rule-cases-damage.ts';
import { RUNNING_CASES } from './rule-cases-running.ts';
import { SECRETS_CASES } from './rule-cases-secrets.ts';
import { runs } from '../property-runs.ts';

const EXPRESSIONS = PATTERNS.map(({ find }) => find);
const MATCHER = new MultiPatternMatcher(EXPRESSIONS);

/** The matches of each expression alone: the expected result. */
function byMatchAll(text: string): readonly (readonly [number, number, number])[] {
  return EXPRESSIONS.flatMap((find, number) =>
    [...text.matchAll(find)].map((match) => [number, match.index, match[0].length] as const),
  );
}

function byMatcher(text: string): readonly (readonly [number, number, number])[] {
  return matchesBy(MATCHER, text).flatMap((found, number) =>
    found.map(({ index, length }) => [number, index, length] as const),
  );
}

/** The matches by expression. Each line is read alone. */
function matchesBy(matcher: MultiPatternMatcher, text: string) {
  const lines = text.split('\n');
  const starts = lines.map((_, at) => lines.slice(0, at).reduce((sum, line) => sum + line.length + 1, 0));
  matcher.begin();
  for (const [at, line] of lines.entries()) {
    const codes = Uint16Array.from({ length: line.length }, (_, index) => line.charCodeAt(index));
    matcher.read(at, { codes, from: 0, to: line.length, kind: 'normalized' });
  }
  const { candidates, unfiltered, chinese } = matcher;
  const anywhere = new Set(isChinese(text) ? [...unfiltered, ...chinese] : unfiltered);
  return EXPRESSIONS.map((_, number) => {
    const places = anywhere.has(number) ? [...lines.keys()] : (candidates.get(number) ?? []);
    return places.flatMap((at) =>
      matcher
        .matches(number, lines[at] ?? '', Infinity)
        .map(({ index, length }) => ({ index: index + (starts[at] ?? 0), length })),
    );
  });
}

const CASES = [CONTROL_CASES, DAMAGE_CASES, RUNNING_CASES, SECRETS_CASES].flatMap((cases) =>
  Object.values(cases).flatMap(({ fires, misses }) => [...fires, ...misses].map(({ text }) => text.toLowerCase())),
);
const PIECES = [...new Set(CASES.flatMap((text) => text.split(/(?<=[\s"'`|;:(])/)))];
const LITERALS = [
  ...new Set(EXPRESSIONS.flatMap(({ source }) => requiredLiterals(source).flat(2)).map(({ text }) => text)),
];

describe('openMultiPatternMatcher', () => {
  test('finds the same as each expression alone in every rule case', () => {
    expect(CASES.length).toBeGreaterThan(100);
    for (const text of CASES) expect(byMatcher(text)).toEqual(byMatchAll(text));
  });

  test('finds the same as each expression alone in random texts', () => {
    const piece = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...PIECES) },
      { weight: 4, arbitrary: fc.constantFrom(...LITERALS) },
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
    const matcher = new MultiPatternMatcher([/\bif\b/g, /<x/g, /\b(?:send|post) it\b/g]);
    const found = (text: string) => matchesBy(matcher, text).slice(0, 3);
    expect(found('if')).toEqual([[{ index: 0, length: 2 }], [], []]);
    expect(found('a if')).toEqual([[{ index: 2, length: 2 }], [], []]);
    expect(found('gif <x')).toEqual([[], [{ index: 4, length: 2 }], []]);
    expect(found('post it\nsend\nit')).toEqual([[], [], [{ index: 0, length: 7 }]]);
  });

  test('reads raw lines as normalized ones, and leaves lines beyond ASCII to the caller', () => {
    const matcher = new MultiPatternMatcher([/\bsend it to\b/g]);
    const isCandidate = (text: string, kind: 'prose' | 'code') => {
      matcher.begin();
      const codes = Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
      return matcher.read(0, { codes, from: 0, to: text.length, kind }) && matcher.candidates.has(0);
    };
    expect(isCandidate('  **Send**  it\n\t\0to', 'prose')).toBe(true);
    expect(isCandidate('send it \\\n  to', 'code')).toBe(true);
    expect(isCandidate('send *it* to', 'code')).toBe(false);
    expect(isCandidate('send \\it to', 'code')).toBe(false);
    expect(isCandidate('resend it to', 'prose')).toBe(false);
    expect(isCandidate('send it to \u00e9', 'prose')).toBe(false);
    expect(isCandidate('send it to \x7f', 'prose')).toBe(false);
  });

  test('only the pattern for long encoded strings requires no literal', () => {
    const open = PATTERNS.filter(
      ({ find: { source } }) =>
        !/[\u2e80-\u9fff]/.test(source) && requiredLiterals(source).some((sets) => sets.length === 0),
    );
    expect(open.map(({ longRun }) => longRun)).toEqual([400]);
  });
});

describe('requiredLiterals', () => {
  /** The literals of each set of each alternative; those that count only at the start of a word begin with `^`. */
  const required = (source: string) =>
    requiredLiterals(source).map((sets) =>
      sets.map((set) => set.map(({ text, isAtWordStart }) => (isAtWordStart ? `^${text}` : text)).join(' ')),
    );

  test('lists what each alternative requires, longer literals first', () => {
    expect(required(String.raw`\b(?:send|post)(?:s|ing)?\b`)).toEqual([['^send ^post']]);
    expect(required(String.raw`\bif\b[^.\n]{0,40}\b(?:asks|asked)\b`)).toEqual([['^asks ^asked', '^if']]);
    expect(required(String.raw`a[^\n]{0,9}xyz|bcd`)).toEqual([['xyz', 'a'], ['bcd']]);
  });

  test('joins a literal with the alternatives after it, and leaves out what is optional', () => {
    expect(required('ab(?:cd|ef)gh')).toEqual([['abcd abef', 'gh']]);
    expect(required('ab(?:cd)?ef')).toEqual([['ab', 'ef']]);
    expect(required('(?:ab|c*)de')).toEqual([['de']]);
    expect(required('#{1,4}x')).toEqual([['^x']]);
  });

  test('knows the start of a word after a space, also if something optional is between', () => {
    expect(required(String.raw`\bsend[^\n]{0,9} server\b`)).toEqual([['^server', '^send']]);
    expect(required(String.raw`x (?:the )?(?:one|two)`)).toEqual([['^one ^two', 'x ']]);
    expect(required(String.raw`x (?:un)?(?:one|two)`)).toEqual([['one two', 'x ']]);
    expect(required(String.raw`\b--no-x`)).toEqual([['--no-x']]);
  });

  test('ignores lookarounds and character classes', () => {
    expect(required(String.raw`(?<=a)(?!b)c`)).toEqual([['c']]);
    expect(required('.[ab]')).toEqual([[]]);
  });
});
