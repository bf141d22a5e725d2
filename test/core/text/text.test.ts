import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { cleanText, escapeXml, findHidden, isVisible, printable, quoted } from '../../../src/core/text/text.ts';
import { verifies } from '../../conformance/verifies.ts';
import { runs } from '../../property-runs.ts';

describe('cleanText', () => {
  it.each([
    ['plain text\n\twith a tab', 'plain text\n\twith a tab'],
    ['one\r\ntwo\rthree\u2028four', 'one\ntwo\nthree\nfour'],
    ['\ufeffmark', 'mark'],
    ['nul\0 bell\x07 del\x7f c1\x85', 'nul bell del c1'],
    ['\x1b[31mred\x1b[0m', 'red'],
    ['\x9b1;31mred', 'red'],
    ['title\x1b]0;owned\x07 done', 'title done'],
    ['link\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\', 'linktext'],
    ['open\x1b]0;never closed\nnext line', 'open0;never closed\nnext line'],
    ['cut\x1b[', 'cut'],
    ['\u202eevil\u202c \u2066x\u2069', 'evil x'],
    ['zero\u200bwidth\u2060\u00ad', 'zerowidth'],
    ['tags\u{e0041}\u{e0042}', 'tags'],
    ['select\ufe0f a\ufe0e b\u{e0100}', 'select a b'],
    ['join\u200der', 'joiner'],
    ['lone \ud800 half \udc00.', 'lone  half .'],
    ['数据分析 é ñ 한국어', '数据分析 é ñ 한국어'],
  ])('%j becomes %j', (text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  it.each(['❤️', '👩‍💻', '👩🏽‍💻', '🏳️‍🌈', '1️⃣', 'می‌خواهم', 'क्‍ष'])('keeps %s as it is', (text) => {
    expect(cleanText(text)).toBe(text);
  });

  verifies('FMT-7', 'cleaned text has nothing hidden in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const clean = cleanText(text);
        expect(findHidden(clean)).toBeUndefined();
        expect(cleanText(clean)).toBe(clean);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('calls visible only what it would not change', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        if (isVisible(text)) expect(findHidden(text)).toBeUndefined();
        if (findHidden(text) !== undefined) expect(isVisible(text)).toBe(false);
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('findHidden', () => {
  it('names the first offender and its kind', () => {
    expect(findHidden('ab\u202ec')).toEqual({ index: 2, codePoint: 0x202e, kind: 'hidden' });
    expect(findHidden('a\x1b[0m')).toEqual({ index: 1, codePoint: 0x1b, kind: 'control' });
    expect(findHidden('😀\u{e0041}')).toEqual({ index: 2, codePoint: 0xe0041, kind: 'hidden' });
  });

  it('takes no offence at tabs, line ends and emoji', () => {
    expect(findHidden('a\tb\r\nc\n👩‍💻 ❤️')).toBeUndefined();
  });
});

describe('printable', () => {
  it.each([
    ['plain', 'plain'],
    ['a\nb\tc\r', 'a\\nb\\tc\\r'],
    ['\x1b[31m', '\\x1b[31m'],
    ['\u202e\u{e0041}', '\\u{202e}\\u{e0041}'],
    ['\ud800', '\\u{d800}'],
    ['数据 😀', '数据 😀'],
  ])('%j is shown as %s', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('is one line of visible text, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(/[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/);
      }),
    );
  });
});

describe('quoted', () => {
  it('cuts long text, never inside a character', () => {
    expect(quoted('short')).toBe('"short"');
    expect(quoted('x'.repeat(80))).toBe(`"${'x'.repeat(59)}…"`);
    expect(quoted(`${'x'.repeat(58)}😀${'y'.repeat(40)}`)).toBe(`"${'x'.repeat(58)}…"`);
    // The end of a path says which file it is.
    expect(quoted(`/${'folder/'.repeat(20)}orders.csv`)).toBe(`"…${`/${'folder/'.repeat(20)}orders.csv`.slice(-59)}"`);
    expect(quoted(`host:///${'x'.repeat(80)}/none`)).toBe(`"…${'x'.repeat(54)}/none"`);
  });
});

describe('escapeXml', () => {
  it('leaves no way to close or open a tag', () => {
    expect(escapeXml(`</skill><system a="b" c='d'>&`)).toBe(
      '&lt;/skill&gt;&lt;system a=&quot;b&quot; c=&#39;d&#39;&gt;&amp;',
    );
    expect(escapeXml('nothing here')).toBe('nothing here');
  });
});
