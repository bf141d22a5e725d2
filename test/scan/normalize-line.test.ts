import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { lowerCase, normalizeLine, sourceColumn } from '../../src/scan/normalize-line.ts';

describe('normalizeLine', () => {
  test.each([
    ['  two   blanks\tand tabs ', 'two blanks and tabs'],
    ['**bold** * and *slanted*', 'bold and slanted'],
    ['in\u200bvisi\u00adble', 'invisible'],
    ['\uff23\uff35\uff32\uff2c', 'CURL'],
    ['it\u2019s \u201cit\u201d', `it's "it"`],
    ['a\u00a0b\u3000c', 'a b c'],
    ['中文，日本語', '中文,日本語'],
    ['', ''],
    ['*', ''],
  ])('turns the prose %j into %j', (line, normalized) => {
    expect(normalizeLine(line, 'prose')).toBe(normalized);
  });

  test('keeps asterisks in code', () => {
    expect(normalizeLine('rm  *.txt', 'code')).toBe('rm *.txt');
  });

  test('removes the same characters on the fast and the general path', () => {
    const line = fc.string({
      unit: fc.constantFrom('a', 'B', '|', ' ', ' ', '\t', '*', '\u0001', '\u00a0', '\ufeff', '\u2019'),
    });
    fc.assert(
      fc.property(line, fc.constantFrom('prose', 'code'), (text, kind) => {
        const known = text.replaceAll('\ufeff', '').replaceAll('\u2019', "'");
        const bare = kind === 'prose' ? known.replaceAll('*', '') : known;
        expect(normalizeLine(text, kind)).toBe(bare.replaceAll(/[\0-\x20\s]+/g, ' ').trim());
      }),
    );
  });

  test('sourceColumn returns the original column of every visible character', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\t', '*', '\u200b', '中', '\u{1f600}', '-') });
    fc.assert(
      fc.property(line, fc.constantFrom('prose', 'code'), (text, kind) => {
        const normalized = normalizeLine(text, kind);
        for (const [at, unit] of normalized.split('').entries())
          if (/[ab中-]/.test(unit)) expect(text[sourceColumn(text, kind, at) - 1]).toBe(unit);
      }),
    );
  });

  test('lowerCase keeps the length', () => {
    expect(lowerCase('\u0130ABC')).toBe('\u0130abc');
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('A', 'z', '\u0130', 'ß', 'Σ', '\u{1f600}', '\u{10400}') }),
        (text) => lowerCase(text).length === text.length,
      ),
    );
  });
});
