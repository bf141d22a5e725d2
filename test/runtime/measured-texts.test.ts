import { expect, test } from 'vitest';

import { estimateTokens } from '../../src/core/tokens.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { openMeasuredTexts } from '../../src/runtime/measured-texts.ts';

test('a text costs what it is estimated at and has its own digest, remembered or not, however many there were', () => {
  const measure = openMeasuredTexts();
  const texts = Array.from({ length: 20 }, (_, place) => `text ${String(place)} ${'word '.repeat(place)}`);
  const expected = texts.map((text) => ({ tokens: estimateTokens(text), digest: sha256(text) }));
  expect(texts.map(measure)).toEqual(expected);
  expect(texts.map(measure)).toEqual(expected);
});
