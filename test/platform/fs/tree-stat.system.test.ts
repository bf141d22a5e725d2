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
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';

import { removeTree } from '../../../src/platform/fs/remove-tree.ts';
import { openTreeDigests, readTreeDigest } from '../../../src/platform/fs/tree-digest.ts';
import { fingerprintTree, lookAtTree } from '../../../src/platform/fs/tree-stat.ts';
import { TREE_LIMITS, TreeRefused } from '../../../src/platform/fs/tree-walk.ts';
import type { WalkOptions } from '../../../src/platform/fs/tree-walk.ts';
import { scratch, settle } from '../../registry/support.ts';
import { EVERY_KIND, plant } from './tree-support.ts';
import type { Planted, Tree } from './tree-support.ts';

/** By names, where that can be, and by descriptors: whoever leaves something out is always answered that way. */
function bothLooks(root: string, options: WalkOptions = {}): readonly [string, string] {
  return [answerOf(root, options), answerOf(root, { ...options, skip: () => false })];
}

function answerOf(root: string, options: WalkOptions): string {
  try {
    return fingerprintTree(root, options);
  } catch (error) {
    if (error instanceof TreeRefused) return `${error.refusal.problem} ${error.refusal.path}`;
    throw error;
  }
}

describe('what a tree looks like', () => {
  const name = fc.constantFrom('a', 'b', 'SKILL.md', 'é', 'é', '\u{1F600}', '\uFFFD', '.git', 'out', 'a b\n', '-');
  const planted: fc.Arbitrary<Planted> = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.constant({ program: 'x' }),
    fc.constant({ folder: true as const }),
    fc.constantFrom({ link: 'a' }, { link: '../x' }, { link: 'none' }),
  );
  const tree: fc.Arbitrary<Tree> = fc
    .uniqueArray(fc.tuple(name, name, planted), { selector: ([folder]) => folder, maxLength: 6 })
    .map((entries) => Object.fromEntries(entries.map(([folder, file, what]) => [`${folder}/${file}`, what])));
  const limits = fc.record({
    maxEntries: fc.constantFrom(2, 5, 100),
    maxBytes: fc.constantFrom(1, 4, 100),
    maxDepth: fc.constantFrom(1, 2, 64),
  });

  test('is the same by names and by descriptors, and so is the reason where there is none', () => {
    const base = scratch();
    let count = 0;
    fc.assert(
      fc.property(tree, limits, fc.subarray(['out', 'a']), (files, bounds, leaveOut) => {
        count += 1;
        const [byNames, byDescriptors] = bothLooks(plant(path.join(base, String(count)), files), {
          limits: bounds,
          leaveOut,
        });
        expect(byNames).toBe(byDescriptors);
      }),
      { numRuns: 300 },
    );
  });

  test('changes with each thing that can be seen from outside, by names as by descriptors', async () => {
    const root = plant(path.join(scratch(), 'a'), EVERY_KIND);
    const seen = [bothLooks(root)];
    const remembered: { readonly before: boolean; readonly after: boolean }[] = [];
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
      const look = lookAtTree(root, {}).seen;
      const before = look?.isSame() ?? false;
      change();
      remembered.push({ before, after: look?.isSame() ?? true });
      seen.push(bothLooks(root));
    }
    expect(remembered).toEqual(changes.map(() => ({ before: true, after: false })));
    expect(seen.map(([byNames]) => byNames)).toEqual(seen.map(([, byDescriptors]) => byDescriptors));
    expect(new Set(seen.map(([byNames]) => byNames)).size).toBe(changes.length + 1);
    expect(seen.at(-1)?.[0]).toBe('not-regular SKILL.md');
  });

  test('of a small tree at rest is compared with one before, of any other it is made anew', async () => {
    const base = scratch();
    const files = (count: number): Tree =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [String(at), 'x']));
    const [small, large] = [plant(path.join(base, 'small'), files(63)), plant(path.join(base, 'large'), files(64))];
    const soon = Date.now() / 1000 + 1_000.5;
    utimesSync(path.join(small, '0'), soon, soon);
    expect(lookAtTree(small, {}).seen).toBeUndefined();
    utimesSync(path.join(small, '0'), 1.5, 1.5);
    await settle();
    const { seen } = lookAtTree(small, {});
    expect(seen?.isSame()).toBe(true);
    rmSync(small, { recursive: true });
    expect(seen?.isSame()).toBe(false);
    expect(lookAtTree(large, {}).seen).toBeUndefined();
  });

  test('is that of the folder where the tree is a link to one, and none where it is gone', () => {
    const base = scratch();
    const root = plant(path.join(base, 'a'), EVERY_KIND);
    symlinkSync('a', path.join(base, 'link'));
    expect(bothLooks(path.join(base, 'link'))).toEqual(bothLooks(root));
    expect(bothLooks(path.join(base, 'none'))).toEqual(['gone ', 'gone ']);
    expect(bothLooks(path.join(root, 'SKILL.md'))).toEqual(['gone ', 'gone ']);
  });

  test.runIf(process.platform === 'linux')(
    'can be had of a tree that is deeper than the longest path, and its digest is known by it',
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
      const [byNames, byDescriptors] = bothLooks(root);
      expect(byNames).toMatch(/^[0-9a-f]{64}$/);
      expect(byNames).toBe(byDescriptors);
      await settle();
      const digests = openTreeDigests();
      const read = await digests.of(root);
      expect(read).toMatchObject({ type: 'digest', fingerprint: byNames });
      expect(read.type === 'digest' && digests.known(root) === read.digest).toBe(true);
    },
  );

  test('of limits: what is too much for a digest is too much for a look', async () => {
    const root = plant(path.join(scratch(), 'a'), { a: 'xx', 'b/c': 'xx', 'b/d': { link: 'c' } });
    for (const limits of [{ maxEntries: 3 }, { maxBytes: 4 }, { maxDepth: 1 }].map((some) => ({
      ...TREE_LIMITS,
      ...some,
    }))) {
      const read = await readTreeDigest(root, { limits });
      const problem = read.type === 'refused' ? `${read.problem} ${read.path}` : 'none';
      expect(bothLooks(root, { limits })).toEqual([problem, problem]);
      expect(problem).toMatch(/^too-/);
    }
  });
});
