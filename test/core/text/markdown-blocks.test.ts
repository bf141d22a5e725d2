import { expect, test } from 'vitest';

import { readMarkdown } from '../../../src/core/text/markdown-blocks.ts';

const TOP = { quotes: 0, items: [] };

test('blocks know the quotes and list items around them', () => {
  const text = '- one\n  more\n\n  1. two\n     ```sh\n     a\n     ```\n> quoted\n>> deeper';
  const one = { marker: '-', column: 2 };
  const two = { marker: '1.', column: 5 };
  expect(readMarkdown(text).map(({ type, quotes, items }) => ({ type, quotes, items }))).toEqual([
    { type: 'paragraph', quotes: 0, items: [one] },
    { type: 'blank', ...TOP },
    { type: 'paragraph', quotes: 0, items: [one, two] },
    { type: 'fence', quotes: 0, items: [one, two] },
    { type: 'code', quotes: 0, items: [one, two] },
    { type: 'fence-end', quotes: 0, items: [one, two] },
    { type: 'paragraph', quotes: 1, items: [] },
    { type: 'paragraph', quotes: 2, items: [] },
  ]);
});

test('headings, rules, tables and code are read; HTML stays text', () => {
  expect(readMarkdown('# A #\nB\n---\n***\n<b>c</b>\n\n    d\n\n|e|f|\n|-|-|\n|1|2|\n~~~\n\tg')).toEqual([
    { type: 'heading', level: 1, text: 'A', ...TOP },
    { type: 'heading', level: 2, text: 'B', ...TOP },
    { type: 'rule', ...TOP },
    { type: 'paragraph', lines: ['<b>c</b>'], startsItem: false, ...TOP },
    { type: 'blank', ...TOP },
    { type: 'indented', text: 'd', ...TOP },
    {
      type: 'table',
      lines: ['|e|f|', '|-|-|', '|1|2|'],
      cells: [
        ['e', 'f'],
        ['-', '-'],
        ['1', '2'],
      ],
      startsItem: false,
      ...TOP,
    },
    { type: 'fence', text: '~~~', language: '', ...TOP },
    { type: 'code', text: '\tg', ...TOP },
  ]);
});
