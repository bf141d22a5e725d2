/** The rules of ignore files as git itself applies them, on random rules and paths. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { openIgnores } from '../../src/core/ignore.ts';
import { scratch } from '../skills/registry/support.ts';
import { runs } from '../property-runs.ts';

const PATHS = [
  'a',
  'b',
  'ab',
  'a/a',
  'a/b',
  'a/b/a',
  'b/ab',
  '.a',
  'b/.a',
  'a/.b/ab',
  'ab/a b',
  'b/a/b/ab',
  'a/b/ab/.a',
  '*',
  'b/[a]',
];

const part = fc.array(
  fc.constantFrom('a', 'b', 'a', 'b', '*', '?', '**', '.', '[ab]', '[!a]', '[a-b]', '\\a', '\\*', ' ', '{', ','),
  {
    minLength: 1,
    maxLength: 3,
  },
);
const pattern = fc
  .tuple(
    fc.constantFrom('', '', '!', '/', '!/'),
    fc.array(part, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '/'),
  )
  .map(([start, parts, end]) => start + parts.map((each) => each.join('')).join('/') + end);

function ours(text: string): readonly string[] {
  const findRule = openIgnores({
    names: ['.gitignore'],
    read: (file) => (file === '.gitignore' ? text : undefined),
  });
  return PATHS.filter((file) => {
    const parts = file.split('/');
    return parts.some((_, at) => {
      const isFolder = at < parts.length - 1 || FOLDERS.has(file);
      return findRule(parts.slice(0, at + 1).join('/'), isFolder) !== undefined;
    });
  });
}

const FOLDERS = new Set(PATHS.filter((file) => PATHS.some((other) => other.startsWith(`${file}/`))));

test('the same paths are left out as by git', () => {
  const base = scratch();
  const git = (args: readonly string[], input = ''): string =>
    spawnSync('git', args, { cwd: base, input, encoding: 'utf8' }).stdout;
  git(['init', '-q']);
  for (const file of PATHS) {
    mkdirSync(path.join(base, FOLDERS.has(file) ? file : path.dirname(file)), { recursive: true });
    if (!FOLDERS.has(file)) writeFileSync(path.join(base, file), '');
  }
  fc.assert(
    fc.property(fc.array(pattern, { minLength: 1, maxLength: 3 }), (lines) => {
      const text = `${lines.join('\n')}\n`;
      writeFileSync(path.join(base, '.gitignore'), text);
      const theirs = git(
        ['-c', 'core.excludesFile=/dev/null', 'check-ignore', '--no-index', '-z', '--stdin'],
        PATHS.join('\0'),
      );
      expect(ours(text)).toEqual(theirs.split('\0').filter((file) => file !== ''));
    }),
    { numRuns: runs(400) },
  );
});
