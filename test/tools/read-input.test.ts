import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readInput, type InputReading } from '../../src/tools/read-input.ts';
import { verifies } from '../conformance/verifies.ts';
import { runs } from '../property-runs.ts';

const schema = {
  type: 'object',
  description: 'Everything at once.',
  properties: {
    skill: { type: 'string', description: 'A skill.', enum: ['csv', 'pdf'], isOpen: true },
    mode: { type: 'string', description: 'A mode.', enum: ['add', 'clear'] },
    n: { type: 'integer', description: 'A number.', minimum: 1, maximum: 50 },
    include_all_docs: { type: 'boolean', description: 'A switch.' },
    env: {
      type: 'object',
      description: 'Variables.',
      additionalProperties: { type: 'string', description: 'A value.' },
    },
    docs: { type: 'array', description: 'Texts.', items: { type: 'string', description: 'One.' } },
    skills: {
      type: 'array',
      description: 'Skills.',
      maxItems: 2,
      items: {
        type: 'object',
        description: 'A skill.',
        properties: {
          name: { type: 'string', description: 'Its name.' },
          source: { type: 'string', description: 'Its source.' },
        },
        required: ['name'],
        additionalProperties: false,
      },
    },
  },
  required: ['skill'],
  additionalProperties: false,
} as const;

const read = (input: unknown): InputReading => readInput(schema, input);
const inputOf = (input: unknown): unknown => {
  const reading = read(input);
  return reading.type === 'input' ? reading.input : reading.failure;
};
const messageOf = (input: unknown): string => {
  const reading = read(input);
  return reading.type === 'refused' ? reading.failure.message : 'it was taken';
};

describe('input as models send it', () => {
  test.each([
    ['an object', { skill: 'pdf' }, { skill: 'pdf' }],
    ['JSON text', '{"skill": "pdf"}', { skill: 'pdf' }],
    ['null for what is absent', { skill: 'pdf', n: null, docs: null }, { skill: 'pdf' }],
    ['undefined for what is absent', { skill: 'pdf', n: undefined, unknown: undefined }, { skill: 'pdf' }],
    ['a number as text', { skill: 'pdf', n: ' 5 ' }, { skill: 'pdf', n: 5 }],
    ['switches as text', { skill: 'pdf', include_all_docs: 'true' }, { skill: 'pdf', include_all_docs: true }],
    ['a list as JSON text', { skill: 'pdf', docs: '["a.md", "b.md"]' }, { skill: 'pdf', docs: ['a.md', 'b.md'] }],
    ['one text for a list of texts', { skill: 'pdf', docs: 'a.md' }, { skill: 'pdf', docs: ['a.md'] }],
    ['a text like a list that is none', { skill: 'pdf', docs: '[draft.md' }, { skill: 'pdf', docs: ['[draft.md'] }],
    ['an empty text for a list', { skill: 'pdf', docs: '' }, { skill: 'pdf', docs: [] }],
    ['names for objects with a name', { skill: 'pdf', skills: ['a'] }, { skill: 'pdf', skills: [{ name: 'a' }] }],
    ['one object for a list', { skill: 'pdf', skills: { name: 'a' } }, { skill: 'pdf', skills: [{ name: 'a' }] }],
    ['an object as JSON text', { skill: 'pdf', skills: ['{"name":"a"}'] }, { skill: 'pdf', skills: [{ name: 'a' }] }],
    ['a skill that is not in the enum', { skill: 'pfd' }, { skill: 'pfd' }],
    ['parameters of its own', { skill: 'pdf', confidence: 1 }, { skill: 'pdf' }],
  ])('%s', (_, given, expected) => {
    expect(inputOf(given)).toEqual(expected);
  });

  test('numbers and booleans in lists and maps of texts are written as text', () => {
    expect(inputOf({ skill: 'pdf', docs: [1, -0.5, true, 'a.md'], env: { N: 5, B: true, T: 'x' } })).toEqual({
      skill: 'pdf',
      docs: ['1', '-0.5', 'true', 'a.md'],
      env: { N: '5', B: 'true', T: 'x' },
    });
    for (const value of [{}, ['a']]) {
      expect(messageOf({ skill: 'pdf', docs: [value] })).toContain('parameter "docs.0" must be a string');
      expect(messageOf({ skill: 'pdf', env: { N: value } })).toContain('parameter "env.N" must be a string');
    }
  });

  test('nothing at all is an empty object', () => {
    const free = { type: 'object', description: 'Nothing.', properties: {}, additionalProperties: false } as const;
    for (const input of [undefined, null, '', '  ', {}, '{}']) {
      expect(readInput(free, input)).toEqual({ type: 'input', input: {}, ignored: [] });
    }
  });
});

describe('input that is refused', () => {
  test.each([
    ['broken JSON', '{"skill": "pdf"', 'the input is not valid JSON: "{"skill": "pdf""'],
    ['a list', [], 'the input must be an object, not a list of 0'],
    ['a number', 5, 'the input must be an object, not 5'],
    ['JSON text of a text', '"pdf"', 'the input must be an object, not "pdf"'],
    ['a missing parameter', {}, 'parameter "skill" is missing: expected a string'],
    ['null for what is required', { skill: null }, 'parameter "skill" is missing: expected a string'],
    ['a wrong type', { skill: ['pdf'] }, 'parameter "skill" must be a string, not a list of 1'],
    ['a number out of bounds', { skill: 'pdf', n: 51 }, 'parameter "n" must be a whole number from 1 to 50, not 51'],
    ['a fraction', { skill: 'pdf', n: '1.5' }, 'parameter "n" must be a whole number from 1 to 50, not "1.5"'],
    [
      'a switch that is none',
      { skill: 'pdf', include_all_docs: 'yes' },
      'parameter "include_all_docs" must be true or false, not "yes"',
    ],
    ['an unknown word', { skill: 'pdf', mode: 'delete' }, 'parameter "mode" must be one of add, clear, not "delete"'],
    [
      'an item of the wrong type',
      { skill: 'pdf', docs: [['a']] },
      'parameter "docs.0" must be a string, not a list of 1',
    ],
    [
      'a part that is missing',
      { skill: 'pdf', skills: [{ source: 'user' }] },
      'parameter "skills.0.name" is missing: expected a string',
    ],
    [
      'too many items',
      { skill: 'pdf', skills: ['a', 'b', 'c'] },
      'parameter "skills" must be a list of at most 2, not a list of 3',
    ],
    [
      'several things',
      { n: 0, nn: 1, docs: 5, mode: 1 },
      'parameter "n" must be a whole number from 1 to 50, not 0; unknown parameter "nn"; parameter "docs" must be a list, not 5; and 2 more',
    ],
  ])('%s', (_, given, message) => {
    expect(messageOf(given)).toBe(message);
  });

  verifies('TOOL-6', 'an unknown parameter is answered with the nearest and with all there are', () => {
    expect(read({ skil: 'pdf' })).toEqual({
      type: 'refused',
      failure: {
        code: 'input/invalid',
        message: 'unknown parameter "skil"; parameter "skill" is missing: expected a string',
        hint: 'the parameters are {skill: string, mode?: "add" | "clear", n?: integer, include_all_docs?: boolean, env?: {[name: string]: string}, docs?: string[], skills?: {name: string, source?: string}[]}',
        nearest: ['skill', 'skills'],
      },
    });
  });
});

describe('hostile input', () => {
  test('keys of prototypes are unknown parameters and change nothing', () => {
    const proto = readInput(schema, '{"skill": "pdf", "__proto__": {"n": 5}}');
    expect(proto).toEqual({ type: 'input', input: { skill: 'pdf' }, ignored: ['__proto__'] });
    expect(proto.type === 'input' && Object.getPrototypeOf(proto.input)).toBe(Object.prototype);
    expect(readInput(schema, { skill: 'pdf', constructor: 1 })).toMatchObject({ ignored: ['constructor'] });
    expect(Object.hasOwn(Object.prototype, 'n')).toBe(false);
  });

  test('what is far too long is refused at once', () => {
    const long = 'x'.repeat(10_000_000);
    expect(messageOf({ skill: long })).toBe('parameter "skill" has more than 1000000 characters');
    expect(messageOf(`{"skill": "${long}"}`)).toBe('the input has more than 1000000 characters');
    expect(messageOf({ skill: 'pdf', docs: Array.from({ length: 1_001 }, () => 'a') })).toBe(
      'parameter "docs" has more than 1000 items',
    );
    expect(messageOf({ skill: 'pdf', docs: [long] })).toBe('parameter "docs.0" has more than 1000000 characters');
    expect(messageOf({ skill: 5, [long]: 1 }).length).toBeLessThan(200);
  });

  test('depth does no harm', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(messageOf(deep)).toMatch(/^the input (?:must be an object|is not valid JSON)/);
    expect(messageOf(`{"skill": ${deep}}`)).toMatch(
      /^(?:parameter "skill" must be a string|the input is not valid JSON)/,
    );
  });

  test('any JSON, any value and any text is read or refused, never thrown at', () => {
    const key = fc.constantFrom(
      'skill',
      'mode',
      'n',
      'include_all_docs',
      'docs',
      'skills',
      '__proto__',
      'toString',
      'x',
    );
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.anything(),
      fc.json(),
      fc.string(),
      fc.dictionary(key, fc.oneof(fc.jsonValue(), fc.string())),
    );
    fc.assert(
      fc.property(anything, (input) => {
        const reading = read(input);
        expect(['input', 'refused']).toContain(reading.type);
        if (reading.type === 'input') expect(typeof reading.input['skill']).toBe('string');
      }),
      { numRuns: runs(500) },
    );
  });
});
