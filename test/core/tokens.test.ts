import fc from 'fast-check';
import { expect, test } from 'vitest';

import { estimateTokens, tokenWeight } from '../../src/core/tokens.ts';
import { runs } from '../property-runs.ts';

// Counts of the public o200k tokenizer, taken once.
const COUNTED: readonly (readonly [text: string, tokens: number])[] = [
  ['Turn a CSV file into a short report with column types and missing values.', 15],
  ['Use when the user asks to fill in a PDF form, or mentions forms, fields or signatures.', 20],
  ['把表格变成一份简短的报告', 8],
  ['kubernetes-deployment-helper v1.10.3', 10],
  ['{"type":"object","properties":{"skill":{"type":"string"},"docs":{"type":"array"}},"required":["skill"]}', 26],
  ['', 0],
];

test('is near the count of a real tokenizer', () => {
  for (const [text, tokens] of COUNTED) {
    expect(Math.abs(estimateTokens(text) - tokens), text).toBeLessThanOrEqual(Math.max(2, tokens * 0.5));
  }
});

test('adds up over lines, so that a planner can count each line once', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (lines) => {
      const whole = lines.map((line) => `${line.replaceAll('\n', ' ')}\n`);
      const sum = whole.reduce((total, line) => total + tokenWeight(line), 0);
      expect(tokenWeight(whole.join(''))).toBeCloseTo(sum, 6);
    }),
  );
});

test('never gets smaller when text is added after a space', () => {
  fc.assert(fc.property(fc.string(), fc.string(), (a, b) => tokenWeight(`${a} ${b}`) >= tokenWeight(a)));
});

/** The same rules, piece by piece. */
function plainWeight(text: string): number {
  const isQuoting = (piece: string, previous: string): boolean =>
    piece !== '\n' &&
    /^[^A-Za-z\d\s\x80-\uffff]$|^[\t\v\f\r]$/.test(previous) &&
    (piece.startsWith('"') || previous === '"');
  let weight = 0;
  let before = '';
  for (const [piece] of text.matchAll(/[A-Za-z]+|\d+|\n|([\0-\x7f])\1*|[^]/g)) {
    const code = piece.charCodeAt(0);
    if (/^[A-Za-z]/.test(piece)) {
      for (const _ of piece.matchAll(/(?<=[a-z])[A-Z]/g)) weight += 0.7;
      weight += 1.04 + 0.06 * Math.max(0, piece.length - 5);
    } else if (/^\d/.test(piece)) weight += 1.6 * Math.ceil(piece.length / 3);
    else if (code >= 128) weight += (code >= 0x2e80 && code < 0xd800) || (code >= 0xf900 && code <= 0xffef) ? 1 : 1.1;
    else if (code !== 32) weight += isQuoting(piece, before) ? 0.3 : 0.8;
    before = piece.at(-1) ?? '';
  }
  return weight;
}

test('counts as its rules say, to the last bit', () => {
  const character = fc.constantFrom(...'aBzZ059 \n\t-={}"\0\x7f\x80é中가豈\uffef\ufff0', '\ud83d', '\ude00');
  const text = fc.oneof(
    fc.array(character, { maxLength: 60 }).map((characters) => characters.join('')),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(text, (given) => {
      expect(tokenWeight(given)).toBe(plainWeight(given));
    }),
    { numRuns: runs(300) },
  );
});
