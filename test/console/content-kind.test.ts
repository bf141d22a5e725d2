import { expect, test } from 'vitest';

import { readContent } from '../../console/parts/content-kind.ts';

const kind = (text: string, name?: string): string => readContent(text, name).kind;

test('a file is what its name says, and any other text what its form says', () => {
  expect(kind('# Notes', 'NOTES.md')).toBe('markdown');
  expect(kind('# Notes')).toBe('text');
  expect(kind('one line, with a comma')).toBe('text');
  expect(kind('Hello, Ada\nHello, Bob\nHello, Eve\n')).toBe('text');
  expect(kind('a,b\n1,2\n')).toBe('text');
  expect(kind('a,b\n1,2\n', 'data.csv')).toBe('table');
  expect(kind('{"a": 1')).toBe('text');
  expect(kind('42')).toBe('text');
  expect(readContent(' [1, {"a": null}]')).toEqual({ kind: 'json', value: [1, { a: null }] });
});

test('a table has quoted cells with separators, quotes and line breaks', () => {
  expect(readContent('name;text\r\na;"b; ""c""\nd"\r\ne;\r\n')).toEqual({
    kind: 'table',
    rows: [
      ['name', 'text'],
      ['a', 'b; "c"\nd'],
      ['e', ''],
    ],
  });
});

test('a diff has its kinds of lines', () => {
  expect(readContent('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same')).toEqual({
    kind: 'diff',
    lines: [
      { kind: 'gap', text: '--- a/x' },
      { kind: 'gap', text: '+++ b/x' },
      { kind: 'gap', text: '@@ -1 +1 @@' },
      { kind: 'removed', text: '-old' },
      { kind: 'added', text: '+new' },
      { kind: 'same', text: ' same' },
    ],
  });
});

test.each(['"'.repeat(200_000), 'a,'.repeat(100_000), '\n'.repeat(200_000), '['.repeat(200_000)])(
  'a text of any form is read (%#)',
  (text) => {
    expect(kind(text)).toMatch(/^(?:text|table)$/);
  },
);
