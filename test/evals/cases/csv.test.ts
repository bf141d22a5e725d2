import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readCsv } from '../../../src/evals/cases/document.ts';

const textsOf = (source: string): unknown => {
  const read = readCsv(source);
  return read.type === 'read' ? read.rows.map((row) => row.map(({ text }) => text)) : read;
};

describe('comma-separated values', () => {
  test.each([
    [
      'a,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      '\uFEFFa,b\r\n1,\r\n',
      [
        ['a', 'b'],
        ['1', ''],
      ],
    ],
    ['a\n\n \n1\n', [['a'], ['1']]],
    ['"a ""b"" c","x,\ny"\n', [['a "b" c', 'x,\ny']]],
    ['a,', [['a', '']]],
    ['', []],
    [
      'a\tb\n1\t2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
  ])('%j', (source, rows) => {
    expect(textsOf(source)).toEqual(rows);
  });

  test.each([
    ['a,"b', { line: 1, column: 3 }],
    ['a\n"b"c\n', { line: 2, column: 1 }],
  ])('%j is invalid at its position', (source, at) => {
    expect(readCsv(source)).toEqual({
      type: 'broken',
      at,
      reason: 'unterminated quote, or text after a closing quote',
    });
  });

  test('a cell after a multiline cell has the right position', () => {
    const read = readCsv('"a\nb",c\nd,e\n');
    expect(read).toEqual({
      type: 'read',
      rows: [
        [
          { line: 1, column: 1, text: 'a\nb' },
          { line: 2, column: 4, text: 'c' },
        ],
        [
          { line: 3, column: 1, text: 'd' },
          { line: 3, column: 3, text: 'e' },
        ],
      ],
    });
  });

  test('quoted cells round-trip', () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 }), (rows) => {
        // The first line shows the separator.
        const all = [['a', 'b'], ...rows];
        const written = all.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(',')).join('\r\n');
        expect(textsOf(written)).toEqual(all);
      }),
    );
  });

  test('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', ' ', ';') }), (source) => {
        expect(['read', 'broken']).toContain(readCsv(source).type);
      }),
    );
  });
});
