import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { toRelativePath } from '../../../src/core/path.ts';
import { resolveBeneath, spelledAs } from '../../../src/platform/fs/resolve-beneath.ts';
import { scratch } from '../../skills/registry/support.ts';
import { isProblem } from '../../../src/core/problem.ts';

function resolve(root: string, text: string): string {
  const reading = toRelativePath(text);
  if (isProblem(reading)) throw new Error(reading.message);
  const resolved = resolveBeneath(root, reading, [root]);
  if (resolved.type === 'failed') return resolved.code;
  return `${resolved.path}${resolved.isThere ? '' : ' (not there)'}`;
}

describe('resolving a path', () => {
  test('follows links that stay inside the root', () => {
    const root = scratch();
    mkdirSync(path.join(root, 'a/b'), { recursive: true });
    writeFileSync(path.join(root, 'a/b/file'), '');
    const links: Readonly<Record<string, string>> = {
      up: 'a/../a/b',
      whole: root,
      'a/back': '../a/b/file',
      dangling: 'a/none/deeper',
      'dangling-up': 'none/../a',
      out: '..',
      'out-and-in': `../${path.basename(root)}/a`,
      loop: 'loop',
      'long-name': `a/${'n'.repeat(300)}`,
      'bad-name': 'a/\u202e',
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(root, name));
    const asked = ['up/file', 'whole/up', 'a/back', 'dangling', 'new/x', 'a/b/file/x'];
    expect(asked.map((text) => resolve(root, text))).toEqual([
      'a/b/file',
      'a/b',
      'a/b/file',
      'a/none/deeper (not there)',
      'new/x (not there)',
      'file/exists',
    ]);
    expect(
      ['dangling-up', 'out', 'out/x', 'out-and-in', 'loop', 'long-name', 'bad-name'].map((text) => resolve(root, text)),
    ).toEqual([
      'file/missing',
      'path/link-outside',
      'path/link-outside',
      'path/link-outside',
      'path/link-loop',
      'path/too-long',
      'path/control-character',
    ]);
  });
});

describe('a name on a case-insensitive file system', () => {
  const folder = (...names: readonly string[]) => ({
    isSame: (other: string) => names.some((name) => name.toLowerCase() === other.toLowerCase()),
    all: () => names,
  });

  test('gets the spelling of the folder', () => {
    expect(['.git', '.GIT', '.Git'].map((name) => spelledAs(name, folder('src', '.git')))).toEqual([
      '.git',
      '.git',
      '.git',
    ]);
    expect(spelledAs('readme.MD', folder('README.md'))).toBe('README.md');
    expect(spelledAs('123', folder('123'))).toBe('123');
  });

  test('is unchanged on a case-sensitive one, also if both names are hard links', () => {
    expect(spelledAs('Makefile', { isSame: () => false, all: () => ['makefile', 'Makefile'] })).toBe('Makefile');
    expect(spelledAs('Makefile', { isSame: () => true, all: () => ['makefile', 'Makefile'] })).toBe('Makefile');
  });
});
