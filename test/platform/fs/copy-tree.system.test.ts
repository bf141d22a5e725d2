import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { copyTree, type CopyTreeOptions } from '../../../src/platform/fs/copy-tree.ts';
import { removeTree } from '../../../src/platform/fs/remove-tree.ts';
import { readTreeDigest } from '../../../src/platform/fs/tree-digest.ts';
import { TREE_LIMITS } from '../../../src/platform/fs/tree-walk.ts';
import { scratch } from '../../skills/registry/support.ts';
import { RIGHT, SECRET, startSwapping } from './swap-race.ts';
import { EVERY_KIND, harvest, plant } from './tree-support.ts';
import { needs } from '../../needs.ts';

/** Read-only folders are not removed by what cleans up after tests, unless it is root. */
function place(): string {
  const base = scratch();
  const inner = path.join(base, 'inner');
  mkdirSync(inner);
  onTestFinished(async () => {
    await removeTree(inner);
  });
  return inner;
}

describe('the copy of a tree', () => {
  test('is exact to the byte, with exec bits, odd names, empty folders, links and times', async () => {
    const base = place();
    const from = plant(path.join(base, 'from'), EVERY_KIND);
    const before = harvest(from);
    for (const file of ['SKILL.md', 'tests/fixtures', 'scripts', '']) utimesSync(path.join(from, file), 1e9, 1e9 + 0.5);
    const to = path.join(base, 'to');
    const copied = await copyTree(from, { to, permissions: 'read-only', links: { out: '../../out', docs: 'x' } });
    const digest = await readTreeDigest(from);
    expect(digest.type).toBe('digest');
    expect(harvest(to)).toEqual({ ...before, out: '-> ../../out' });
    expect(harvest(from)).toEqual(before);
    expect(copied).toEqual({
      ...digest,
      copyFingerprint: expect.any(String),
      taken: ['docs'],
      isSettled: expect.any(Boolean),
    });
    // The copy can be known again by its looks, without being read.
    const copy = await readTreeDigest(to, { leaveOut: ['out'] });
    expect(copied.type === 'digest' && copy.type === 'digest' && [copy.digest, copy.fingerprint]).toEqual(
      copied.type === 'digest' && [copied.digest, copied.copyFingerprint],
    );
    const times = (root: string): readonly number[] =>
      ['SKILL.md', 'tests/fixtures', 'scripts', ''].map((file) => statSync(path.join(root, file)).mtimeMs);
    expect(times(to)).toEqual(times(from));
    expect(times(to)[0]).toBe(1e12 + 500);
  });

  test('is read-only or writable, whatever the modes of the source and the umask', async () => {
    const base = place();
    const from = plant(path.join(base, 'from'), { a: 'x', 'd/p': { program: 'x' } });
    chmodSync(path.join(from, 'a'), 0o4666);
    const mask = process.umask(0o077);
    await copyTree(from, { to: path.join(base, 'one'), permissions: 'read-only' });
    await copyTree(from, { to: path.join(base, 'two'), permissions: 'writable' });
    process.umask(mask);
    const modes = (root: string): readonly string[] =>
      ['', 'a', 'd', 'd/p'].map((file) => (lstatSync(path.join(base, root, file)).mode & 0o7777).toString(8));
    expect(modes('one')).toEqual(['555', '444', '555', '555']);
    expect(modes('two')).toEqual(['755', '644', '755', '755']);
  });

  test('files larger than one chunk are copied whole', async () => {
    const base = place();
    const from = plant(path.join(base, 'from'), {});
    for (const size of [4 * 1024 * 1024 - 1, 4 * 1024 * 1024, 9 * 1024 * 1024 + 7])
      writeFileSync(path.join(from, String(size)), Buffer.alloc(size, String(size)));
    const copied = await copyTree(from, { to: path.join(base, 'to'), permissions: 'writable' });
    const read = await readTreeDigest(from);
    expect(copied.type === 'digest' && read.type === 'digest' && copied.digest === read.digest).toBe(true);
    expect(harvest(path.join(base, 'to'))).toEqual(harvest(from));
  });

  test('shares blocks if the file system supports it', async () => {
    const reason = cloningReason();
    if (reason !== undefined) {
      console.log(`skipped: ${reason}`);
      return;
    }
    const base = place();
    const image = path.join(base, 'image');
    const mount = path.join(base, 'mount');
    mkdirSync(mount);
    writeFileSync(image, '');
    truncateSync(image, 400 * 1024 * 1024);
    execFileSync('mkfs.xfs', ['-q', '-m', 'reflink=1', image]);
    execFileSync('mount', ['-o', 'loop', image, mount]);
    try {
      const from = plant(path.join(mount, 'from'), { ...EVERY_KIND, big: Buffer.alloc(8 * 1024 * 1024, 'x') });
      const copied = await copyTree(from, { to: path.join(mount, 'to'), permissions: 'read-only' });
      expect(copied).toEqual({ ...(await readTreeDigest(from)), taken: [], isSettled: expect.any(Boolean) });
      expect(harvest(path.join(mount, 'to'))).toEqual(harvest(from));
    } finally {
      execFileSync('umount', [mount]);
    }
  });

  test('never contains a byte from outside while the tree is swapped with links', needs('linux'), async () => {
    const from = await startSwapping();
    const base = place();
    const outcomes = new Set<string>();
    const seen = new Set<string>();
    for (let round = 0; round < 150; round += 1) {
      const to = path.join(base, String(round));
      const copied = await copyTree(from, { to, permissions: 'writable' });
      outcomes.add(copied.type === 'refused' ? copied.problem : 'copied');
      if (existsSync(to)) for (const content of Object.values(harvest(to))) seen.add(content);
      await removeTree(to);
    }
    expect([...outcomes].filter((outcome) => !['changed', 'link-outside', 'copied'].includes(outcome))).toEqual([]);
    // Otherwise nothing was exchanged, and nothing shown.
    expect(outcomes.size).toBeGreaterThan(outcomes.has('copied') ? 1 : 0);
    // Half-made copies are looked at too. A link may be copied as a link: nothing is read through it.
    const links = ['-> ../outside', `-> ${path.join(path.dirname(from), 'outside/x.md')}`];
    const possible = new Set(['', Buffer.from(RIGHT).toString('base64'), ...links]);
    expect([...seen].filter((content) => !possible.has(content))).toEqual([]);
    expect(seen).not.toContain(Buffer.from(SECRET).toString('base64'));
  });

  test('leaves no file open, also on failure', needs('linux'), async () => {
    const base = place();
    const from = plant(path.join(base, 'from'), EVERY_KIND);
    writeFileSync(path.join(from, 'large'), Buffer.alloc(300_000, 'x'));
    const limits = { ...TREE_LIMITS, maxBytes: 4_000 };
    const signal = AbortSignal.abort(new Error('enough'));
    for (let number = 0; number < 100; number += 1) plant(from, { [`many/${String(number)}`]: 'x' });
    const before = readdirSync('/proc/self/fd').length;
    const ends: string[] = [];
    const attempts: Partial<CopyTreeOptions>[] = [
      {},
      { limits },
      { signal },
      { to: path.join(base, 'no/such/folder') },
    ];
    for (const [number, attempt] of attempts.entries()) {
      const options = { to: path.join(base, String(number)), permissions: 'writable', ...attempt } as const;
      const end = (copied: Awaited<ReturnType<typeof copyTree>>): string =>
        copied.type === 'refused' ? copied.problem : 'copied';
      ends.push(await copyTree(from, options).then(end, (error: Error) => error.message.split(':')[0] ?? ''));
    }
    expect(ends).toEqual(['copied', 'too-large', 'enough', 'ENOENT']);
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });

  test('stops when the signal aborts', async () => {
    const base = place();
    const from = plant(path.join(base, 'from'), {});
    for (let number = 0; number < 200; number += 1) writeFileSync(path.join(from, String(number)), 'x');
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(copyTree(from, { to: path.join(base, 'to'), permissions: 'writable', signal })).rejects.toThrow(
      'enough',
    );
  });
});

function cloningReason(): string | undefined {
  if (process.getuid?.() !== 0) return 'mounting a file system that shares blocks needs root';
  if (!existsSync('/sbin/mkfs.xfs') && !existsSync('/usr/sbin/mkfs.xfs')) return 'there is no mkfs.xfs';
  return undefined;
}
