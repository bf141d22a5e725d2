import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { openMarkdown, renderMarkdown } from '../../src/cli/terminal/markdown.ts';
import type { MarkdownLook } from '../../src/cli/terminal/markdown-inline.ts';
import { styled } from '../../src/cli/terminal/styles.ts';
import { cleanText } from '../../src/core/text/text.ts';
import { textWidth } from '../../src/platform/text-width.ts';

const plain = (width: number): MarkdownLook => ({ width, isColored: false, style: (_, text) => text });
const colored = (width: number): MarkdownLook => ({ width, isColored: true, style: styled });
const shown = (text: string, width = 40): string => renderMarkdown(text, plain(width)).join('\n');
const styledText = (text: string, width = 40): string =>
  renderMarkdown(text, colored(width))
    .join('\n')
    .replaceAll('\u001B[', '<')
    .replaceAll(/<(\d+)m/g, '<$1>');

describe('without colors, the structure is shown and the marks stay', () => {
  test.each([
    ['# Title #\ntext', '# Title\ntext'],
    ['Title\n===\nOther\n---\ntext', '# Title\n## Other\ntext'],
    ['one\ntwo\n\n\n\nthree', 'one two\n\nthree'],
    [
      '- a long item that does not fit into one line\n- b\n  - c\n    more',
      '• a long item that does not fit into one\n  line\n• b\n  • c more',
    ],
    ['1. a\n\n   text of a\n2. b\n\ntext', '1. a\n\n   text of a\n2. b\n\ntext'],
    ['In 1980. It began\n1980. It went on', 'In 1980. It began 1980. It went on'],
    ['> a\n> b\n>> c\n\nd', '│ a b\n│ │ c\n\nd'],
    ['```js\nlet  a = 1;\n\n  # no heading\n```\nafter', '```js\nlet  a = 1;\n\n  # no heading\n```\nafter'],
    ['- a\n  ~~~\n  code\n  ~~~', '• a\n  ~~~\n  code\n  ~~~'],
    ['a\n***\nb', `a\n${'─'.repeat(40)}\nb`],
    ['| a | b |\n|---|--:|\n| x | 10 |\n| 数据 \\| | 2 |', 'a      │   b\n───────┼────\nx      │  10\n数据 | │   2'],
    ['a | b', 'a | b'],
    ['**b** *i* `c *d*` [l](https://e.org) a\\*b &lt;', '**b** *i* `c *d*` l (https://e.org) a*b\n<'],
    ['2 * 3 * 4 and snake_case_name and **open', '2 * 3 * 4 and snake_case_name and **open'],
  ])('%j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });
});

describe('with colors', () => {
  test.each([
    ['# T', '<4><1>T<22><24>'],
    ['## T', '<1>T<22>'],
    ['**b *i*** `c`', '<1>b <3>i<23><22> <36>c<39>'],
    ['[docs](https://e.org)', '<4>docs<24> <2>(https://e.org)<22>'],
    ['<https://e.org>', '<4>https://e.org<24>'],
    ['```js\na\n```', '  a'],
    ['a/__init__.py, __init__.py and __all__', 'a/__init__.py, __init__.py and <1>all<22>'],
    [
      '**aaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbb cccccccccccccc**',
      '<1>aaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbb<22>\n<1>cccccccccccccc<22>',
    ],
  ])('%j', (text, expected) => {
    expect(styledText(text)).toBe(expected);
  });

  test('a table wraps its cells, and one that is too wide becomes a list', () => {
    expect(shown('| name | about |\n|-|-|\n| a | one two three four five |', 20)).toBe(
      'name │ about\n─────┼──────────────\na    │ one two three\n     │ four five',
    );
    expect(shown('|a|b|c|d|\n|-|-|-|-|\n|1|2|3|4|', 20)).toBe('a: 1\nb: 2\nc: 3\nd: 4');
  });
});

const HOSTILE = fc.string({
  unit: fc.constantFrom(
    ...'# |- |1. |> |\n|\n\n|```|`|**|*|_|~~|[|](|)|<|>|&lt;|\\| |    |\t|a|word|数|，|✅'.split('|'),
    ...['|', '\u001B[2J', '\u001B]8;;http://e\u0007', '\u202E', '\r', '\u009B1m', '\u200B'].toReversed(),
  ),
  maxLength: 60,
});

test('whatever a model writes, and however it is cut: no control reaches the screen, and pieces give the same lines', () => {
  fc.assert(
    fc.property(HOSTILE, fc.nat(80), fc.integer({ min: 20, max: 60 }), (text, cut, width) => {
      const whole = renderMarkdown(text, plain(width));
      for (const line of whole) expect(cleanText(line)).toBe(line);
      const { add, growing, end } = openMarkdown(() => plain(width));
      const lines = [...add(text.slice(0, cut))];
      for (const line of growing()) expect(cleanText(line)).toBe(line);
      expect([...lines, ...add(text.slice(cut)), ...end()]).toEqual(whole);
      const bare = renderMarkdown(text, colored(width)).map((line) => line.replaceAll(/\u001B\[\d+m/g, ''));
      for (const line of bare) expect(cleanText(line)).toBe(line);
    }),
  );
});

test('prose never exceeds the width', () => {
  const word = fc.constantFrom('a', 'bcd', '**bold**', '`code`', '数据分析', '[l](http://e.org)', '\n', '\n- ', '\n> ');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), fc.integer({ min: 30, max: 60 }), (words, width) => {
      for (const line of renderMarkdown(words.join(' '), plain(width)))
        expect(textWidth(line)).toBeLessThanOrEqual(width);
    }),
  );
});

test('text that nests or repeats marks without end is rendered', () => {
  for (const unit of ['[', '*', '>', '`', '<', '- ', '|a', '_a_ ', '[a](', '    - a\n', '|a|\n|-|\n', '# ', ' '])
    expect(renderMarkdown(unit.repeat(3_000), plain(80)).length).toBeGreaterThanOrEqual(0);
});
