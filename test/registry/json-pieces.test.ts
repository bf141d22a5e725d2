import { expect, test } from 'vitest';

import { jsonPieces } from '../../src/registry/json-pieces.ts';

const many = Array.from({ length: 2_500 }, (_, number) => `"${String(number)}"`);
const map = Object.fromEntries(many.map((text, number) => [String(number), [text, { number }]]));

test('the pieces together are the JSON text', () => {
  for (const value of [
    {},
    { a: 1, b: [], c: {}, d: 'x' },
    { many, map, few: [1, 2] },
    map,
    { one: many.slice(0, 100), more: many.slice(0, 101) },
  ]) {
    const pieces = [...jsonPieces(value)];
    expect(pieces.join('')).toBe(JSON.stringify(value));
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(6_000);
  }
});
