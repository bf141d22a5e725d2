import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { removeTree } from '../../../src/platform/fs/remove-tree.ts';
import { openTreeDigests, readTreeDigest } from '../../../src/platform/fs/tree-digest.ts';
import { TreeFingerprint } from '../../../src/platform/fs/tree-stat.ts';
import { TREE_LIMITS, findTreeRefusal, type WalkOptions } from '../../../src/platform/fs/tree-walk.ts';
import { scratch, settle } from '../../skills/registry/support.ts';
import { EVERY_KIND, plant } from './tree-support.ts';
import { needs } from '../../needs.ts';

function outcome(root: string, options: WalkOptions = {}): string {
  try {
    return TreeFingerprint.read(root, options).digest();
  } catch (error) {
    const refusal = findTreeRefusal(error);
    if (refusal !== undefined) return `${refusal.problem} ${refusal.path}`;
    throw error;
  }
}

describe('the fingerprint of a tree', () => {
  test('changes with every kind of metadata change', async () => {
    const root = plant(path.join(scratch(), 'a'), EVERY_KIND);
    const seen = [outcome(root)];
    const changes = [
      () => appendFileSync(path.join(root, 'empty.txt'), 'x'),
      () => chmodSync(path.join(root, 'empty.txt'), 0o755),
      () => utimesSync(path.join(root, 'SKILL.md'), 1.5, 1.5),
      () => renameSync(path.join(root, 'empty.txt'), path.join(root, 'Empty.txt')),
      () => mkdirSync(path.join(root, 'more')),
      () => {
        renameSync(path.join(root, 'assets'), path.join(root, '../assets'));
        symlinkSync('../assets', path.join(root, 'assets'));
      },
      () => rmSync(path.join(root, '.hidden/.dot')),
      () => {
        rmSync(path.join(root, 'SKILL.md'));
        execFileSync('mkfifo', [path.join(root, 'SKILL.md')]);
      },
    ];
    for (const change of changes) {
      await settle();
      expect(outcome(root)).toBe(seen.at(-1));
      change();
      seen.push(outcome(root));
    }
    expect(new Set(seen).size).toBe(changes.length + 1);
    expect(seen.at(-1)).toBe('not-regular SKILL.md');
  });

  test('follows a link at the root, and is refused if the root does not exist', () => {
    const base = scratch();
    const root = plant(path.join(base, 'a'), EVERY_KIND);
    symlinkSync('a', path.join(base, 'link'));
    expect(outcome(path.join(base, 'link'))).toBe(outcome(root));
    expect(outcome(path.join(base, 'none'))).toBe('gone ');
    expect(outcome(path.join(root, 'SKILL.md'))).toBe('gone ');
  });

  test(
    'works for a tree that is deeper than the longest path, and its digest is remembered',
    needs('linux'),
    async () => {
      const base = path.join(scratch(), 'inner');
      mkdirSync(base);
      onTestFinished(async () => {
        await removeTree(base);
      });
      const root = plant(path.join(base, 'a'), { 'SKILL.md': 'x' });
      const held = [openSync(root, 'r')];
      for (let depth = 0; depth < 20; depth += 1) {
        const place = `/proc/self/fd/${String(held.at(-1))}/${'d'.repeat(250)}`;
        mkdirSync(place);
        held.push(openSync(place, 'r'));
      }
      writeFileSync(`/proc/self/fd/${String(held.at(-1))}/leaf`, 'x');
      for (const descriptor of held) closeSync(descriptor);
      const fingerprint = outcome(root);
      expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
      await settle();
      const digests = openTreeDigests();
      const read = await digests.of(root);
      expect(read).toMatchObject({ type: 'digest', fingerprint });
      expect(read.type === 'digest' && digests.known(root) === read.digest).toBe(true);
    },
  );

  test('has the same limits as a digest', async () => {
    const root = plant(path.join(scratch(), 'a'), { a: 'xx', 'b/c': 'xx', 'b/d': { link: 'c' } });
    for (const limits of [{ maxEntries: 3 }, { maxBytes: 4 }, { maxDepth: 1 }].map((some) => ({
      ...TREE_LIMITS,
      ...some,
    }))) {
      const read = await readTreeDigest(root, { limits });
      const problem = read.type === 'refused' ? `${read.problem} ${read.path}` : 'none';
      expect(outcome(root, { limits })).toBe(problem);
      expect(problem).toMatch(/^too-/);
    }
  });
});
