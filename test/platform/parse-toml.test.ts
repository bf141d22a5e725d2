import { describe, expect, test } from 'vitest';

import { parseToml } from '../../src/platform/parse-toml.ts';
import { isProblem } from '../../src/core/problem.ts';

test('TOML of every kind is read', () => {
  const text = `\uFEFF# settings
a.b = 'x' # comment
when = 1979-05-27T07:32:00Z
[[servers]]
text = """
two
lines"""
list = [1, 2.5, { c = true }]
`;
  expect(JSON.parse(JSON.stringify(parseToml(text)))).toEqual({
    a: { b: 'x' },
    when: '1979-05-27T07:32:00.000Z',
    servers: [{ text: 'two\nlines', list: [1, 2.5, { c: true }] }],
  });
});

describe('TOML that is not valid is refused as a whole, with its line', () => {
  test.each([
    ['a = 1\na = 2\n', 2],
    ['[a]\n[a]\n', 2],
    ['a = 1\n[a.b]\n', 2],
    ['a = { b = 1\n', 2],
    ['a = "b\n', 1],
    ['= 1\n', 1],
    [`a = ${'['.repeat(10_000)}\n`, 1],
  ])('%j', (text, line) => {
    const read = parseToml(text);
    expect(isProblem(read) ? read.message : read).toBe(`line ${String(line)} is not valid TOML`);
  });
});

test('__proto__ in TOML is a key like any other', () => {
  expect(Object.keys(parseToml('[__proto__]\npolluted = true\n'))).toEqual(['__proto__']);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});
