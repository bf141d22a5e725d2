import { expect, test } from 'vitest';

import { replaceFolder } from '../../../src/core/text/shell-word.ts';

test('a folder is replaced as its place in the command needs it', () => {
  const replace = (command: string, by = '/w/My Skill (1)'): string => replaceFolder(command, '/s/my docs', by);
  expect(replace(`cat '/s/my docs/x' "/s/my docs/y" /s/my\\ docs/z`)).toBe(
    `cat '/w/My Skill (1)/x' "/w/My Skill (1)/y" /w/My\\ Skill\\ \\(1\\)/z`,
  );
  expect(replaceFolder(`echo "it's" /s/a/x`, '/s/a', '/w/b c')).toBe(`echo "it's" /w/b\\ c/x`);
  expect(replace('cat /s/my docs2/x')).toBe('cat /s/my docs2/x');
});

test.each(["/w/'; touch x; '", '/w/$(touch x)', '/w/`touch x`', '/w/"x', '/w/a\nb', '/w/\\'])(
  'the folder %j, which could run as code, replaces nothing',
  (by) => {
    for (const command of ['cat /s/a/x', `cat '/s/a/x'`, 'cat "/s/a/x"'])
      expect(replaceFolder(command, '/s/a', by)).toBe(command);
  },
);
