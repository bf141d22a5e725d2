import { execFileSync } from 'node:child_process';
import path from 'node:path';

import { expect, test } from 'vitest';

import { walkTree } from '../../../src/platform/fs/tree-walk.ts';
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
