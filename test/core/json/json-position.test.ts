import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readJsonText } from '../../../src/core/json/json-position.ts';
import type { JsonPath } from '../../../src/core/json/json-schema.ts';

describe('the text of a JSON value', () => {
  const text = '{\n  "a": [1, {"b\\"c": true}],\n  "d": {"e": "}{,:"},\n  "f": null\n}';

  test.each<readonly [JsonPath, number, number]>([
    [['a'], 2, 3],
    [['a', 0], 2, 9],
    [['a', 1], 2, 12],
    [['a', 1, 'b"c'], 2, 13],
    [['d', 'e'], 3, 9],
    [['f'], 4, 3],
    [['d', 'gone', 'e'], 3, 3],
    [['gone'], 1, 1],
    [[], 1, 1],
  ])('%j stands at %i:%i', (path, line, column) => {
    expect(readJsonText(text).locate(path)).toEqual({ line, column });
  });

  test('names keys that stand twice in one object, and only those', () => {
    const { repeated } = readJsonText('{"a": 1, "b": {"a": 1, "\\u0061": 2}, "c": [{"a": 1}, {"a": 2}], "a": 3}');
    expect(repeated).toEqual([['b', 'a'], ['a']]);
  });

  test('finds every key of any value at its own text, and counts its depth', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
        const written = JSON.stringify(value, undefined, indent);
        const read = readJsonText(written);
        expect(read.repeated).toEqual([]);
        expect(read.depth).toBe(depthOf(value));
        const lines = written.split('\n');
        for (const [path, start] of startsOf(value, [])) {
          const { line, column } = read.locate(path);
          expect(lines[line - 1]?.slice(column - 1).startsWith(start)).toBe(true);
        }
      }),
    );
  });

  test('a million brackets are no recursion', () => {
    const deep = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
    expect(readJsonText(deep).depth).toBe(500_000);
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Every path of a value and how its text starts: with the key, or with the item of a list. */
function startsOf(value: unknown, path: JsonPath): readonly (readonly [JsonPath, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]: [string, unknown]) => {
    const at = Array.isArray(value) ? Number(key) : key;
    const start = Array.isArray(value) ? (JSON.stringify(item)[0] ?? '') : JSON.stringify(key);
    return [[[...path, at], start] as const, ...startsOf(item, [...path, at])];
  });
}
