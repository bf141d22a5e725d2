import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { columnBefore, foldLine, lowered } from '../../../src/packs/scan/folded-line.ts';

describe('a folded line', () => {
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
  ])('of prose: %j becomes %j', (line, folded) => {
    expect(foldLine(line, 'prose')).toBe(folded);
  });

  test('of code keeps its stars', () => {
    expect(foldLine('rm  *.txt', 'code')).toBe('rm *.txt');
  });

  test('is the same whether or not there is anything to fold', () => {
    const line = fc.string({
      unit: fc.constantFrom('a', 'B', '|', ' ', ' ', '\t', '*', '\u0001', '\u00a0', '\ufeff', '\u2019'),
    });
    fc.assert(
      fc.property(line, fc.constantFrom('prose', 'code'), (text, kind) => {
        const known = text.replaceAll('\ufeff', '').replaceAll('\u2019', "'");
        const bare = kind === 'prose' ? known.replaceAll('*', '') : known;
        expect(foldLine(text, kind)).toBe(bare.replaceAll(/[\0-\x20\s]+/g, ' ').trim());
      }),
    );
  });

  test('every visible character of it stands at the column that is said', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\t', '*', '\u200b', '中', '\u{1f600}', '-') });
    fc.assert(
      fc.property(line, fc.constantFrom('prose', 'code'), (text, kind) => {
        const folded = foldLine(text, kind);
        for (const [at, unit] of folded.split('').entries())
          if (/[ab中-]/.test(unit)) expect(text[columnBefore(text, kind, at) - 1]).toBe(unit);
      }),
    );
  });

  test('in lower case is as long as before', () => {
    expect(lowered('\u0130ABC')).toBe('\u0130abc');
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('A', 'z', '\u0130', 'ß', 'Σ', '\u{1f600}', '\u{10400}') }),
        (text) => lowered(text).length === text.length,
      ),
    );
  });
});
