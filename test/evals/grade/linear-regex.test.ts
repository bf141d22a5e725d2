import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readLinearRegex, readSlashedRegex } from '../../../src/evals/grade/linear-regex.ts';
import { runs } from '../../property-runs.ts';

function matches(source: string, text: string, flags = ''): boolean {
  const reading = readLinearRegex(source, flags);
  if (reading.type === 'refused') return expect.fail(reading.message);
  return reading.regex.test(text);
}

const ATOMS = [
  'a',
  'b',
  '.',
  '\\d',
  '\\w',
  '[ab]',
  '[^a]',
  '\\p{L}',
  '\\s',
  '\\.',
  'ä',
  '😀',
  '\\u{1f600}',
  '\\/',
  '/',
];
const PIECES = ['a', 'b', 'c', ' ', '\n', '1', 'ä', '😀', 'A', '.', '_', 'ſ', 'K', '/'];

/** Generates valid expressions. */
const expression = fc.letrec<{ readonly tree: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...ATOMS),
    fc.constantFrom('^', '$', '\\b', '\\B'),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `${a}${b}`),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(tie('tree'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,}', '*?', '{2,}?'))
      .map(([a, sign]) => `(${a})${sign}`),
  ),
})).tree;

describe('linear regular expressions', () => {
  test('match what JavaScript matches', () => {
    fc.assert(
      fc.property(
        expression,
        fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join('')),
        fc.subarray(['i', 'm', 's']).map((flags) => flags.join('')),
        (source, text, flags) => {
          // V8 matches `\\B` between the two halves of a surrogate pair, against the standard.
          fc.pre(!(source.includes('\\B') && text.includes('😀')));
          // RE2 counts only ASCII letters as word characters, also where `i` folds other letters into them.
          fc.pre(!(/\\b/i.test(source) && flags.includes('i') && /[ſK]/.test(text)));
          expect([source, text, flags, matches(source, text, flags)]).toEqual([
            source,
            text,
            flags,
            new RegExp(source, `${flags}u`).test(text),
          ]);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test('finish on expressions with catastrophic backtracking', () => {
    const text = `${'a'.repeat(20_000)}!`;
    for (const source of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*a){12}$', '^([a-z]+)*[^!]$'])
      expect([source, matches(source, text)]).toEqual([source, false]);
  });

  test('are read from /expression/flags', () => {
    expect(readSlashedRegex('plain/text')).toBeUndefined();
    expect(readSlashedRegex('//')).toBeUndefined();
    const reading = readSlashedRegex('/^rows: \\d+$/i');
    expect(reading?.type === 'regex' && reading.regex.test('Rows: 42')).toBe(true);
  });

  test.each([
    ['(a)\\1', 'backreferences are not supported'],
    ['(?<x>a)\\k<x>', 'backreferences are not supported'],
    ['(?=a)', 'lookahead and lookbehind are not supported'],
    ['x(?<!a)', 'lookahead and lookbehind are not supported'],
    ['(a', 'invalid regular expression: Unterminated group'],
    ['a)', "invalid regular expression: Unmatched ')'"],
    ['[a', 'invalid regular expression: Unterminated character class'],
    ['[z-a]', 'invalid regular expression: Range out of order in character class'],
    ['*a', 'invalid regular expression: Nothing to repeat'],
    ['a{3,1}', 'invalid regular expression: numbers out of order in {} quantifier'],
    ['a{5000}', 'the regular expression has a repeat count of 5000; the limit is 1000'],
    ['((a{1000}){1000}){1000}', 'invalid repeat count: `{1000}`'],
    ['((((){1000}){1000}){1000}){1000}', 'expression too large'],
    ['\\q', 'invalid regular expression: Invalid escape'],
    ['\\p{Nothing}', 'invalid regular expression: Invalid property name'],
    ['^*', 'invalid regular expression: Nothing to repeat'],
    ['a(?i)', 'invalid regular expression: Invalid group'],
  ])('rejects %s', (source, reason) => {
    const reading = readLinearRegex(source);
    expect(reading.type === 'refused' ? reading.message : reading).toContain(
      `cannot use the regular expression "${source}": ${reason}`,
    );
  });

  test('reads flags at the start of an expression', () => {
    const reading = readLinearRegex('(?is)A.b');
    expect(reading.type === 'regex' && reading.regex.test('a\nB')).toBe(true);
  });

  test.each([
    ['\\s', '\u00a0'],
    ['[\\s]', '\ufeff'],
    ['\\S', '\u2028'],
    ['[^\\S]', '\u3000'],
    ['[\\s\\S]', 'a'],
    ['.', '\r'],
    ['[.]', '\r'],
    ['[\\b]', '\b'],
    ['[[]', '['],
    ['^\\ud83d\\ude00$', '😀'],
    ['\\p{Script=Greek}', 'λ'],
    ['\\P{sc=Greek}', 'λ'],
    ['^\\p{gc=Lu}+$', 'ABC'],
    ['\\u{1f600}', '😀'],
    ['\\cA', '\u0001'],
  ])('matches %s as JavaScript does', (source, text) => {
    expect(matches(source, text)).toBe(new RegExp(source, 'u').test(text));
  });

  test('rejects unknown flags', () => {
    expect(readLinearRegex('a', 'g')).toEqual({
      type: 'refused',
      message: 'cannot use the regular expression "a": unsupported flags "g"; use i, m, s or u',
    });
  });
});
