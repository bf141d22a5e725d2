import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { checkAnySchema } from '../../../src/evals/grade/json-schema.ts';

function said(value: unknown, schema: unknown): string {
  const verdict = checkAnySchema(value, schema);
  return verdict.type === 'fits' ? 'fits' : `${verdict.type}: ${verdict.message}`;
}

/** Each level refers twice to the next. */
function doubling(levels: number): unknown {
  const level = (next: number): unknown => ({
    allOf: [{ $ref: `#/$defs/${String(next)}` }, { $ref: `#/$defs/${String(next)}` }],
  });
  return Object.fromEntries(Array.from({ length: levels }, (_, at) => [at, at + 1 < levels ? level(at + 1) : true]));
}

describe('a schema of a case', () => {
  test.each<readonly [unknown, unknown, string]>([
    [{ a: 1 }, true, 'fits'],
    [1, false, 'differs: the value must not be there'],
    [1.5, { type: 'integer' }, 'differs: the value must be integer, not 1.5'],
    [null, { type: ['string', 'null'] }, 'fits'],
    [{ a: [1, 'x'] }, { properties: { a: { items: { type: 'number' } } } }, 'differs: "a.1" must be number, not "x"'],
    [{}, { required: ['a'] }, 'differs: "a" is missing'],
    [{ b: 1 }, { properties: { a: {} }, additionalProperties: false }, 'differs: "b" must not be there'],
    [{ b: 1 }, { additionalProperties: { type: 'string' } }, 'differs: "b" must be string, not 1'],
    ['b', { enum: ['a'] }, 'differs: the value is none of those allowed'],
    [{ b: 1, a: 2 }, { const: { a: 2, b: 1 } }, 'fits'],
    [3, { minimum: 4 }, 'differs: the value must be at least 4, not 3'],
    [4, { exclusiveMaximum: 4 }, 'differs: the value must be less than 4, not 4'],
    ['😀', { maxLength: 1 }, 'fits'],
    [[1, 1], { uniqueItems: true }, 'differs: the value has an item twice'],
    [[], { minItems: 1 }, 'differs: the value must have at least so many items: 1, not 0'],
    ['aab', { pattern: '^a+$' }, 'differs: the value must match "^a+$", not "aab"'],
    [1, { anyOf: [{ type: 'string' }, { minimum: 1 }] }, 'fits'],
    [1, { oneOf: [{ type: 'number' }, { minimum: 1 }] }, 'differs: the value fits 2 of oneOf'],
    [1, { allOf: [{ type: 'number' }, { minimum: 2 }] }, 'differs: the value must be at least 2, not 1'],
    [1, { not: { type: 'number' } }, 'differs: the value fits what it must not'],
    [1, { description: 'a number', format: 'x', type: 'number' }, 'fits'],
    [1, { unevaluatedItems: false }, 'unusable: the keyword "unevaluatedItems" is not checked here'],
    [
      { a: 'x' },
      { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'number' } } },
      'differs: "a" must be number',
    ],
    [[[], [[1]]], { items: { $ref: '#' }, type: 'array' }, 'differs: "1.0.0" must be array, not 1'],
    [
      1,
      { $ref: '#/definitions/a~1b/0', definitions: { 'a/b': [{ minimum: 2 }] } },
      'differs: the value must be at least 2',
    ],
    [1, { $ref: '#/$defs/%20', $defs: { ' ': true } }, 'fits'],
    [1, { $ref: '#/$defs/%', $defs: {} }, 'unusable: $ref "#/$defs/%" is not encoded'],
    [1, { $ref: '#/$defs/toString', $defs: {} }, 'unusable: $ref "#/$defs/toString" leads nowhere'],
    [1, { $ref: 'https://example.org/s.json' }, 'unusable: $ref must be "#" or begin with "#/"'],
    [1, { $ref: '#' }, 'unusable: the schema is nested too deep, or refers to itself without end'],
    [1, { $ref: '#/$defs/0', $defs: doubling(40) }, 'unusable: the schema takes too many steps'],
    [1, { type: 'any' }, 'unusable: the type "any" is not known'],
    [1, { minimum: Number.NaN }, 'unusable: a bound must be a finite number, not NaN'],
    ['a', { pattern: '(a)\\1' }, 'unusable: the expression "(a)\\\\1" cannot be used'],
    [{ constructor: 1 }, { required: ['toString'] }, 'differs: "toString" is missing'],
  ])('%j against %j', (value, schema, expected) => {
    expect(said(value, schema).startsWith(expected.replace('\\\\1', '\\1'))).toBe(true);
  });

  test('never throws, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, schema) => {
        expect(['fits', 'differs', 'unusable']).toContain(checkAnySchema(value, schema).type);
      }),
    );
    let deep: unknown = {};
    for (let level = 0; level < 1_000; level += 1) deep = { not: deep };
    expect(said(1, deep)).toBe('unusable: the schema is nested too deep, or refers to itself without end');
  });
});
