import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { checkJsonSchema } from '../../../src/evals/grade/json-schema.ts';

function said(value: unknown, schema: unknown): string {
  const verdict = checkJsonSchema(value, schema);
  return verdict.type === 'fits' ? 'fits' : `${verdict.type}: ${verdict.message}`;
}

describe('a JSON Schema of a case', () => {
  test.each<readonly [unknown, unknown, string]>([
    [{ a: 1 }, true, 'fits'],
    [1, false, 'differs: the value is not allowed'],
    [1.5, { type: 'integer' }, 'differs: the value must be integer, got 1.5'],
    [null, { type: ['string', 'null'] }, 'fits'],
    [{ a: [1, 'x'] }, { properties: { a: { items: { type: 'number' } } } }, 'differs: "a.1" must be number, got "x"'],
    [{}, { required: ['a'] }, 'differs: "a" is missing'],
    [{ b: 1 }, { properties: { a: {} }, additionalProperties: false }, 'differs: "b" is not allowed'],
    [{ b: 1 }, { additionalProperties: { type: 'string' } }, 'differs: "b" must be string, got 1'],
    ['b', { enum: ['a'] }, 'differs: the value must be one of "a", got "b"'],
    [{ b: 1, a: 2 }, { const: { a: 2, b: 1 } }, 'fits'],
    [3, { minimum: 4 }, 'differs: the value must be >= 4, got 3'],
    [4, { exclusiveMaximum: 4 }, 'differs: the value must be < 4, got 4'],
    ['😀', { maxLength: 1 }, 'fits'],
    [
      [1, 1],
      { uniqueItems: true },
      'differs: the value must NOT have duplicate items (items ## 0 and 1 are identical), got a list of 2',
    ],
    [[], { minItems: 1 }, 'differs: the value must NOT have fewer than 1 items, got a list of 0'],
    ['aab', { pattern: '^a+$' }, 'differs: the value must match pattern "^a+$", got "aab"'],
    [1, { anyOf: [{ type: 'string' }, { minimum: 1 }] }, 'fits'],
    [
      1,
      { oneOf: [{ type: 'number' }, { minimum: 1 }] },
      'differs: the value must match exactly one schema in oneOf, got 1',
    ],
    [1, { allOf: [{ type: 'number' }, { minimum: 2 }] }, 'differs: the value must be >= 2, got 1'],
    [1, { not: { type: 'number' } }, 'differs: the value must NOT be valid, got 1'],
    [1, { description: 'a number', format: 'x', type: 'number' }, 'fits'],
    [[1], { unevaluatedItems: false }, 'differs: the value must NOT have more than 0 items'],
    [1, { minimun: 2 }, 'unusable: unknown keyword: "minimun"'],
    [1, { $async: true }, 'unusable: unknown keyword: "$async"'],
    [
      1,
      { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'http://a/b', type: 'string' },
      'differs: the value must be string',
    ],
    [
      { a: 'x', b: 'y' },
      { properties: { a: { pattern: 'x' }, b: { pattern: 'z' } } },
      'differs: "b" must match pattern "z"',
    ],
    [
      { a: 'x' },
      { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'number' } } },
      'differs: "a" must be number',
    ],
    [[[], [[1]]], { items: { $ref: '#' }, type: 'array' }, 'differs: "1.0.0" must be array, got 1'],
    [1, { $ref: '#/definitions/a~1b', definitions: { 'a/b': { minimum: 2 } } }, 'differs: the value must be >= 2'],
    [1, { $ref: '#/$defs/%20', $defs: { ' ': true } }, 'fits'],
    [1, { $ref: '#/$defs/%', $defs: {} }, 'unusable: URI malformed'],
    [1, { $ref: '#/$defs/toString', $defs: {} }, 'unusable: can\'t resolve reference "#/$defs/toString"'],
    [1, { $ref: 'https://example.org/s.json' }, "unusable: can't resolve reference https://example.org/s.json"],
    [1, { $ref: '#' }, 'unusable: the schema is nested deeper than 300 levels or refers to itself without end'],
    [1, { type: 'any' }, 'unusable: schema is invalid: data/type must be equal to one of the allowed values'],
    [1, { minimum: Number.NaN }, 'unusable: schema is invalid: data/minimum must be number'],
    ['a', { pattern: '(a)\\1' }, 'unusable: cannot use the regular expression "(a)\\1"'],
    [{ constructor: 1 }, { required: ['toString'] }, 'differs: "toString" is missing'],
  ])('%j against %j', (value, schema, expected) => {
    expect(said(value, schema).slice(0, expected.length)).toBe(expected);
  });

  test('never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, schema) => {
        expect(['fits', 'differs', 'unusable']).toContain(checkJsonSchema(value, schema).type);
      }),
    );
    let deep: unknown = {};
    for (let level = 0; level < 1_000; level += 1) deep = { not: deep };
    expect(said(1, deep)).toBe('unusable: the schema is nested deeper than 300 levels or refers to itself without end');
  });
});
