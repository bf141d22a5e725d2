import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { JsonPath } from '../../../src/core/json/json-schema.ts';
import { openJsonStream } from '../../../src/agent/json/json-stream.ts';
import type { JsonStreamEnd, JsonStreamLimits } from '../../../src/agent/json/json-stream.ts';
import { piecesOf, singlePieces } from './pieces.ts';
import { verifies } from '../../conformance/verifies.ts';

interface Heard {
  readonly texts: readonly (readonly [JsonPath, string])[];
  readonly values: readonly (readonly [JsonPath, unknown])[];
  readonly ends: readonly JsonStreamEnd[];
}

function read(pieces: readonly string[], limits: JsonStreamLimits = {}): JsonStreamEnd {
  const stream = openJsonStream({}, limits);
  for (const piece of pieces) stream.write(piece);
  return stream.end();
}

function hear(pieces: readonly string[]): Heard {
  const texts: (readonly [JsonPath, string])[] = [];
  const values: (readonly [JsonPath, unknown])[] = [];
  const ends: JsonStreamEnd[] = [];
  const stream = openJsonStream({
    onText: (path, delta) => texts.push([path, delta]),
    onValue: (path, value) => values.push([path, value]),
    onEnd: (end) => ends.push(end),
  });
  for (const piece of pieces) stream.write(piece);
  stream.end();
  return { texts, values, ends };
}

/** The message and the place, as short as a table needs them. */
function problemOf(text: string): string {
  const end = read([text]);
  if (end.type === 'object') return 'it was read';
  const { kind, message, line, column } = end.problem;
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
const inPieces = written.chain((text) => fc.tuple(fc.constant(text), piecesOf(text)));

/** Numbers as they may be written, right and wrong: every one beside the way that reads plain ones. */
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

/** What `JSON.parse` says; a list, because any value is one. */
function parsed(text: string): readonly [unknown] | 'refused' {
  try {
    return [JSON.parse(text)];
  } catch {
    return 'refused';
  }
}

describe('rows of one shape, and of nearly one', () => {
  const key = fc.constantFrom('id', 'name', 'i', 'idx', '', '1', '__proto__', 'a\\b', 'q"', 'é', '\n', 'constructor');
  const value = fc.oneof(
    fc.integer(),
    fc.constantFrom('text', '', true, null, 0.25, -0.5),
    fc.array(fc.boolean(), { maxLength: 3 }),
  );
  const row = fc.uniqueArray(fc.tuple(key, value), { selector: ([name]) => name, maxLength: 5 });
  const rows = fc.tuple(fc.array(row, { maxLength: 3 }), fc.array(fc.nat(2), { maxLength: 12 }));
  const rowText = (entries: readonly (readonly [string, unknown])[], gap: string): string =>
    `{${entries.map(([name, one]) => `${JSON.stringify(name)}${gap}:${gap}${JSON.stringify(one)}`).join(`${gap},${gap}`)}}`;
  const written = fc.tuple(rows, fc.constantFrom('', ' ', '\n')).map(([[shapes, order], gap]) => {
    const texts = order.flatMap((place) => (shapes[place] === undefined ? [] : [rowText(shapes[place], gap)]));
    return `{"rows":[${texts.join(',')}],"one":[${texts.join(',')},[[${texts.join(',')}]]]}`.replace('[,', '[');
  });

  test('are what JSON.parse makes of them, and told alike however they are cut', () => {
    fc.assert(
      fc.property(
        written.chain((text) => fc.tuple(fc.constant(text), piecesOf(text))),
        ([text, pieces]) => {
          expect(read([text])).toEqual({ type: 'object', value: JSON.parse(text), from: 0, to: text.length });
          expect(read(pieces)).toEqual(read([text]));
          const whole = hear([text]);
          expect(hear(pieces).values).toEqual(whole.values);
          expect(whole.values).toEqual(hear(singlePieces(text)).values);
        },
      ),
    );
  });

  test('a key that stands twice is found also where the row before had the same ones', () => {
    for (const last of ['{"a":1,"b":2,"a":3}', '{"a":1,"a":3}', '{"b":1,"a":2,"b":3}', '{"a":1,"b":2,"c":3,"b":4}']) {
      const text = `{"rows":[{"a":1,"b":2},{"a":1,"b":2},${last}]}`;
      expect(problemOf(text)).toMatch(/^invalid 1:\d+ the key "[ab]" stands twice in one object$/);
      const [whole, single] = [read([text]), read(singlePieces(text))];
      expect(single).toEqual(whole);
    }
  });

  test('a key that is written with an escape is not taken for one without', () => {
    expect(read(['{"rows":[{"a\\\\b":1},{"a\\\\b":2}]}'])).toMatchObject({
      value: { rows: [{ 'a\\b': 1 }, { 'a\\b': 2 }] },
    });
    expect(problemOf('{"rows":[{"a\\\\x":1},{"a\\x":2}]}')).toContain('begins no escape');
  });
});

test('numbers and words are read as JSON.parse reads them, or refused as it does', () => {
  fc.assert(
    fc.property(writtenNumber, fc.constantFrom('}', ' }', ',"b":1}', ']}'), (word, rest) => {
      const text = `{"a":${word}${rest}`;
      const end = read([text]);
      const known = parsed(text);
      expect(end.type === 'object' ? [end.value] : 'refused').toEqual(known);
      expect(read(singlePieces(text))).toEqual(end);
    }),
    { numRuns: 2_000 },
  );
});

describe('an object that comes in pieces', () => {
  verifies('MOD-4', 'is what JSON.parse makes of the whole, however it is cut', () => {
    fc.assert(
      fc.property(inPieces, ([text, pieces]) => {
        const value: unknown = JSON.parse(text);
        const end = { type: 'object', value, from: 0, to: text.length };
        expect(read(pieces)).toEqual(end);
        expect(read(singlePieces(text))).toEqual(end);
      }),
      { numRuns: 500 },
    );
  });

  test('is told value by value, each at its own path, and its texts add up', () => {
    fc.assert(
      fc.property(inPieces, ([text, pieces]) => {
        const { texts, values, ends } = hear(pieces);
        const value: unknown = JSON.parse(text);
        expect(values).toEqual(valuesOf(value, []));
        expect(ends).toEqual([{ type: 'object', value, from: 0, to: text.length }]);
        expect(added(texts)).toEqual(
          new Map(
            valuesOf(value, [])
              .filter(([, item]) => typeof item === 'string' && item !== '')
              .map(([path, item]) => [JSON.stringify(path), item]),
          ),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('has no character told in halves, cut between any two of its units', () => {
    const text = JSON.stringify({ a: 'x😀y👩‍💻', b: ['\ud83d', '\ude00😀'] }).replace('😀y', '\\ud83d\\uDE00y');
    const { texts } = hear(singlePieces(text));
    expect(texts.filter(([path]) => path[0] === 'a').map(([, delta]) => delta)).toEqual([
      'x',
      '😀',
      'y',
      '👩',
      '‍',
      '💻',
    ]);
    expect(added(texts)).toEqual(
      new Map([
        ['["a"]', 'x😀y👩‍💻'],
        ['["b",0]', '\ud83d'],
        ['["b",1]', '\ude00😀'],
      ]),
    );
  });

  test('has every escape, cut anywhere', () => {
    const text = String.raw`{"\u0061\n": "\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00"}`;
    const value = { 'a\n': '"\\/\b\f\n\r\té😀' };
    expect(read([text])).toEqual({ type: 'object', value, from: 0, to: text.length });
    expect(read(singlePieces(text))).toEqual({ type: 'object', value, from: 0, to: text.length });
  });

  test('wants nothing more when it is complete', () => {
    const stream = openJsonStream();
    expect([stream.write('{"a": '), stream.write('1'), stream.write('} {"b": 2}'), stream.write('x')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(stream.end()).toEqual({ type: 'object', value: { a: 1 }, from: 0, to: 8 });
    expect(stream.end()).toBe(stream.end());
  });
});

describe('what stands before an object', () => {
  test.each([
    ['a code fence', '```json\n{"a": 1}\n```', 8],
    ['prose', 'Here it is: {"a": 1} Good luck.', 12],
    ['braces in prose', 'for {x} and {{"a": 1}}', 13],
    ['a list around it', '[{"a": 1}, {"b": 2}]', 1],
    ['a byte order mark', '\ufeff{"a": 1}', 1],
  ])('%s is passed over', (_, text, from) => {
    const end = { type: 'object', value: { a: 1 }, from, to: from + 8 };
    expect(read([text])).toEqual(end);
    expect(read(singlePieces(text))).toEqual(end);
  });
});

describe('a text that is no object', () => {
  test.each([
    ['', 'missing 1:1 there is no JSON object'],
    ['just words\nand more', 'missing 2:9 there is no JSON object'],
    ['[1, 2]', 'missing 1:7 there is no JSON object'],
    [`{'a': 1}`, `missing 1:2 there is no JSON object: expected a key in double quotes behind {, found "'"`],
    ['{a: 1}', 'missing 1:2 there is no JSON object: expected a key in double quotes behind {, found "a"'],
    ['{', 'cut 1:2 the text ends with 1 bracket open'],
    ['{"a', 'cut 1:4 the text ends inside a string, with 1 bracket open'],
    ['{"a": [1, {"b": tru', 'cut 1:20 the text ends with 3 brackets open'],
    ['{"a": 1,}', 'invalid 1:9 expected another key in double quotes behind the comma, found "}"'],
    ['{"a": [1,]}', 'invalid 1:10 expected a value, found "]"'],
    ['{"a": 1\n "b": 2}', 'invalid 2:2 expected a comma or }, found a double quote'],
    ['{"a": [1 2]}', 'invalid 1:10 expected a comma or ], found "2"'],
    ['{"a": [1}', 'invalid 1:9 expected a comma or ], found "}"'],
    [`{"a": 'b'}`, `invalid 1:7 expected a value, found "'"`],
    ['{"a" "b"}', 'invalid 1:6 expected a colon behind the key, found a double quote'],
    ['{"a": }', 'invalid 1:7 expected a value, found "}"'],
    ['{"a": NaN}', 'invalid 1:7 expected a value, found "NaN"'],
    ['{"a": 01}', 'invalid 1:7 expected a value, found "01"'],
    ['{"a": +1}', 'invalid 1:7 expected a value, found "+1"'],
    ['{"a": 1.}', 'invalid 1:7 expected a value, found "1."'],
    ['{"a": True}', 'invalid 1:7 expected a value, found "True"'],
    ['{"a": undefined}', 'invalid 1:7 expected a value, found "undefined"'],
    ['{"a": 1 // one\n}', 'invalid 1:9 expected a comma or }, found "/"'],
    ['{"a": “b”}', 'invalid 1:7 expected a value, found "“"'],
    ['{"a": 😀}', 'invalid 1:7 expected a value, found a symbol'],
    ['{"a": "b\nc"}', 'invalid 1:9 a line end inside a string: it must be written as \\n'],
    ['{"a": "\u001f"}', 'invalid 1:8 a control character inside a string: it must be written as \\u001f'],
    ['{"a": "b\tc"}', 'invalid 1:9 a control character inside a string: it must be written as \\u0009'],
    [
      '{"a": "\\x41"}',
      'invalid 1:9 a backslash in a string that begins no escape of JSON: expected one of "\\/bfnrtu behind it',
    ],
    ['{"a": "\\u12g4"}', 'invalid 1:12 an escape \\u without its four hexadecimal digits'],
    ['{"a": 1, "b": 2, "a": 3}', 'invalid 1:20 the key "a" stands twice in one object'],
    ['{"\\u202e": 1, "\\u202e": 3}', 'invalid 1:22 the key "\\u{202e}" stands twice in one object'],
  ])('%j: %s', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
    expect(read(singlePieces(text))).toEqual(read([text]));
  });

  test('is refused where JSON.parse refuses it, at the same place however it is cut, and nothing is thrown', () => {
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
      fc.property(
        texts.chain((text) => fc.tuple(fc.constant(text), piecesOf(text))),
        ([text, pieces]) => {
          const end = read([text]);
          expect(read(pieces)).toEqual(end);
          if (end.type === 'object') expect(JSON.parse(text.slice(0, end.to))).toEqual(end.value);
          else {
            expect(end.problem.offset).toBeLessThanOrEqual(text.length);
            if (!end.problem.message.includes('stands twice')) expect(() => JSON.parse(text)).toThrow(SyntaxError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('of one cut anywhere is cut, and a mistake is where the text stops being JSON', () => {
    fc.assert(
      fc.property(written, fc.nat(), (text, place) => {
        const start = text.slice(0, 1 + (place % (text.length - 1)));
        const end = read([start]);
        expect(end.type === 'broken' && [end.problem.kind, end.problem.offset]).toEqual(['cut', start.length]);
      }),
    );
  });
});

describe('limits', () => {
  test('end a text that is too long, too deep, or has a word without an end', () => {
    const deep = `{"a":${'['.repeat(1_000_000)}`;
    const long = `{"a":"${'x'.repeat(1000)}"}`;
    const found = [
      read([deep]),
      read([long], { maxCharacters: 1000 }),
      read([`{"a":${'1'.repeat(2_000_000)}}`]),
      read(['{"a":{"b":{}}}'], { maxDepth: 2 }),
    ].map((end) => end.type === 'broken' && `${end.problem.kind} ${end.problem.offset} ${end.problem.message}`);
    expect(found).toEqual([
      'too-large 68 more than 64 brackets deep',
      'too-large 1000 more than 1000 characters',
      'invalid 5 expected a value, found a number or word of more than 1000 characters',
      'too-large 10 more than 2 brackets deep',
    ]);
    expect(read([long], { maxCharacters: long.length }).type).toBe('object');
    expect(read(singlePieces(long), { maxCharacters: 1000 })).toEqual(read([long], { maxCharacters: 1000 }));
  });

  test('a key that would change the prototype is a key', () => {
    const end = read(['{"__proto__": {"polluted": true}, "constructor": 1}']);
    const value = end.type === 'object' ? end.value : {};
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('a long text in pieces of seven is read', () => {
    const text = JSON.stringify({ answer: 'ab"c😀\n'.repeat(150_000) });
    const stream = openJsonStream();
    for (let at = 0; at < text.length; at += 7) stream.write(text.slice(at, at + 7));
    expect(stream.end()).toEqual({ type: 'object', value: JSON.parse(text), from: 0, to: text.length });
  });
});

/** Every value with its path, the inner ones first: as they are told. */
function valuesOf(value: unknown, path: JsonPath): readonly (readonly [JsonPath, unknown])[] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, item]: [string, unknown]) =>
          valuesOf(item, [...path, Array.isArray(value) ? Number(key) : key]),
        )
      : [];
  return [...inner, [path, value]];
}

function added(texts: readonly (readonly [JsonPath, string])[]): ReadonlyMap<string, string> {
  const sums = new Map<string, string>();
  for (const [path, delta] of texts) {
    const key = JSON.stringify(path);
    sums.set(key, (sums.get(key) ?? '') + delta);
  }
  return sums;
}
