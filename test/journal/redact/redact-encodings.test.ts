import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../../src/journal/redact/redact.ts';
import { runs } from '../../property-runs.ts';

const SECRETS = [
  `pa$$w0rd"x\\y&Kq83+zt`,
  'wJalrXUtnFEMI/K7MDENG+bPxRfiCYzX9LEKEY12=',
  `CORP\\svc'a"b\\\\n:z é9%k`,
  `sk_live_${'0123456789abcdefABCDEF'.repeat(3)}xyz`,
];

const hexOf = (text: string): readonly string[] => Buffer.from(text).toString('hex').match(/../g) ?? [];
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const each = (text: string, encode: (character: string) => string): string => Array.from(text, encode).join('');
const special = (text: string, encode: (character: string) => string): string =>
  each(text, (character) => (/[a-z0-9]/i.test(character) ? character : encode(character)));
const code = (character: string): number => character.codePointAt(0) ?? 0;
const wrapped = (text: string, width: number): string =>
  (text.match(new RegExp(`.{1,${String(width)}}`, 'g')) ?? []).join('\n');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** How programs print a value, and what they print around it. */
const WRITERS: Readonly<Record<string, (value: string) => string>> = {
  'repr of Python': (value) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", value.includes('"') ? "\\'" : "'")}'`,
  'bytes of Python': (value) =>
    `b'${each(value.replaceAll('\\', '\\\\').replaceAll("'", "\\'"), (character) =>
      code(character) < 0x80
        ? character
        : hexOf(character)
            .map((pair) => `\\x${pair}`)
            .join(''),
    )}'`,
  'console.log of Node': (value) => inspect({ token: value }),
  'a buffer of Node': (value) => inspect(Buffer.from(value)),
  'digits with colons': (value) => hexOf(value).join(':'),
  'upper digits with spaces': (value) => hexOf(value).join(' ').toUpperCase(),
  'digits of mixed case': (value) =>
    hexOf(value)
      .map((pair, place) => (place % 2 === 0 ? pair : pair.toUpperCase()))
      .join(''),
  'digits in lines': (value) => wrapped(hexOf(value).join(''), 30),
  'an array of C': (value) =>
    hexOf(value)
      .map((pair) => `0x${pair}`)
      .join(', ')
      .slice(2),
  'escaped digits': (value) =>
    hexOf(value)
      .map((pair) => `\\x${pair}`)
      .join(''),
  od: (value) =>
    wrapped(hexOf(value).join(' '), 48)
      .split('\n')
      .map((line, place) => `${(place * 16).toString(8).padStart(7, '0')} ${line.trim()}`)
      .join('\n')
      .slice(8),
  'octal digits': (value) =>
    Array.from(Buffer.from(value), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
  'escape of JavaScript': (value) =>
    each(value, (character) =>
      /[\w@*+./-]/.test(character) ? character : `%${code(character).toString(16).toUpperCase().padStart(2, '0')}`,
    ),
  'percent-encoding without +': (value) => encodeURIComponent(value).replaceAll('%2B', '+'),
  'percent-encoding twice': (value) => encodeURIComponent(encodeURIComponent(value)),
  'percent-encoding of each byte': (value) =>
    hexOf(value)
      .map((pair) => `%${pair}`)
      .join(''),
  'the path of an address': (value) => new URL(`http://host/${value.replaceAll('%', '%25')}`).pathname.slice(1),
  "$'…' of bash": (value) => `$'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`,
  CSV: (value) => `"${value.replaceAll('"', '""')}"`,
  YAML: (value) => `'${value.replaceAll("'", "''")}'`,
  'JSON three times': (value) => json(json(json(value))),
  'mixed codes': (value) => json(value).replaceAll('&', '\\u0026').replaceAll("'", '\\U00000027'),
  'references in HTML': (value) => special(value, (character) => `&#x${code(character).toString(16)};`),
  'decimal references': (value) => special(value, (character) => `&#${String(code(character))};`),
  'HTML twice': (value) => value.replaceAll('&', '&amp;amp;').replaceAll('"', '&amp;quot;'),
  'base64 in 16 columns': (value) => wrapped(base64(value), 16),
  'base64 of more, in 19 columns': (value) => wrapped(base64(`user:${value}\n`), 19),
  'wrapped base64 in JSON': (value) => json(wrapped(base64(value), 20)),
};

describe('a secret is found in', () => {
  test.each(Object.entries(WRITERS))('%s', (_, write) => {
    for (const value of SECRETS) {
      const written = write(value);
      const shown = createRedactor([{ name: 'T', value }]).text(`before ${written} after`);
      expect([written, shown.includes('[secret T]')]).toEqual([written, true]);
      // Signs around it are left, characters of base64 that depend on neighbours, and the padding.
      expect(shown.replace('[secret T]', '').length).toBeLessThan('before  after'.length + 24);
    }
  });

  test('pieces as in the whole', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SECRETS),
        fc.array(fc.constantFrom(...Object.values(WRITERS)), { minLength: 1, maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }),
        (value, writers, sizes) => {
          const redactor = createRedactor([{ name: 'T', value }]);
          const data = Buffer.from(writers.map((write) => write(value)).join(' & \\ '));
          const stream = redactor.stream();
          const written: Uint8Array[] = [];
          for (let at = 0, turn = 0; at < data.length; turn += 1) {
            const size = sizes[turn % sizes.length] ?? 1;
            written.push(Uint8Array.from(stream.write(data.subarray(at, at + size))));
            at += size;
          }
          expect(Buffer.concat([...written, stream.end()]).toString()).toBe(
            Buffer.from(redactor.bytes(data)).toString(),
          );
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

test('what differs in one character from a secret is left', () => {
  for (const value of SECRETS)
    for (const [name, write] of Object.entries(WRITERS)) {
      const other = `${value.slice(0, 6)}#${value.slice(7)}`;
      const written = write(other);
      expect([name, createRedactor([{ name: 'T', value }]).text(written)]).toEqual([name, written]);
    }
});
