import fc from 'fast-check';
import { expect, test } from 'vitest';

import { estimateTokens, tokenWeight } from '../../src/core/tokens.ts';

// Counts of the public o200k tokenizer, taken once.
const COUNTED: readonly (readonly [text: string, tokens: number])[] = [
  ['Turn a CSV file into a short report with column types and missing values.', 15],
  ['Use when the user asks to fill in a PDF form, or mentions forms, fields or signatures.', 20],
  ['把表格变成一份简短的报告', 8],
  ['kubernetes-deployment-helper v1.10.3', 10],
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
