import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  LONG_TEXT,
  MAX_DEPTH,
  isReference,
  openStore,
  referencesIn,
  restoredValue,
  storedJson,
} from '../../src/journal/references.ts';
import { sha256 } from '../../src/platform/hash.ts';

function shelf() {
  const files = new Map<string, string>();
  return {
    files,
    keep: (bytes: Uint8Array) => {
      const $ref = `observations/${sha256(bytes)}`;
      files.set($ref, Buffer.from(bytes).toString('utf8'));
      return { $ref, bytes: bytes.length };
    },
    read: ({ $ref }: { readonly $ref: string }) => files.get($ref) ?? '',
  };
}

const same = (text: string): string => text;

describe('a stored value', () => {
  test('comes back equal, whatever its texts and keys are', () => {
    const keys = fc.oneof(fc.string(), fc.constantFrom('$ref', '$$ref', 'bytes', 'start', '__proto__', 'json'));
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(`observations/${'0'.repeat(64)}`, 'long '.repeat(2000), `\uD800${'half '.repeat(2000)}`),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ depthSize: 'small' }, texts, fc.integer(), fc.constant(null), tie('list'), tie('object')),
      list: fc.array(tie('tree'), { maxLength: 4 }),
      object: fc.dictionary(keys, tie('tree'), { maxKeys: 4 }),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const { keep, read } = shelf();
        const json = storedJson(openStore({ redact: same, keep })(value), keep);
        expect(restoredValue(JSON.parse(json), read)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('cannot be taken for a reference by what is in it', () => {
    const forged = { $ref: `observations/${'0'.repeat(64)}`, bytes: 1, start: '' };
    expect(isReference(forged)).toBe(true);
    const { keep, read } = shelf();
    const stored = openStore({ redact: same, keep })({ forged });
    expect(referencesIn(stored)).toEqual([]);
    expect(restoredValue(stored, read)).toEqual({ forged });
  });

  test('keeps a long text apart once, and names its start', () => {
    const { files, keep } = shelf();
    const text = `${'a'.repeat(199)}👍${'b'.repeat(LONG_TEXT)}`;
    const reference = { $ref: `observations/${sha256(text)}`, bytes: Buffer.byteLength(text), start: 'a'.repeat(199) };
    expect(openStore({ redact: same, keep })([text, { text }, 'x'.repeat(LONG_TEXT)])).toEqual([
      reference,
      { text: reference },
      'x'.repeat(LONG_TEXT),
    ]);
    expect([...files.values()]).toEqual([text]);
  });

  test('is kept apart as a whole where it is large without a long text', () => {
    const { files, keep, read } = shelf();
    const value = {
      type: 'note',
      items: Array.from({ length: 60_000 }, (_, place) => `line ${String(place)} of many`),
    };
    const json = storedJson(openStore({ redact: same, keep })(value), keep);
    expect(json.length).toBeLessThan(300);
    expect(files.size).toBe(1);
    expect(restoredValue(JSON.parse(json), read)).toEqual(value);
  });

  test('has its secrets taken out of texts and keys before anything is kept, and no key is lost', () => {
    const { files, keep } = shelf();
    const redact = (text: string): string => text.replaceAll(/secret-\d+/g, '***');
    const value = { 'secret-1': 1, 'secret-2': 'a secret-3', long: `secret-4 ${'x'.repeat(LONG_TEXT)}` };
    expect(openStore({ redact, keep })(value)).toEqual({
      '***': 1,
      '*** (2)': 'a ***',
      long: expect.objectContaining({ start: `*** ${'x'.repeat(196)}` }) as object,
    });
    expect([...files.values()]).toEqual([`*** ${'x'.repeat(LONG_TEXT)}`]);
  });

  test('that is too deep is refused, going in and coming out', () => {
    const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const { keep, read } = shelf();
    const fits: unknown = JSON.parse(nested(MAX_DEPTH));
    expect(openStore({ redact: same, keep })(fits)).toEqual(fits);
    for (const levels of [MAX_DEPTH + 1, 100_000]) {
      const value: unknown = JSON.parse(nested(levels));
      expect(() => openStore({ redact: same, keep })(value)).toThrow('more than 200 levels');
      expect(() => restoredValue(value, read)).toThrow('more than 200 levels');
    }
  });

  test('does not follow references from file to file without end', () => {
    const $ref = `observations/${'0'.repeat(64)}`;
    const reference = { $ref, bytes: 1, start: '', json: true };
    expect(() => restoredValue(reference, () => JSON.stringify(reference))).toThrow('levels');
  });
});
