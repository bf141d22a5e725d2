import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { needsRecovery, withRoot } from '../../../src/packs/root/open-root.ts';
import { verifies } from '../../conformance/verifies.ts';
import { runAsOrdinaryUser, scratch } from '../../skills/registry/support.ts';
import { bringBack, install, leftovers, skillFiles, staged, treeOf } from './support.ts';
import { needs } from '../../needs.ts';

describe('a disk that is full', needs('mounts'), () => {
  verifies('PACK-3', 'at any moment refuses, and the root is as before', async () => {
    const disk = mounted('size=400k');
    const root = path.join(disk, 'root');
    await install(root, { alpha: '1' });
    const before = treeOf(root);
    const fill = path.join(disk, 'fill');
    const ends = new Set<string>();
    for (let room = 0; room < 100; room += 4) {
      const free = Number(execFileSync('stat', ['-f', '-c', '%a', disk], { encoding: 'utf8' })) * 4096;
      writeFileSync(fill, Buffer.alloc(Math.max(0, free - room * 1024)));
      const end = await filled(root);
      ends.add(end);
      rmSync(fill);
      expect(needsRecovery(root)).toBe(false);
      expect(leftovers(root)).toEqual([]);
      if (end === 'committed') break;
      expect(treeOf(root)).toEqual(before);
    }
    expect([...ends]).toEqual(['install/no-space', 'committed']);
  });
});

describe('a root on another file system', needs('mounts'), () => {
  test('than the source is installed into, updated, rolled back and emptied', async () => {
    const root = path.join(mounted('size=4m'), 'root');
    await install(root, { alpha: '1' });
    const first = treeOf(root);
    await install(root, { alpha: '2' }, 'replace');
    await bringBack(root, 'previous', 'alpha');
    expect(treeOf(root)).toEqual(first);
    await withRoot(root, {}, (open) => open.commit([{ type: 'remove', name: 'alpha', to: 'trash' }]));
    expect(existsSync(path.join(root, 'alpha'))).toBe(false);
  });

  test('that may only be read is refused, and its lock can still be read', async () => {
    const disk = mounted('size=4m');
    const root = path.join(disk, 'root');
    await install(root, { alpha: '1' });
    const before = treeOf(root);
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    const end = await withRoot(root, {}, (open) => open.commit([staged(open, 'beta')]));
    expect(end).toMatchObject({
      type: 'refused',
      code: 'install/unwritable',
      message: expect.stringContaining('EROFS'),
    });
    expect(treeOf(root)).toEqual(before);
  });
});

describe('a step that the system refuses behind the commit', needs('mounts'), () => {
  verifies('PACK-3', 'undoes the steps before it', async () => {
    const root = scratch();
    await install(root, { alpha: '1', beta: '1', gamma: '1' });
    // What is mounted cannot be moved.
    mountAt(path.join(root, 'beta'), 'size=64k');
    const before = treeOf(root);
    const end = await withRoot(root, {}, (open) =>
      open.commit([
        staged(open, 'alpha', { version: '2', existing: 'replace' }),
        staged(open, 'new'),
        { type: 'remove', name: 'gamma', to: 'trash' },
        staged(open, 'beta', { version: '2', existing: 'replace' }),
      ]),
    );
    expect(end).toMatchObject({ type: 'refused', code: 'install/root', message: expect.stringContaining('EBUSY') });
    expect(treeOf(root)).toEqual(before);
    expect(needsRecovery(root)).toBe(false);
    expect(leftovers(root)).toEqual([]);
    for (const part of ['trash', 'previous', 'backups'])
      expect(readdirSync(path.join(root, '.skillwright', part))).toEqual([]);
  });
});

describe('a root of somebody else', needs('root'), () => {
  test('is refused, and nothing is written', async () => {
    const root = scratch();
    mkdirSync(path.join(root, 'alpha'));
    chmodSync(root, 0o755);
    expect(await asNobody(root)).toMatchObject({ type: 'refused', code: 'install/unwritable' });
    expect(readdirSync(root)).toEqual(['alpha']);
  });
});

/** Installs what needs some room, and says how it ended. */
async function filled(root: string): Promise<string> {
  try {
    const end = await withRoot(root, {}, (open) => {
      const files = { ...skillFiles('beta', '1'), 'large.txt': 'x'.repeat(20_000) };
      return open.commit([
        staged(open, 'beta', { files }),
        staged(open, 'alpha', { version: '2', existing: 'replace' }),
      ]);
    });
    return end.type === 'refused' ? end.code : end.type;
  } catch (error) {
    // The staging itself found no room: that is for whoever stages.
    if (error instanceof Error && error.message.includes('ENOSPC')) return 'install/no-space';
    throw error;
  }
}

async function asNobody(root: string): Promise<unknown> {
  const text = `
    import { withRoot } from './packs/root/open-root.ts';
    console.log(JSON.stringify(await withRoot(process.argv[2], {}, async () => ({ type: 'opened' }))));`;
  return JSON.parse(await runAsOrdinaryUser(text, [root]));
}

function mounted(options: string): string {
  const folder = path.join(scratch(), 'disk');
  mkdirSync(folder);
  mountAt(folder, options);
  return folder;
}

function mountAt(folder: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder]);
  });
}
