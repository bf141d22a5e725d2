import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { findHidden } from '../../../src/core/text/text.ts';
import { visibleJson } from '../../../src/core/json/visible-json.ts';

describe('visible JSON', () => {
  test('has no character that acts or hides, and reads as the same value', () => {
    const odd = fc.constantFrom(
      '\u007F',
      '\u009B',
      '\u2028',
      '\u202E',
      '\u200B',
      '\u{E0041}',
      '\uD800',
      '\uFEFF',
      '\u001B',
    );
    const texts = fc.array(fc.oneof(odd, fc.string({ unit: 'binary' }), fc.string())).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.dictionary(texts, texts), (value) => {
        const json = visibleJson(JSON.stringify(value));
        expect(findHidden(json)).toBeUndefined();
        expect(json).not.toContain('\n');
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });

  test('has an escape in the place of each half of a character', () => {
    const nasty = { text: '\u202ea\u2028b\u0085c\u{e0041}d\u007f\ud800 👩‍👩‍👧 é' };
    expect(visibleJson(JSON.stringify(nasty))).toBe(
      '{"text":"\\u202ea\\u2028b\\u0085c\\udb40\\udc41d\\u007f\\ud800 👩‍👩‍👧 é"}',
    );
  });

  test('leaves what people write as it is', () => {
    const text = JSON.stringify('naïve — 漢字 👩‍👩‍👧 ❤️ नमस्ते');
    expect(visibleJson(text)).toBe(text);
  });
});
