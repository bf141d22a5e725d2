import { expect, test } from 'vitest';

import { countLines, offsetOfLine, startOfText } from '../../../src/core/text/excerpt.ts';

test('lines are counted as editors count them', () => {
  expect(['', '\n', 'a', 'a\n', 'a\nb', 'a\n\n'].map(countLines)).toEqual([0, 1, 1, 1, 2, 2]);
});

test('a line is found by its number, as long as it starts inside the text', () => {
  expect([0, 1, 2, 3].map((line) => offsetOfLine('ab\nc\n', line))).toEqual([0, 3, undefined, undefined]);
});

test('a text is cut after a line where one ends near, else between two characters', () => {
  expect(startOfText('short\n', 100)).toBe('short\n');
  expect(startOfText(`${'a'.repeat(80)}\n${'b'.repeat(80)}`, 100)).toBe(`${'a'.repeat(80)}\n`);
  expect(startOfText(`${'a'.repeat(20)}\n${'b'.repeat(90)}`, 100)).toBe(`${'a'.repeat(20)}\n${'b'.repeat(79)}`);
  expect(startOfText(`${'a'.repeat(9)}\nb`, 10)).toBe(`${'a'.repeat(9)}\n`);
  expect(startOfText('😀'.repeat(20), 7)).toBe('😀'.repeat(7));
  expect(startOfText('x', 0)).toBe('');
});
