import { execFileSync } from 'node:child_process';
import path from 'node:path';

import { expect, test } from 'vitest';

import { walkTree } from '../../../src/platform/fs/tree-file.ts';
import { TREE_LIMITS, findTreeRefusal } from '../../../src/platform/fs/tree-walk.ts';
import { scratch } from '../../skills/registry/support.ts';
import { plant } from './tree-support.ts';

test('skipped entries are neither entered nor counted', () => {
  const root = plant(scratch(), { 'a.md': 'a', 'out/deep/x': 'x', 'keep/b.md': 'b', 'keep/skipped': 'x' });
  execFileSync('mkfifo', [path.join(root, 'out/pipe'), path.join(root, 'keep/pipe')]);
  const asked: string[] = [];
  const skip = (at: string, isFolder: () => boolean): boolean => {
    asked.push(isFolder() ? `${at}/` : at);
    return ['out', 'keep/pipe', 'keep/skipped'].includes(at);
  };
  const limits = { maxEntries: 3, maxBytes: 2, maxDepth: 2 };
  expect([...walkTree(root, { skip, limits })].map((entry) => entry.path)).toEqual(['', 'a.md', 'keep', 'keep/b.md']);
  expect(asked).toEqual(['a.md', 'keep/', 'keep/b.md', 'keep/pipe', 'keep/skipped', 'out/']);
});

test('each reason to refuse a tree has a hint of its own', () => {
  const root = plant(scratch(), { 'a/b/c.md': 'text', 'd.md': 'text' });
  const hint = (folder: string, limits = TREE_LIMITS): string | undefined => {
    try {
      return String([...walkTree(folder, { limits })].length);
    } catch (error) {
      return findTreeRefusal(error)?.hint;
    }
  };
  expect([
    hint(path.join(root, 'absent')),
    hint(root, { ...TREE_LIMITS, maxEntries: 2 }),
    hint(root, { ...TREE_LIMITS, maxBytes: 5 }),
    hint(root, { ...TREE_LIMITS, maxDepth: 1 }),
  ]).toEqual([
    'check the path of the folder',
    'remove files that are not needed',
    'remove or shorten large files',
    'move the files into fewer nested folders',
  ]);
  execFileSync('mkfifo', [path.join(root, 'pipe')]);
  expect(hint(root)).toBe('remove the pipe, socket or device');
});
