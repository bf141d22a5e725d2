import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readJsonObject } from '../../src/agent/json-object.ts';
import { runs } from '../property-runs.ts';

/** Kind, position and message of the problem, short enough for a table. */
function problemOf(text: string): string {
  const reading = readJsonObject(text);
  if (reading.type === 'object') return 'valid';
  const { kind, message, line, column } = reading.problem;
  return `${kind} ${line}:${column} ${message}`;
}

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 5 }),
  fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }),
  fc.dictionary(fc.constantFrom('__proto__', 'constructor', 'toString', ''), fc.string({ unit: 'binary' })),
);
const written = fc
  .tuple(fc.dictionary(fc.string(), anyValue), fc.constantFrom(undefined, 1, '\t'))
  .map(([value, indent]) => JSON.stringify(value, undefined, indent));

const writtenNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
  fc.bigInt({ min: 0n, max: 10n ** 20n }).map(String),
  fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 9n }), fc.stringMatching(/^[0-9]{0,18}$/))
    .map(([whole, decimals]) => `${String(whole)}.${decimals}`),
  fc.stringMatching(/^-?[0-9]{0,18}(\.[0-9]{0,4})?([eE][+-]?[0-9]{0,2})?$/),
  fc.constantFrom(
    '0',
    '-0',
    '00',
    '01',
    '0.',
    '.5',
    '1.',
    '0.0',
    '-',
    '1e5',
    '0.1.2',
    '9007199254740993',
    'truex',
    'nul',
  ),
  fc.constantFrom('true', 'false', 'null', 'True', 'nulll', 'tru', '1_0', '0x10', '1a'),
);

/** The result of `JSON.parse`, in a list because any value is possible. */
function parsed(text: string): readonly [unknown] | 'rejected' {
  try {
    return [JSON.parse(text)];
  } catch {
    return 'rejected';
  }
}

test('an object has the value that JSON.parse returns', () => {
  fc.assert(
    fc.property(written, (text) => {
      expect(readJsonObject(text)).toEqual({ type: 'object', value: JSON.parse(text), from: 0, to: text.length });
    }),
    { numRuns: runs(500) },
  );
});

test('numbers and literals are accepted and rejected as by JSON.parse', () => {
  fc.assert(
    fc.property(writtenNumber, fc.constantFrom('}', ' }', ',"b":1}', ']}'), (word, rest) => {
      const text = `{"a":${word}${rest}`;
      const reading = readJsonObject(text);
      expect(reading.type === 'object' ? [reading.value] : 'rejected').toEqual(parsed(text));
    }),
    { numRuns: runs(2_000) },
  );
});

test('every escape is decoded', () => {
  const text = String.raw`{"\u0061\n": "\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"}`;
  const value = { 'a\n': '"\\/\b\f\n\r\té😀' };
  expect(readJsonObject(text)).toEqual({ type: 'object', value, from: 0, to: text.length });
});

describe('text before an object', () => {
  test.each([
    ['a code fence', '```json\n{"a": 1}\n```', 8],
    ['prose', 'Here it is: {"a": 1} Good luck.', 12],
    ['braces in prose', 'for {x} and {{"a": 1}}', 13],
    ['a list around it', '[{"a": 1}, {"b": 2}]', 1],
    ['a byte order mark', '\ufeff{"a": 1}', 1],
  ])('%s is skipped', (_, text, from) => {
    expect(readJsonObject(text)).toEqual({ type: 'object', value: { a: 1 }, from, to: from + 8 });
  });
});

describe('a text without a valid object', () => {
  test.each([
    ['', 'missing 1:1 the text contains no JSON object'],
    ['just words\nand more', 'missing 2:9 the text contains no JSON object'],
    ['[1, 2]', 'missing 1:7 the text contains no JSON object'],
    [`{'a': 1}`, `missing 1:2 the text contains no JSON object: expected a key in double quotes after {, found "'"`],
    ['{a: 1}', 'missing 1:2 the text contains no JSON object: expected a key in double quotes after {, found "a"'],
    ['{', 'cut 1:2 the text ends with 1 open bracket'],
    ['{"a', 'cut 1:4 the text ends inside a string, with 1 open bracket'],
    ['{"a": [1, {"b": tru', 'cut 1:20 the text ends with 3 open brackets'],
    ['{"a": 1,}', 'invalid 1:9 expected another key in double quotes after the comma, found "}"'],
    ['{"a": [1,]}', 'invalid 1:10 expected a value, found "]"'],
    ['{"a": 1\n "b": 2}', 'invalid 2:2 expected a comma or }, found a double quote'],
    ['{"a": [1 2]}', 'invalid 1:10 expected a comma or ], found "2"'],
    ['{"a": [1}', 'invalid 1:9 expected a comma or ], found "}"'],
    [`{"a": 'b'}`, `invalid 1:7 expected a value, found "'"`],
    ['{"a" "b"}', 'invalid 1:6 expected a colon after the key, found a double quote'],
    ['{"a": }', 'invalid 1:7 expected a value, found "}"'],
    ['{"a": NaN}', 'invalid 1:7 expected a value, found "NaN"'],
    ['{"a": 01}', 'invalid 1:7 expected a value, found "01"'],
    ['{"a": +1}', 'invalid 1:7 expected a value, found "+1"'],
    ['{"a": 1.}', 'invalid 1:7 expected a value, found "1."'],
    ['{"a": True}', 'invalid 1:7 expected a value, found "True"'],
    ['{"a": undefined}', 'invalid 1:7 expected a value, found "undefined"'],
    ['{"a": 1 // one\n}', 'invalid 1:9 expected a comma or }, found "/"'],
    ['{"a": “b”}', 'invalid 1:7 expected a value, found "“"'],
    ['{"a": 😀}', 'invalid 1:7 expected a value, found "😀"'],
    ['{"a": "b\nc"}', 'invalid 1:9 a line break inside a string: write it as \\n'],
    ['{"a": "\u001f"}', 'invalid 1:8 a control character inside a string: write it as \\u001f'],
    ['{"a": "b\tc"}', 'invalid 1:9 a control character inside a string: write it as \\u0009'],
    ['{"a": "\\x41"}', 'invalid 1:9 a backslash in a string must be followed by one of "\\/bfnrtu'],
    ['{"a": "\\u12g4"}', 'invalid 1:12 the escape \\u must be followed by four hexadecimal digits'],
    ['{"a": 1, "b": 2, "a": 3}', 'invalid 1:20 duplicate key "a"'],
    ['{"\\u202e": 1, "\\u202e": 3}', 'invalid 1:22 duplicate key "\\u{202e}"'],
  ])('%j is rejected: %s', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  test('is rejected where JSON.parse rejects it, and nothing is thrown', () => {
    const signs = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '\\',
      '\\u00',
      '1',
      '-',
      'e',
      'null',
      ' ',
      '\n',
    );
    const texts = fc
      .array(fc.oneof(signs, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 12 })
      .map((parts) => `{"k":${parts.join('')}`);
    fc.assert(
      fc.property(texts, (text) => {
        const reading = readJsonObject(text);
        if (reading.type === 'object') expect(JSON.parse(text.slice(0, reading.to))).toEqual(reading.value);
        else {
          expect(reading.problem.offset).toBeLessThanOrEqual(text.length);
          if (!reading.problem.message.includes('duplicate key')) expect(() => JSON.parse(text)).toThrow(SyntaxError);
        }
      }),
      { numRuns: runs(2000) },
    );
  });

  test('is reported as cut at its end, wherever it was cut', () => {
    fc.assert(
      fc.property(written, fc.nat(), (text, place) => {
        const start = text.slice(0, 1 + (place % (text.length - 1)));
        const reading = readJsonObject(start);
        expect(reading.type === 'broken' && [reading.problem.kind, reading.problem.offset]).toEqual([
          'cut',
          start.length,
        ]);
      }),
    );
  });
});

describe('limits', () => {
  test('reject a text that is too long or too deep, or contains an endless number', () => {
    const long = `{"a":"${'x'.repeat(16 * 1024 * 1024 - 8)}"}`;
    const problems = [
      readJsonObject(`{"a":${'['.repeat(1_000_000)}`),
      readJsonObject(`${long} `),
      readJsonObject(`{"a":${'1'.repeat(2_000_000)}}`),
    ].map((end) => end.type === 'broken' && `${end.problem.kind} ${end.problem.offset} ${end.problem.message}`);
    expect(problems).toEqual([
      'too-large 68 nested more than 64 levels deep',
      'too-large 16777216 the text has 16777217 characters; the limit is 16777216',
      'invalid 5 expected a value, found a number or word of more than 1000 characters',
    ]);
    expect(readJsonObject(long).type).toBe('object');
  });

  test('a key named __proto__ does not change the prototype', () => {
    const reading = readJsonObject('{"__proto__": {"polluted": true}, "constructor": 1}');
    const value = reading.type === 'object' ? reading.value : {};
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});
