import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { removeTree } from '../../../src/platform/fs/remove-tree.ts';
import { runAsOrdinaryUser, scratch } from '../../skills/registry/support.ts';
import { EVERY_KIND, plant } from './tree-support.ts';
import { needs } from '../../needs.ts';

describe('removing a tree', () => {
  test('removes every kind of file, and no link targets', async () => {
    const base = scratch();
    const outside = plant(path.join(base, 'outside'), { 'keep.txt': 'x', 'sub/keep.txt': 'y' });
    const root = plant(path.join(base, 'root'), EVERY_KIND);
    symlinkSync(outside, path.join(root, 'to-folder'));
    symlinkSync(path.join(outside, 'keep.txt'), path.join(root, 'to-file'));
    symlinkSync('../outside', path.join(root, 'docs/relative'));
    execFileSync('mkfifo', [path.join(root, 'docs/pipe')]);
    expect(await removeTree(root)).toBe(true);
    expect(readdirSync(base)).toEqual(['outside']);
    expect(readdirSync(outside)).toEqual(['keep.txt', 'sub']);
    expect(readdirSync(path.join(outside, 'sub'))).toEqual(['keep.txt']);
  });

  test('removes names that are not UTF-8, names like its own, and thousands of files', async () => {
    const root = path.join(scratch(), 'root');
    mkdirSync(path.join(root, 'many'), { recursive: true });
    for (let number = 0; number < 3_000; number += 1) writeFileSync(path.join(root, 'many', String(number)), '');
    mkdirSync(path.join(root, 'a/b/c'), { recursive: true });
    plant(root, { '.skillwright-removed-1/x': 'x', '.skillwright-removed-2': 'a file' });
    for (const name of [Buffer.from([0xff, 0xfe]), Buffer.from([0x61, 0x80])])
      mkdirSync(Buffer.concat([Buffer.from(`${root}/a/b/`), name]));
    expect(await removeTree(root)).toBe(true);
    expect(existsSync(root)).toBe(false);
  });

  test('removes folders deeper than the longest path', async () => {
    const root = path.join(scratch(), 'root');
    mkdirSync(root);
    const deeper = `for (let n = 0; n < 1500; n += 1) { fs.mkdirSync('deeper'); process.chdir('deeper'); } fs.writeFileSync('x', 'x')`;
    execFileSync(process.execPath, ['-e', deeper], { cwd: root });
    expect(await removeTree(root)).toBe(true);
    expect(existsSync(root)).toBe(false);
  });

  test('accepts a missing path, a file and a link', async () => {
    const base = scratch();
    plant(base, { 'keep/x': 'x', link: { link: 'keep' }, file: 'x' });
    for (const name of ['none', 'link', 'file']) expect(await removeTree(path.join(base, name))).toBe(true);
    expect(readdirSync(base)).toEqual(['keep']);
  });

  test('stops at the deadline, and continues in the next call', async () => {
    const root = path.join(scratch(), 'root');
    mkdirSync(root);
    for (let number = 0; number < 1_000; number += 1) writeFileSync(path.join(root, String(number)), '');
    expect(await removeTree(root, { until: 1 })).toBe(false);
    expect(readdirSync(root).length).toBeLessThan(1_000);
    expect(await removeTree(root)).toBe(true);
  });

  test('an ordinary user removes folders that were closed', needs('root'), async () => {
    const base = scratch();
    chmodSync(base, 0o711);
    const home = path.join(base, 'home');
    plant(home, { 'root/closed/inner/x': 'x', 'root/none/y': 'y', 'root/read-only/z/w': 'w' });
    execFileSync('chown', ['-R', '65534:65534', home]);
    chmodSync(path.join(home, 'root/closed/inner'), 0o500);
    chmodSync(path.join(home, 'root/closed'), 0o000);
    chmodSync(path.join(home, 'root/none'), 0o100);
    chmodSync(path.join(home, 'root/read-only/z'), 0o555);
    chmodSync(path.join(home, 'root/read-only'), 0o555);
    chmodSync(path.join(home, 'root'), 0o555);
    chownSync(home, 65534, 65534);
    const text = `
      import { removeTree } from './platform/fs/remove-tree.ts';
      console.log(process.getuid(), await removeTree(process.argv[2]));`;
    const said = await runAsOrdinaryUser(text, [path.join(home, 'root')]);
    expect(said).toBe('65534 true\n');
    expect(readdirSync(home)).toEqual([]);
  });
});
