import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor, type NamedSecret } from '../../../src/journal/redact/redact.ts';
import { redactionProblem } from '../../../src/journal/redact/redact-variants.ts';
import { listSpellings } from './spellings.ts';
import { runs } from '../../property-runs.ts';

const VALUE = `pä/ss+w"o'r&d <x>=1\\ é~(!)*`;
/** Characters that writers escape or not: `#` and `?` would end the path of a URL, and a backslash is a slash there. */
const HARSH = `k3y+/='"&<>!;-\`^{|}~$,:@[]%é`;
const one = createRedactor([{ name: 'TOKEN', value: VALUE }]);

/** Encoders that are not ours, or that are written in another way than ours. */
const ENCODERS: Readonly<Record<string, (value: string) => string>> = {
  'as it is': (value) => value,
  'as JSON': (value) => JSON.stringify(value).slice(1, -1),
  'as JSON inside JSON': (value) => JSON.stringify(JSON.stringify(value).slice(1, -1)).slice(1, -1),
  'as ASCII JSON': (value) => ascii(JSON.stringify(value).slice(1, -1)),
  'as ASCII JSON in upper case': (value) => ascii(JSON.stringify(value).slice(1, -1), true),
  'as JSON of PHP': (value) => ascii(JSON.stringify(value).slice(1, -1)).replaceAll('/', '\\/'),
  'as JSON of Go': (value) =>
    JSON.stringify(value).slice(1, -1).replaceAll('&', '\\u0026').replaceAll('<', '\\u003c').replaceAll('>', '\\u003e'),
  'by encodeURIComponent': (value) => encodeURIComponent(value),
  'by encodeURI': (value) => encodeURI(value),
  'by encodeURIComponent, lower case': (value) =>
    encodeURIComponent(value).replaceAll(/%../g, (hex) => hex.toLowerCase()),
  'as a form': (value) => new URLSearchParams([['', value]]).toString().slice(1),
  'as the password of a URL': (value) => {
    const url = new URL('https://host/');
    url.password = value;
    return url.password;
  },
  'as base64': (value) => Buffer.from(value).toString('base64'),
  'as base64url': (value) => Buffer.from(value).toString('base64url'),
  'as base64 in a URL': (value) => encodeURIComponent(Buffer.from(value).toString('base64')),
  'as hexadecimal digits': (value) => Buffer.from(value).toString('hex'),
  'as upper hexadecimal digits': (value) => Buffer.from(value).toString('hex').toUpperCase(),
  'in a shell': (value) => value.split("'").join(`'\\''`),
  'in a shell as Python quotes it': (value) => value.split("'").join(`'"'"'`),
  'in HTML': (value) =>
    value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#x27;'),
  'as JSON of Flask': (value) => ascii(escaped(value, `<>&'`)),
  'as JSON of Gson': (value) => escaped(value, `<>&='`),
  'as JSON of System.Text.Json': (value) => ascii(escaped(value, '<>&\'"+`', true), true),
  'as JSON of PHP with its flags for HTML': (value) => ascii(escaped(value, `<>&'"`, true)).replaceAll('/', '\\/'),
  'as a string of a script of Django': (value) => escaped(value, '\\<>&\'"=-;`', true),
  'in a query, as an address of Node': (value) => address(`?k=${encodeURIComponent(value)}`).slice(3),
  'in HTML of PHP': (value) => html(value, { "'": '&#039;', '"': '&quot;' }),
  'in XML': (value) => html(value, { "'": '&apos;', '"': '&quot;' }),
  'in HTML of Go': (value) => html(value, { "'": '&#39;', '"': '&#34;' }),
  'in a template of Go': (value) => html(value, { "'": '&#39;', '"': '&#34;', '+': '&#43;' }),
  'in HTML of Handlebars': (value) => html(value, { "'": '&#x27;', '"': '&quot;', '`': '&#x60;', '=': '&#x3D;' }),
  'in HTML of Mustache': (value) =>
    html(value, { "'": '&#39;', '"': '&quot;', '`': '&#x60;', '=': '&#x3D;', '/': '&#x2F;' }),
  'in ASCII XML of Python': (value) => html(value, {}).replaceAll('é', '&#233;').replaceAll('ä', '&#228;'),
  'in the text of HTML': (value) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
};

/** JSON in which these characters are codes, as a writer for HTML has them. */
function escaped(value: string, characters: string, isUpper = false): string {
  return [...value]
    .map((unit) => {
      const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
      return characters.includes(unit) ? `\\u${isUpper ? hex.toUpperCase() : hex}` : JSON.stringify(unit).slice(1, -1);
    })
    .join('');
}

function html(value: string, quotes: Readonly<Record<string, string>>): string {
  const codes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', ...quotes };
  return [...value].map((character) => codes[character] ?? character).join('');
}

/** The end of an address, as Node writes it. */
function address(end: string): string {
  return new URL(`https://host/${end}`).href.slice('https://host/'.length);
}

function ascii(text: string, isUpper = false): string {
  return text
    .split('')
    .map((unit) => {
      const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
      return unit <= '\x7f' ? unit : `\\u${isUpper ? hex.toUpperCase() : hex}`;
    })
    .join('');
}

describe('a secret is found', () => {
  test.each(Object.entries(ENCODERS))('%s', (_, encode) => {
    expect(one.text(`before ${encode(VALUE)} after`)).toBe('before [secret TOKEN] after');
  });

  test('with every character that a writer may escape', () => {
    const redactor = createRedactor([{ name: 'HARSH', value: HARSH }]);
    const found = Object.entries({
      ...ENCODERS,
      'in the path of an address': (value: string) => address(value),
      'in the query of an address': (value: string) => address(`?${value}`).slice(1),
      'in the fragment of an address': (value: string) => address(`#${value}`).slice(1),
      'in the query of another address': (value: string) => new URL(`redis://host?${value}`).search.slice(1),
    }).map(([name, encode]) => [name, redactor.text(encode(HARSH))]);
    expect(found).toEqual(found.map(([name]) => [name, '[secret HARSH]']));
  });

  test('in base64 of something longer, wherever it starts', () => {
    for (const before of ['', 'a', 'ab', 'abc', 'user:'])
      for (const after of ['', '!', '!!', '\n'])
        for (const encoding of ['base64', 'base64url'] as const) {
          const whole = Buffer.from(`${before}${VALUE}${after}`).toString(encoding);
          const shown = one.text(whole);
          expect(shown).toContain('[secret TOKEN]');
          // What is left depends on the neighbours: two characters that tell a part of a byte, and the neighbours themselves.
          expect(shown.replace('[secret TOKEN]', '').replaceAll('=', '').length).toBeLessThanOrEqual(
            Math.ceil(((before.length + after.length) * 8) / 6) + 2,
          );
        }
  });

  test('in base64 that the usual programs wrap', () => {
    const value = Array.from({ length: 40 }, (_, place) => `${String(place * 7919)}x`).join('');
    const redactor = createRedactor([{ name: 'LONG', value }]);
    for (const width of [64, 76]) {
      const lines = (
        Buffer.from(value)
          .toString('base64')
          .match(new RegExp(`.{1,${String(width)}}`, 'g')) ?? []
      ).join('\n');
      expect(redactor.text(lines).replaceAll('[secret LONG]', '').trim().length).toBeLessThan(8);
    }
  });

  test('without the blanks around it, and in each line of several', () => {
    const key = `-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\nabc\n-----END PRIVATE KEY-----\n`;
    const redactor = createRedactor([
      { name: 'KEY', value: key },
      { name: 'BLANKS', value: '  spaced out\t' },
    ]);
    expect(redactor.text(`${key}|MIIEvQIBADANBgkq|spaced out|${JSON.stringify(key)}`)).toBe(
      '[secret KEY]|[secret KEY]|[secret BLANKS]|"[secret KEY]"',
    );
    expect(redactor.text('1: hkiG9w0BAQEFAASC\n2: abc')).toBe('1: [secret KEY]\n2: abc');
    expect(redactor.text('-----BEGIN PRIVATE KEY-----')).toBe('-----BEGIN PRIVATE KEY-----');
  });

  test('that is a part of a value: the password of a URL, a key in a JSON file', () => {
    const account = {
      type: 'service_account',
      token_uri: 'https://example.org/o/oauth2/token',
      nested: { private_key: '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----\n' },
      client_secret: 'c1ient-s3cret',
    };
    const redactor = createRedactor([
      { name: 'URL', value: 'postgres://app:p%40ssw0rd@db.example.org/main' },
      { name: 'ACCOUNT', value: JSON.stringify(account, undefined, 2) },
    ]);
    expect(redactor.text('connect app p%40ssw0rd p@ssw0rd db.example.org')).toBe(
      'connect app [secret URL] [secret URL] db.example.org',
    );
    expect(redactor.text('c1ient-s3cret MIIEvQIBADANBgkq service_account')).toBe(
      '[secret ACCOUNT] [secret ACCOUNT] service_account',
    );
    const odd = ['{"key": ', '[[[[[[[[[[[["key"]]]]]]]]]]]]', 'x://u:%zz%zz%zz@h', '{"key":{"__proto__":"abcdefgh"}}'];
    expect(
      createRedactor(odd.map((value, place) => ({ name: `N${String(place)}`, value }))).text('%zz%zz%zz abcdefgh'),
    ).toBe('[secret N2] [secret N3]');
  });

  test('in bytes that are no text', () => {
    const redactor = createRedactor([{ name: 'T', value: 'tokentok' }]);
    const data = Buffer.concat([Buffer.from([0xff, 0x00]), Buffer.from('tokentok'), Buffer.from([0xfe])]);
    expect([...redactor.bytes(data)]).toEqual([0xff, 0, ...Buffer.from('[secret T]'), 0xfe]);
  });
});

describe('what is left', () => {
  test('is the very same where nothing was found', () => {
    const data = Buffer.from('nothing of that kind');
    expect(one.bytes(data)).toBe(data);
    expect(one.text('half a character \ud800 stays')).toBe('half a character \ud800 stays');
    expect(one.isEmpty).toBe(false);
  });

  test('is everything where there are no secrets', () => {
    const none = createRedactor([]);
    const data = Buffer.from('anything');
    expect(none.isEmpty).toBe(true);
    expect(none.bytes(data)).toBe(data);
    expect(none.text('anything')).toBe('anything');
    const stream = none.stream();
    expect([stream.write(data), stream.end()]).toEqual([data, new Uint8Array()]);
  });

  test('holds nothing of a secret that overlaps another', () => {
    const redactor = createRedactor([
      { name: 'A', value: 'abcdefgh' },
      { name: 'B', value: 'efghijkl' },
      { name: 'C', value: 'abcdefghijklmnop' },
    ]);
    expect(redactor.text('-abcdefghijkl-')).toBe('-[secret A]-');
    expect(redactor.text('-abcdefghijklmnop-')).toBe('-[secret C]-');
    expect(redactor.text('efghijklabcdefgh')).toBe('[secret B][secret A]');
    expect(redactor.text('abcdefghabcdefghijklabcdefg')).toBe('[secret A][secret A]abcdefg');
  });

  test('tells a value of two names by the first', () => {
    const secrets = ['FIRST', 'SECOND'].map((name) => ({ name, value: 'the same value' }));
    expect(createRedactor(secrets).text('the same value')).toBe('[secret FIRST]');
  });

  test('has no mark that holds a secret or makes one with its neighbours', () => {
    const marked = (value: string, text: string): string =>
      createRedactor([
        { name: 'A', value: 'abcdefgh' },
        { name: 'B', value },
      ]).text(text);
    expect(marked('[secret A]', 'abcdefgh [secret A]')).toBe('<secret A> [secret B]');
    expect(marked(']xyz123', 'abcdefghxyz123')).toBe('<secret A>xyz123');
    expect(marked('xyz123[', 'xyz123abcdefgh')).toBe('xyz123<secret A>');
    expect(marked('xy[secret A]z', 'xyabcdefghz')).toBe('xy<secret A>z');
    expect(marked('secret A', 'abcdefgh secret A')).toBe('[withheld] [secret B]');
    const everything = ['[]', '<>', '{}', '()', '**', '||'].map((pair, place) => ({
      name: `S${String(place)}`,
      value: `${pair.slice(1)}value${String(place)}${pair.slice(0, 1)}`,
    }));
    expect(() => createRedactor(everything)).toThrow(/no mark can replace the secret "S0"/);
  });
});

describe('a value is refused that', () => {
  test.each([
    ['is short', 'true', 'has fewer than 6 bytes'],
    ['is empty', '', 'has fewer than 6 bytes'],
    ['is short without blanks', '  abc  \n', 'has fewer than 6 bytes'],
    ['is a word of every text', 'Password', 'is a common word'],
    ['is one character', 'aaaaaaaaaaaa', 'repeats itself'],
    ['is two characters', 'abababab', 'repeats itself'],
    ['repeats itself for long', 'x1'.repeat(1000), 'repeats itself'],
    ['starts with a long repetition', `${'ab'.repeat(1000)}c0123456789`, 'repeats itself'],
    ['has a megabyte', `${'0123456789abcdef'.repeat(65_536)}x`, 'has more than 32768 bytes'],
  ])('%s', (_, value, problem) => {
    expect(redactionProblem(value)).toBe(problem);
    expect(() => createRedactor([{ name: 'T', value }])).toThrow(`the secret "T" ${problem}`);
  });

  test('has an invalid name', () => {
    expect(() => createRedactor([{ name: 'a]\n', value: 'long enough' }])).toThrow('has an invalid name');
  });

  test('but not what people use', () => {
    const values = ['hunter2hunter2', '日本', 'c0rrect', '123456', 'correct horse battery staple'];
    expect(values.filter((value) => redactionProblem(value) !== undefined)).toEqual([]);
  });
});

const values = fc
  .oneof(
    fc.string({ minLength: 6, maxLength: 30 }),
    fc.string({ unit: 'binary', minLength: 6, maxLength: 20 }),
    // Few characters, so that secrets overlap each other and themselves.
    fc.string({ unit: fc.constantFrom('a', 'b', '/', '+', ']', ' '), minLength: 6, maxLength: 14 }),
    fc
      .array(fc.string({ minLength: 8, maxLength: 20 }), { minLength: 2, maxLength: 4 })
      .map((lines) => lines.join('\n')),
  )
  .filter((value) => redactionProblem(value) === undefined && !/\p{Surrogate}/u.test(value));
const secretLists = fc
  .uniqueArray(values, { minLength: 1, maxLength: 5 })
  .map((list): readonly NamedSecret[] => list.map((value, place) => ({ name: `S${String(place)}`, value })));
const surroundings = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.string({ unit: fc.constantFrom('a', 'b', '/', '+', ']', ' '), maxLength: 12 }),
);
const encoders = Object.values(ENCODERS);

interface Case {
  readonly secrets: readonly NamedSecret[];
  readonly text: string;
}

const cases: fc.Arbitrary<Case> = secretLists.chain((secrets) =>
  fc
    .array(
      fc.tuple(surroundings, fc.constantFrom(...secrets), fc.constantFrom(...encoders), fc.constantFrom('', 'a', 'ab')),
      { maxLength: 8 },
    )
    .map((parts) => ({
      secrets,
      text: parts
        .map(([around, { value }, encode, before]) =>
          before === ''
            ? `${around}${encode(value)}`
            : `${around}${Buffer.from(`${before}${value}z`).toString('base64')}`,
        )
        .join(''),
    })),
);

function inPieces(secrets: readonly NamedSecret[], data: Uint8Array, sizes: readonly number[], shapes = false): Buffer {
  const stream = createRedactor(secrets, { shapes }).stream();
  const written: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < data.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    // One piece of memory for all: what is kept must be a copy.
    const chunk = Uint8Array.from(data.subarray(at, at + size));
    written.push(Uint8Array.from(stream.write(chunk)));
    chunk.fill(0);
    at += size;
  }
  return Buffer.concat([...written, stream.end()]);
}

const pieceSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });

describe('whatever the secrets, the text and the pieces', () => {
  test('no spelling of any secret is left', () => {
    fc.assert(
      fc.property(cases, ({ secrets, text }) => {
        const shown = Buffer.from(createRedactor(secrets, { shapes: true }).bytes(Buffer.from(text)));
        const spellings = secrets.flatMap(({ value }) => [
          ...listSpellings(value),
          ...encoders.map((encode) => Buffer.from(encode(value))),
        ]);
        expect(spellings.filter((spelling) => shown.includes(spelling))).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });

  test('pieces give what the whole gives', () => {
    fc.assert(
      fc.property(cases, pieceSizes, fc.boolean(), ({ secrets, text }, sizes, shapes) => {
        const data = Buffer.from(text);
        const whole = Buffer.from(createRedactor(secrets, { shapes }).bytes(data));
        expect(inPieces(secrets, data, sizes, shapes).toString('latin1')).toBe(whole.toString('latin1'));
      }),
      { numRuns: runs(300) },
    );
  });

  test('a text gives what its bytes give', () => {
    fc.assert(
      fc.property(cases, fc.boolean(), ({ secrets, text }, shapes) => {
        const redactor = createRedactor(secrets, { shapes });
        expect(redactor.text(text)).toBe(Buffer.from(redactor.bytes(Buffer.from(text))).toString('utf8'));
      }),
      { numRuns: runs(300) },
    );
  });

  test('text without secrets is unchanged', () => {
    fc.assert(
      fc.property(secretLists, fc.array(surroundings, { maxLength: 10 }), pieceSizes, (secrets, parts, sizes) => {
        const data = Buffer.from(parts.join(''));
        fc.pre(!secrets.some(({ value }) => listSpellings(value).some((variant) => data.includes(variant))));
        expect(createRedactor(secrets).bytes(data)).toBe(data);
        expect(inPieces(secrets, data, sizes).equals(data)).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });
});

test('a megabyte that goes on like the start of a secret is read in one go', () => {
  const start = 'abcdefgh'.repeat(7);
  const redactor = createRedactor([
    { name: 'T', value: `${start}${'q1w2e3r4t5z6'.repeat(3)}${'0123456789'.repeat(3)}!` },
  ]);
  const text = start.repeat(20_000);
  expect(redactor.text(text)).toBe(text);
});

describe('output in pieces', () => {
  test('waits only as long as a secret could have begun', () => {
    const stream = createRedactor([{ name: 'T', value: 'tokentok' }]).stream();
    const write = (text: string): string => Buffer.from(stream.write(Buffer.from(text))).toString();
    expect(write('Password: ')).toBe('Password: ');
    expect(write('not')).toBe('no');
    expect(write('oken')).toBe('');
    expect(write('s')).toBe('tokens');
    expect(write('token')).toBe('');
    expect(write('tok')).toBe('[secret T]');
    expect(write('end to')).toBe('end ');
    expect(Buffer.from(stream.end()).toString()).toBe('to');
  });

  test('finds a secret that comes byte by byte', () => {
    expect(inPieces([{ name: 'T', value: VALUE }], Buffer.from(`a${VALUE}${VALUE}b`), [1]).toString()).toBe(
      'a[secret T][secret T]b',
    );
  });
});
