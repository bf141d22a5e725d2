import { describe, expect, test } from 'vitest';

import { checkJson, publishedSchema, type ObjectSchema } from '../../../src/core/json/json-schema.ts';

const schema: ObjectSchema = {
  type: 'object',
  description: 'A call.',
  properties: {
    skill: { type: 'string', description: 'A skill.', enum: ['pdf'], isOpen: true },
    docs: {
      type: 'array',
      description: 'Documents.',
      maxItems: 1,
      items: {
        type: 'object',
        description: 'A document.',
        properties: { path: { type: 'string', description: 'Its path.' } },
        required: ['path'],
        additionalProperties: false,
      },
    },
    env: {
      type: 'object',
      description: 'Texts.',
      additionalProperties: { type: 'string', description: 'A text.', isOpen: true },
    },
    any: { type: 'object', description: 'Anything.', additionalProperties: true },
    one: { description: 'One or the other.', anyOf: [{ type: 'string', description: 'A text.', isOpen: true }] },
  },
  required: ['skill'],
  additionalProperties: false,
};

describe('a check against a schema', () => {
  test('names a missing key where it should be, at every depth', () => {
    expect(checkJson({}, schema)).toEqual([{ type: 'invalid', path: ['skill'], expected: 'a string' }]);
    expect(checkJson({ skill: 'pdf', docs: [{}] }, schema)).toEqual([
      { type: 'invalid', path: ['docs', 0, 'path'], expected: 'a string' },
    ]);
    // A key of the prototype is no key of the value.
    const odd = { ...schema, properties: { toString: schema.properties['skill'] ?? schema }, required: ['toString'] };
    expect(checkJson({}, odd)).toHaveLength(1);
  });

  test('lets an open enum pass any text, and nothing but text', () => {
    expect(checkJson({ skill: 'pfd' }, schema)).toEqual([]);
    expect(checkJson({ skill: 5 }, schema)).toEqual([{ type: 'invalid', path: ['skill'], expected: 'a string' }]);
  });

  test('bounds lists', () => {
    const path = { path: 'a' };
    expect(checkJson({ skill: 'pdf', docs: [path, path] }, schema)).toEqual([
      { type: 'invalid', path: ['docs'], expected: 'a list of at most 1' },
    ]);
  });
});

test('a published schema has nothing of ours at any depth, and the original keeps it', () => {
  expect(JSON.stringify(publishedSchema(schema))).not.toContain('isOpen');
  expect(JSON.stringify(schema)).toContain('isOpen');
  expect(publishedSchema(schema).properties['skill']).toEqual({
    type: 'string',
    description: 'A skill.',
    enum: ['pdf'],
  });
});
