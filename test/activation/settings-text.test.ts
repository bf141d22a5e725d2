import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { parseSettings } from '../../src/activation/settings-text.ts';

describe('settings as agents accept them', () => {
  test.each([
    ['{"a": 1}', { a: 1 }],
    ['\uFEFF{"a": [1, 2,],}', { a: [1, 2] }],
    [
      '// first\n{"a": "// no comment", /* in { } */ "b": "/* neither */"} // last',
      { a: '// no comment', b: '/* neither */' },
    ],
    ['{"a": [1, /* , */ ] , // ,\n}', { a: [1] }],
    [String.raw`{"a": "\",}", "b": ",]"}`, { a: '",}', b: ',]' }],
    ['{"a": 1 / 2}', undefined],
    ['{"a": [1,,]}', undefined],
    ['{"a": "no end}', undefined],
    ['{"a": 1} /* no end', undefined],
    ['[1]', undefined],
    ['null', undefined],
    ['', undefined],
  ])('%j', (text, value) => {
    expect(parseSettings(text)).toEqual(value);
  });

  test('any value with comments and blanks between its tokens, and a comma behind its last member, is that value', () => {
    const blank = fc.constantFrom('', ' ', '\n', '/* "a", */', '// }\n', '/**/');
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.infiniteStream(blank), (value, blanks) => {
        const tokens = JSON.stringify(value).match(/"(?:[^"\\]|\\.)*"|[^"[\]{},:]+|./gsu) ?? [];
        const inner = tokens.slice(0, -1).flatMap((token) => [token, blanks.next().value ?? '']);
        const comma = Object.keys(value).length === 0 ? '' : ',/**/';
        expect(parseSettings(`${inner.join('')}${comma}}`)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test.each(['\\"', '"\\"', '/*', '/* "', '//', ',', ', ', '[', '{"a":', '\\', '"', '"a",'])(
    'a megabyte of %j is read in one go',
    (piece) => {
      expect(parseSettings(`{"a": "${piece.repeat(1_000_000 / piece.length)}`)).toBeUndefined();
      expect(parseSettings(`{"a": ${piece.repeat(1_000_000 / piece.length)}`)).toBeUndefined();
    },
  );
});
