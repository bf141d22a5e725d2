import { describe, expect, test } from 'vitest';

import { openIgnores } from '../../src/core/ignore.ts';
import { BUILT_IN_IGNORES } from '../../src/packs/pack/pack-files.ts';

/** As a walk asks: every folder on the way first. */
function isIgnored(text: string, path: string, folder = ''): boolean {
  const own = folder === '' ? '.skillignore' : `${folder}/.skillignore`;
  const findRule = openIgnores({ names: ['.skillignore'], read: (file) => (file === own ? text : undefined) });
  const parts = path.replace(/\/$/, '').split('/');
  return parts.some((_, at) => {
    const isLast = at === parts.length - 1;
    return findRule(parts.slice(0, at + 1).join('/'), !isLast || path.endsWith('/')) !== undefined;
  });
}

test.each([
  ['*.log', 'a.log', true],
  ['*.log', 'deep/er/a.log', true],
  ['*.log', 'a.log.txt', false],
  ['/a.log', 'a.log', true],
  ['/a.log', 'b/a.log', false],
  ['docs/a', 'docs/a', true],
  ['docs/a', 'x/docs/a', false],
  ['build/', 'build/x', true],
  ['build/', 'a/build/', true],
  ['build/', 'build', false],
  ['**/cache', 'a/b/cache', true],
  // As git does it, not as it says it.
  ['a**/b', 'ab', true],
  ['a**/b', 'ax/y/b', true],
  ['a**/b', 'ax/y/c', false],
  ['a***/**', 'ab', true],
  ['a*/**', 'ab', false],
  ['a,b**/c', 'a', false],
  ['a,b**/c', 'a,bc', true],
  ['a/**/z', 'a/z', true],
  ['a/**/z', 'a/b/c/z', true],
  ['a/**', 'a/b', true],
  ['a/**', 'a/', false],
  ['*', '.hidden', true],
  ['?', '.', true],
  ['[a-c].txt', 'b.txt', true],
  ['[!a-c].txt', 'b.txt', false],
  ['[[:digit:]]x', '7x', true],
  ['[\\]]', ']', true],
  ['\\*.txt', '*.txt', true],
  ['\\*.txt', 'a.txt', false],
  ['\\#a', '#a', true],
  ['#a', '#a', false],
  ['\\!a', '!a', true],
  ['{a,b}', 'a', false],
  ['{a,b}', '{a,b}', true],
  ['a   ', 'a', true],
  ['a\\ ', 'a ', true],
  ['*.md\n!keep.md', 'keep.md', false],
  ['*.md\n!keep.md', 'x/keep.md', false],
  ['!keep.md\n*.md', 'keep.md', true],
  ['docs/\n!docs/keep.md', 'docs/keep.md', true],
  ['/*\n!/a', 'b', true],
  ['/*\n!/a', 'a', false],
  ['a\r\nb\r\n', 'b', true],
  ['\uFEFFa', 'a', true],
  ['/', 'a', false],
  ['[', '[', true],
])('%j leaves out %j: %s', (text, path, expected) => {
  expect(isIgnored(text, path)).toBe(expected);
});

describe('a file in a folder', () => {
  test('applies below its folder', () => {
    expect(isIgnored('a.txt', 'sub/x/a.txt', 'sub')).toBe(true);
    expect(isIgnored('/a.txt', 'sub/a.txt', 'sub')).toBe(true);
    expect(isIgnored('a.txt', 'a.txt', 'sub')).toBe(false);
    expect(isIgnored('a.txt', 's*b/a.txt', 's*b')).toBe(true);
    expect(isIgnored('a.txt', 'sxb/a.txt', 's*b')).toBe(false);
  });
});

test('returns the rule that excluded a path', () => {
  const findRule = openIgnores({
    names: ['.gitignore'],
    read: (file) => (file === 'sub/.gitignore' ? '# mine\n\n*.log\n' : undefined),
  });
  expect(findRule('sub/a.log', false)).toEqual({
    pattern: '*.log',
    from: 'sub/.gitignore',
    takes: false,
    foldersOnly: false,
    glob: expect.anything(),
  });
});

test('built-in rules exclude tool files, and ! includes them', () => {
  const findRule = openIgnores({ names: [], read: () => undefined, before: BUILT_IN_IGNORES });
  const isOut = (path: string, isFolder = false): boolean => findRule(path, isFolder) !== undefined;
  expect(
    ['.git', '.DS_Store', 'a/.gitignore', '.skillignore', 'x.pyc', 'a~', '._x'].filter((path) => !isOut(path)),
  ).toEqual([]);
  expect([isOut('node_modules', true), isOut('node_modules'), isOut('.env'), isOut('SKILL.md')]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  const findTaken = openIgnores({ names: ['.skillignore'], read: () => '!node_modules/', before: BUILT_IN_IGNORES });
  expect(findTaken('node_modules', true)).toBeUndefined();
});

test('very long lines and files are limited', () => {
  expect(isIgnored('a'.repeat(2000), 'a'.repeat(2000))).toBe(false);
  expect([isIgnored(`${'a\n'.repeat(1_999)}b`, 'b'), isIgnored(`${'a\n'.repeat(2_000)}b`, 'b')]).toEqual([true, false]);
  expect(isIgnored('*a'.repeat(500), `${'a'.repeat(500)}b`)).toBe(false);
});
