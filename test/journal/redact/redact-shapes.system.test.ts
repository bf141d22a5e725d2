import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { createRedactor } from '../../../src/journal/redact/redact.ts';
import { runs } from '../../property-runs.ts';

const shapes = createRedactor([], { shapes: true });
/** Long enough that a search which is quadratic in it does not end. */
const LONG = 512 * 1024;

// Put together here, so that nobody who looks for keys finds one in this file.
const HEAD = ['-----', 'BEGIN'].join('');
const glued = (...parts: readonly string[]): string => parts.join('');
const letters = 'Ab3dEf6hIj9kLmN0pQrS'.repeat(3);
const jwt = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'dozjgNryP4J3jVmNHl0w5N'].join('.');
const pemBody = `${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB\n'.repeat(20)}AQC7==\n`;
const pem = (title: string, body = `\n${pemBody}`): string => `${HEAD} ${title}-----${body}-----END ${title}-----`;

const KEYS: Readonly<Record<string, string>> = {
  'an AWS key': glued('AK', 'IAIOSFODNN7EXAMPL2'),
  'a GitHub token': glued('gh', `p_${letters.slice(0, 36)}`),
  'a fine-grained GitHub token': glued('github', `_pat_${letters}`),
  'a key of a model provider': glued('sk', `-proj-${letters}-x_y`),
  'a Slack token': glued('xo', `xb-123456789012-${letters.slice(0, 24)}`),
  'a Google key': glued('AI', `za${letters.slice(0, 35)}`),
  'a web token': jwt,
  'a bearer': glued('Bear', `er ${letters}==`),
  'a private key': pem('RSA PRIVATE KEY'),
  'a private key with a head': pem(
    'EC PRIVATE KEY',
    `\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n${pemBody}`,
  ),
  'a private key in JSON': JSON.stringify(pem('PRIVATE KEY')).slice(1, -1),
};

describe('known by its looks is', () => {
  test.each(Object.entries(KEYS))('%s', (_, key) => {
    expect(shapes.text(`x = "${key}"; y`)).toBe('x = "[secret shape]"; y');
    expect(shapes.text(key)).toBe('[secret shape]');
  });

  test('a private key whose end was cut', () => {
    const cut = KEYS['a private key']?.slice(0, 400) ?? '';
    expect(shapes.text(cut)).toBe('[secret shape]');
  });
});

test('what only begins like a key stays', () => {
  const text = [
    'sk-short, task-management-is-not-a-key-at-all-really, ghp_abc',
    'eyJhbGciOiJIUzI1NiJ9.only-two-parts',
    'Bearer of bad news; AKIAlower',
    `${HEAD} PUBLIC KEY-----\n${pemBody}-----END PUBLIC KEY-----`,
    `a line "${HEAD} PRIVATE KEY-----" in the docs`,
  ].join('\n');
  expect(shapes.text(text)).toBe(text);
});

test('a configured secret is marked with its name, not with its shape', () => {
  const value = KEYS['a GitHub token'] ?? '';
  const both = createRedactor([{ name: 'GH', value }], { shapes: true });
  expect(both.text(`Bearer ${value} ${value}x`)).toBe('Bearer [secret GH] [secret GH]x');
  expect(createRedactor([{ name: 'GH', value: `${value}!more` }], { shapes: true }).text(`${value}!more`)).toBe(
    '[secret GH]',
  );
});

test('pieces give what the whole gives', () => {
  const words = fc.constantFrom(
    ...Object.values(KEYS),
    'sk-',
    'eyJ',
    '-----BEGIN ',
    'PRIVATE KEY-----',
    ' ',
    '\n',
    'Bear',
    'er ',
    'x',
    '.',
  );
  fc.assert(
    fc.property(
      fc.array(words, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 }),
      (parts, sizes) => {
        const data = Buffer.from(parts.join(''));
        const stream = shapes.stream();
        const written: Uint8Array[] = [];
        for (let at = 0, turn = 0; at < data.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          written.push(stream.write(data.subarray(at, at + size)));
          at += size;
        }
        expect(Buffer.concat([...written, stream.end()]).toString()).toBe(shapes.text(data.toString()));
      },
    ),
    { numRuns: runs(500) },
  );
});

test('a private key waits for the whole of its last line', () => {
  const key = `x ${KEYS['a private key'] ?? ''}`;
  for (const missing of [1, 4, 5, 12, 30]) {
    const stream = shapes.stream();
    const shown = [key.slice(0, -missing), key.slice(-missing)].map((piece) => stream.write(Buffer.from(piece)));
    expect(Buffer.concat([...shown, stream.end()]).toString()).toBe('x [secret shape]');
  }
});

describe('a megabyte is read once', () => {
  const starts = [
    'AKIA',
    'ghp_',
    'github_pat_',
    'sk-',
    'xoxb-',
    'AIza',
    'eyJ',
    'eyJ.',
    'eyJ-',
    'Bearer ',
    '-----BEGIN ',
  ];
  const repeated = (text: string): string => text.repeat(Math.ceil(LONG / text.length));

  test.each(starts)('of nothing but %s', (start) => {
    const found = shapes.text(repeated(start));
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThanOrEqual(repeated(start).length);
  });

  test.each(starts)('that goes on for ever after %s', (start) => {
    for (const body of ['a', 'A', '.', 'a.', ' ', '-']) {
      const text = start + repeated(body);
      expect(shapes.text(text).length).toBeGreaterThan(0);
    }
  });

  test('of heads of keys', () => {
    const text = repeated(`${HEAD} RSA PRIVATE KEY-----`);
    expect(shapes.text(text)).toBe(text);
  });

  test('and no more of it is held back than a key may be long', () => {
    const stream = shapes.stream();
    let written = 0;
    const chunk = Buffer.from('a'.repeat(4096));
    written += stream.write(Buffer.from(`${HEAD} PRIVATE KEY-----`)).length;
    for (let count = 0; count < 256; count += 1) written += stream.write(chunk).length;
    expect(written).toBeGreaterThan(256 * 4096 - 32 * 1024);
  });
});
