import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { breakWords, wrapWords } from '../../src/cli/terminal/wrap.ts';
import { textWidth } from '../../src/platform/text-width.ts';

describe('wrapWords', () => {
  test('breaks between words, indents the rest, and keeps a long word whole', () => {
    expect(wrapWords('one two three', { width: 8 })).toBe('one two\nthree');
    expect(wrapWords('one two three', { width: 9, indent: 2, column: 2 })).toBe('one two\n  three');
    expect(wrapWords('a verylongword b', { width: 6 })).toBe('a\nverylongword\nb');
    expect(wrapWords('verylongword b', { width: 8, indent: 4, column: 4 })).toBe('verylongword\n    b');
    expect(wrapWords('one\n\n  two', { width: 80 })).toBe('one\n\n  two');
  });

  test('counts columns: wide characters take two, styles take none', () => {
    expect(wrapWords('✅ ok ✅ ok', { width: 5 })).toBe('✅ ok\n✅ ok');
    expect(wrapWords('\u001B[1mone\u001B[22m two', { width: 7 })).toBe('\u001B[1mone\u001B[22m two');
    expect(wrapWords('数据分析，报告', { width: 9 })).toBe('数据分\n析，报告');
  });

  test('never exceeds the width between words and loses no character', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'bc', ' ', '\n', '数', '，', '✅'), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 20 }), (whole, width) => {
        const wrapped = wrapWords(whole, { width });
        expect(wrapped.replaceAll(/\s/g, '')).toBe(whole.replaceAll(/\s/g, ''));
        for (const line of wrapped.split('\n'))
          if (/\S\s+\S/.test(line)) expect(textWidth(line.trimEnd())).toBeLessThanOrEqual(width);
        const broken = breakWords(whole, width);
        expect(broken.join('').replaceAll(/\s/g, '')).toBe(whole.replaceAll(/\s/g, ''));
        for (const line of broken) expect(textWidth(line.trimEnd())).toBeLessThanOrEqual(width);
      }),
    );
  });
});
