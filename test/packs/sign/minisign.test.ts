import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  formatPublicKey,
  formatSecretKey,
  formatSignature,
  idBytes,
  formatKeyId,
  isKeyId,
  parsePublicKey,
  parseSecretKey,
  parseSignature,
  publicKeyLine,
} from '../../../src/packs/sign/minisign.ts';
import { ENCRYPTED, PLAIN } from '../pack/minisign-answers.ts';

const bytes = (length: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array));
const id = bytes(8).map(formatKeyId);
const comment = fc.string({ maxLength: 80 });

describe('files of the minisign program', () => {
  test('a public key, also by its one line', () => {
    const key = parsePublicKey(PLAIN.publicText);
    expect(key).toEqual({ type: 'public-key', id: PLAIN.id, key: expect.any(Uint8Array) });
    expect(parsePublicKey(PLAIN.publicText.split('\n')[1] ?? '')).toEqual(key);
    expect(parsePublicKey(PLAIN.publicText.replaceAll('\n', '\r\n'))).toEqual(key);
    if (key.type === 'public-key') {
      expect(formatPublicKey(key)).toBe(PLAIN.publicText);
      expect(PLAIN.publicText).toContain(publicKeyLine(key));
    }
  });

  test.each([PLAIN.hashed, PLAIN.legacy, ENCRYPTED.hashed])('a signature round-trips', (text) => {
    const signature = parseSignature(text);
    expect(signature.type === 'signature' ? formatSignature(signature) : signature).toBe(text);
  });

  test.each([PLAIN.secretText, ENCRYPTED.secretText])('a secret key round-trips', (text) => {
    const key = parseSecretKey(text);
    expect(key.type === 'secret-key' ? formatSecretKey(key) : key).toBe(text);
  });

  test("an encrypted key has minisign's scrypt limits", () => {
    const key = parseSecretKey(ENCRYPTED.secretText);
    expect(key.type === 'secret-key' && key.encryption).toMatchObject({
      opsLimit: 33_554_432,
      memLimit: 1_073_741_824,
    });
  });
});

describe('formatted values can be parsed', () => {
  test('ids', () => {
    fc.assert(
      fc.property(bytes(8), (value) => {
        expect(isKeyId(formatKeyId(value))).toBe(true);
        expect(idBytes(formatKeyId(value))).toEqual(value);
      }),
    );
  });

  test('public keys', () => {
    fc.assert(
      fc.property(id, bytes(32), (keyId, key) => {
        expect(parsePublicKey(formatPublicKey({ id: keyId, key }))).toEqual({ type: 'public-key', id: keyId, key });
      }),
    );
  });

  test('signatures', () => {
    const signature = fc.record({
      keyId: id,
      isPrehashed: fc.boolean(),
      signature: bytes(64),
      untrustedComment: comment,
      trustedComment: comment,
      globalSignature: bytes(64),
    });
    fc.assert(
      fc.property(signature, (value) => {
        expect(parseSignature(formatSignature(value))).toEqual({ type: 'signature', ...value });
      }),
    );
  });

  test('secret keys', () => {
    const limit = fc.integer({ min: 0, max: 2 ** 31 });
    const key = fc.record(
      { comment, box: bytes(104), encryption: fc.record({ salt: bytes(32), opsLimit: limit, memLimit: limit }) },
      { requiredKeys: ['comment', 'box'] },
    );
    fc.assert(
      fc.property(key, (value) => {
        expect(parseSecretKey(formatSecretKey(value))).toEqual({ type: 'secret-key', ...value });
      }),
    );
  });
});

describe('invalid keys and signatures', () => {
  const [first = '', second = '', third = '', fourth = ''] = PLAIN.hashed.split('\n');

  test.each([
    ['', 'a signature has four lines'],
    [PLAIN.publicText, 'a signature has four lines'],
    [`${PLAIN.hashed}\n`, 'a signature has four lines'],
    ['\n'.repeat(100_000), 'a signature has four lines'],
    [['comment: x', second, third, fourth].join('\n'), 'the first line is not an untrusted comment'],
    [[`\uFEFF${first}`, second, third, fourth].join('\n'), 'the first line is not an untrusted comment'],
    [[`${first}\u001b[2J`, second, third, fourth].join('\n'), 'the first line is not an untrusted comment'],
    [[first, second, `trusted comment: a\rb`, fourth].join('\n'), 'the third line is not a trusted comment'],
    [
      [first, second, `trusted comment: ${'a'.repeat(9000)}`, fourth].join('\n'),
      'the third line is not a trusted comment',
    ],
    [[first, second, `${third}\u202e`, fourth].join('\n'), 'the third line is not a trusted comment'],
    [[first, `${second} `, third, fourth].join('\n'), 'the second line is not a signature'],
    [[first, second.slice(4), third, fourth].join('\n'), 'the second line is not a signature'],
    [[first, second.replace('RUS', 'RXS'), third, fourth].join('\n'), 'the second line is not a signature'],
    [[first, second.replaceAll('/', '_'), third, fourth].join('\n'), 'the second line is not a signature'],
    // The last digit carries bits that no byte has: another spelling of the same bytes.
    [[first, second.replace('E=', 'F='), third, fourth].join('\n'), 'the second line is not a signature'],
    [[first, second, third, `${fourth.slice(0, -3)}x==`].join('\n'), 'the fourth line is not a signature'],
    [[first, second, third, second].join('\n'), 'the fourth line is not a signature'],
  ])('%#', (text, reason) => {
    expect(parseSignature(text)).toEqual({ type: 'invalid', reason });
  });

  test.each([
    ['', 'the key is not a minisign key'],
    ['RWQ', 'the key is not a minisign key'],
    ['a\nb\nc', 'a public key has two lines'],
    [PLAIN.secretText, 'the key is not a minisign key'],
    [PLAIN.publicText.replace('RWS', 'RUS'), 'the key is not a minisign key'],
    [PLAIN.publicText.replace('public key', 'public\u0007key'), 'the first line is not an untrusted comment'],
  ])('public key %#', (text, reason) => {
    expect(parsePublicKey(text)).toEqual({ type: 'invalid', reason });
  });

  test('a secret key with excessive scrypt limits', () => {
    const key = {
      comment: '',
      box: new Uint8Array(104),
      encryption: { salt: new Uint8Array(32), opsLimit: 1, memLimit: 2 ** 40 },
    };
    expect(parseSecretKey(formatSecretKey(key))).toEqual({
      type: 'invalid',
      reason: 'its scrypt limits are too high',
    });
  });

  test('any text at all', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        expect([parsePublicKey(text).type, parseSecretKey(text).type, parseSignature(text).type]).toEqual([
          'invalid',
          'invalid',
          'invalid',
        ]);
      }),
    );
  });
});
