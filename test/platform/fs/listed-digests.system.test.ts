import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

import { openListedDigests } from '../../../src/platform/fs/listed-digests.ts';
import { readTreeDigest } from '../../../src/platform/fs/tree-digest.ts';
import { built, scratch, settle } from '../../skills/registry/support.ts';
import { plant } from './tree-support.ts';

const FILES = {
  'SKILL.md': 'x',
  'a/one.md': 'one',
  'a/two.md': 'two',
  'a/b/three.md': 'three',
  'a/link': { link: 'b' },
};

async function digestOf(root: string): Promise<string | undefined> {
  const read = await readTreeDigest(root);
  return read.type === 'digest' ? read.digest : undefined;
}

/** Reads the trees and writes the cache file, as a listing does. */
async function listTrees(roots: readonly string[], file: string): Promise<void> {
  const listed = openListedDigests(file);
  for (const root of roots) await listed.of(root);
  listed.save();
}

/** Writes bytes of the same length and restores the time of modification. */
function overwriteUnseen(file: string, text: string): void {
  const { atime, mtime, size } = statSync(file);
  expect(Buffer.byteLength(text)).toBe(size);
  writeFileSync(file, text);
  utimesSync(file, atime, mtime);
}

test('listed digests are found again by another process, and not after any change', async () => {
  const changes: readonly ((root: string) => void)[] = [
    (root) => overwriteUnseen(path.join(root, 'a/b/three.md'), 'THREE'),
    (root) => overwriteUnseen(path.join(root, 'SKILL.md'), 'y'),
    (root) => writeFileSync(path.join(root, 'a/b/four.md'), ''),
    (root) => mkdirSync(path.join(root, 'a/c')),
    (root) => rmSync(path.join(root, 'a/two.md')),
    (root) => renameSync(path.join(root, 'a/two.md'), path.join(root, 'a/2.md')),
    (root) => chmodSync(path.join(root, 'a/one.md'), 0o755),
    (root) => {
      rmSync(path.join(root, 'a/link'));
      symlinkSync('.', path.join(root, 'a/link'));
    },
    (root) => {
      const { atime, mtime } = statSync(path.join(root, 'a/one.md'));
      writeFileSync(path.join(root, 'a/new'), 'ONE');
      utimesSync(path.join(root, 'a/new'), atime, mtime);
      renameSync(path.join(root, 'a/new'), path.join(root, 'a/one.md'));
    },
    (root) => {
      renameSync(root, `${root}.old`);
      plant(root, FILES);
    },
    (root) => rmSync(root, { recursive: true }),
  ];
  const base = scratch();
  const file = path.join(base, 'cache/trees-1.bin');
  const trees = changes.map((change, place) => ({ change, root: plant(path.join(base, String(place)), FILES) }));
  await settle();
  const digest = await digestOf(trees[0]?.root ?? '');
  await listTrees(
    trees.map(({ root }) => root),
    file,
  );
  const other = openListedDigests(file);
  expect(trees.map(({ root }) => other.known(root))).toEqual(trees.map(() => digest));
  for (const { change, root } of trees) change(root);
  expect(trees.map(({ root }) => [other.known(root), openListedDigests(file).known(root)])).toEqual(
    trees.map(() => [undefined, undefined]),
  );
  // A changed tree is read again and replaces its record; one that is gone leaves the file.
  await settle();
  await listTrees(
    trees.map(({ root }) => root),
    file,
  );
  const again = openListedDigests(file);
  for (const { root } of trees) expect(again.known(root)).toBe(existsSync(root) ? await digestOf(root) : undefined);
});

test('listed digests of a file that changed within the last clock tick are not stored', async () => {
  const base = scratch();
  const file = path.join(base, 'cache/trees-1.bin');
  const root = plant(path.join(base, 'tree'), FILES);
  const ahead = Date.now() / 1000 + 60;
  utimesSync(path.join(root, 'SKILL.md'), ahead, ahead);
  await listTrees([root], file);
  expect(openListedDigests(file).known(root)).toBeUndefined();
});

test('a cache file of listed digests that is cut or edited anywhere is ignored and replaced', async () => {
  const base = scratch();
  const file = path.join(base, 'cache/trees-1.bin');
  const root = plant(path.join(base, 'tree'), FILES);
  await settle();
  await listTrees([root], file);
  const whole = readFileSync(file);
  const digest = await digestOf(root);
  for (let at = 0; at < whole.length; at += 7) {
    truncateSync(file, at);
    expect(openListedDigests(file).known(root)).toBeUndefined();
    const edited = Buffer.from(whole);
    edited[at] = (edited[at] ?? 0) ^ 1;
    writeFileSync(file, edited);
    expect(openListedDigests(file).known(root)).toBeUndefined();
  }
  await listTrees([root], file);
  expect(openListedDigests(file).known(root)).toBe(digest);
});

test('a cache folder that cannot be written changes no answer', async () => {
  const base = scratch();
  const root = plant(path.join(base, 'tree'), FILES);
  writeFileSync(path.join(base, 'cache'), 'a file');
  await settle();
  const listed = openListedDigests(path.join(base, 'cache/trees-1.bin'));
  expect(await listed.of(root)).toMatchObject({ type: 'digest', digest: await digestOf(root) });
  listed.save();
  expect(readFileSync(path.join(base, 'cache'), 'utf8')).toBe('a file');
});

test('processes that write at once and are killed leave a cache file with right digests', async () => {
  const base = scratch();
  const file = path.join(base, 'cache/trees-1.bin');
  const roots = Array.from({ length: 40 }, (_, place) =>
    plant(path.join(base, 'trees', String(place)), { 'SKILL.md': `skill ${String(place)}` }),
  );
  const digests = await Promise.all(roots.map(digestOf));
  await settle();
  const program = `
    import { rmSync } from 'node:fs';
    import { openListedDigests } from ${JSON.stringify(built('platform/fs/listed-digests.js'))};
    const file = ${JSON.stringify(file)};
    for (let round = 0; ; round += 1) {
      const listed = openListedDigests(file);
      for (const root of ${JSON.stringify(roots)}) await listed.of(root);
      listed.save();
      if (round === 1) console.log('written');
      if (round % 3 === 0) rmSync(file, { force: true });
    }`;
  for (let round = 0; round < 5; round += 1) {
    const writers = Array.from({ length: 2 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    await Promise.all(writers.map(({ stdout }) => new Promise((resolve) => stdout.once('data', resolve))));
    const ends = writers.map((writer) => new Promise((resolve) => writer.once('close', resolve)));
    for (const writer of writers) writer.kill('SIGKILL');
    await Promise.all(ends);
    const found = openListedDigests(file);
    for (const [place, root] of roots.entries()) expect([undefined, digests[place]]).toContain(found.known(root));
  }
  // Left by the killed ones; a later write removes those that are old.
  const folder = path.dirname(file);
  for (const name of readdirSync(folder)) utimesSync(path.join(folder, name), 1, 1);
  rmSync(file, { force: true });
  await listTrees(roots, file);
  expect(readdirSync(folder)).toEqual(['trees-1.bin']);
  const found = openListedDigests(file);
  expect(roots.map((root) => found.known(root))).toEqual(digests);
});
