import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { codePointAt, sliceEnd, sliceStart } from '../../../src/core/text/code-point.ts';
import { cleanText } from '../../../src/core/text/text.ts';
import { PROJECT, filesBelow } from '../../files-below.ts';

test('gives whole characters, halves that stand alone, and 0 behind the end', () => {
  const text = 'a\u{1F600}\uD83D';
  expect([0, 1, 2, 3, 4].map((at) => codePointAt(text, at))).toEqual([0x61, 0x1f600, 0xde00, 0xd83d, 0]);
});

// Often enough that the engine compiles what it runs: only then does that of Node 24 look behind the end of a piece.
test('half a character at the end of a piece of a text never takes its other half from behind the piece', () => {
  const whole = 'a text that is long enough'.padEnd(40, '.') + '\u{1F600}'.repeat(20);
  const cuts = Array.from({ length: 5_000 }, () => whole.slice(0, 41));
  expect(new Set(cuts.map((cut) => codePointAt(cut, 40)))).toEqual(new Set([0xd83d]));
  expect(new Set(cuts.map((cut) => cleanText(cut).length))).toEqual(new Set([40]));
});

test('no file asks a string itself', () => {
  const asking = filesBelow('src', /\.ts$/).filter((file) => {
    const text = readFileSync(path.join(PROJECT, file), 'utf8');
    return /\.codePointAt\(/.test(text);
  });
  expect(asking).toEqual([]);
});

const LONE = /\p{Surrogate}/u;
const texts = fc.string({ unit: fc.constantFrom('a', 'é', '文', '\u{1F600}', '\u{20000}') });

test('no cut splits a surrogate pair or is longer than asked, and one unit at most is left out', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: -2, max: 40 }), (text, limit) => {
      const room = Math.min(text.length, Math.max(0, limit));
      for (const [cut, isCut] of [
        [sliceStart(text, limit), text.startsWith(sliceStart(text, limit))],
        [sliceEnd(text, limit), text.endsWith(sliceEnd(text, limit))],
      ] as const)
        expect([isCut, LONE.test(cut), room - cut.length === 0 || room - cut.length === 1]).toEqual([
          true,
          false,
          true,
        ]);
    }),
  );
});

test('a text that is cut at the same limit from both sides joins again', () => {
  fc.assert(
    fc.property(texts, fc.nat(40), (text, limit) => {
      const start = sliceStart(text, limit);
      expect([start + text.slice(start.length), LONE.test(text.slice(start.length))]).toEqual([text, false]);
    }),
  );
});
