import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

import { toRelativePath, type RelativePath } from '../../../src/core/path.ts';
import type { Confinement } from '../../../src/platform/fs/directory-handle.ts';
import { moveBeneath, writeBeneath, type Written } from '../../../src/platform/fs/confined-write.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { PROJECT } from '../../files-below.ts';
import { scratch } from '../../skills/registry/support.ts';
import { needs, skipUnless } from '../../needs.ts';
import { isProblem } from '../../../src/core/problem.ts';

function relative(text: string): RelativePath {
  const reading = toRelativePath(text);
  if (isProblem(reading)) throw new Error(reading.message);
  return reading;
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe.each<Confinement>(['descriptors', 'paths'])('writing below a folder by %s', (confinement) => {
  const write = (root: string, file: string, text: string): Written =>
    writeBeneath(root, relative(file), bytes(text), { confinement });

  test('creates folders and files, and reports what it replaced', () => {
    const root = scratch();
    expect(write(root, 'a/b/c', 'one')).toEqual({ type: 'written', mode: 0o644, lostBits: 0 });
    expect(write(root, 'a/b/c', 'two')).toEqual({ type: 'written', mode: 0o644, lostBits: 0, replaced: sha256('one') });
    expect(readFileSync(path.join(root, 'a/b/c'), 'utf8')).toBe('two');
    expect(readdirSync(path.join(root, 'a/b'))).toEqual(['c']);
  });

  test('asks before it replaces, and leaves nothing behind if denied', () => {
    const root = scratch();
    writeFileSync(path.join(root, 'x'), 'old');
    const asked: (string | undefined)[] = [];
    const mayReplace = (digest: string | undefined): boolean => {
      asked.push(digest);
      return false;
    };
    expect(writeBeneath(root, relative('x'), bytes('new'), { mayReplace, confinement })).toEqual({
      type: 'failed',
      code: 'file/changed',
    });
    expect(writeBeneath(root, relative('y'), bytes('new'), { mayReplace, confinement })).toEqual({
      type: 'failed',
      code: 'file/changed',
    });
    expect(asked).toEqual([sha256('old'), undefined]);
    expect(readdirSync(root)).toEqual(['x']);
  });

  test('does not replace a read-only file', () => {
    const root = scratch();
    writeFileSync(path.join(root, 'x'), 'old', { mode: 0o444 });
    expect(write(root, 'x', 'new')).toEqual({ type: 'failed', code: 'file/unwritable', detail: 'it is read-only' });
    expect(readFileSync(path.join(root, 'x'), 'utf8')).toBe('old');
  });

  test('reports why it cannot write', () => {
    const root = scratch();
    mkdirSync(path.join(root, 'folder'));
    writeFileSync(path.join(root, 'file'), '');
    symlinkSync('folder', path.join(root, 'link'));
    const outcomes = ['folder', 'file/below', 'link', 'link/x'].map((file) => write(root, file, 'x'));
    expect(outcomes).toEqual(
      ['file/directory', 'file/exists', 'file/changed', 'file/changed'].map((code) => ({ type: 'failed', code })),
    );
    expect(write(path.join(root, 'none'), 'x', 'x')).toEqual({
      type: 'failed',
      code: 'file/missing',
    });
  });

  test('a read-only folder stays unchanged', needs('an ordinary user'), () => {
    const root = scratch();
    chmodSync(root, 0o555);
    onTestFinished(() => chmodSync(root, 0o755));
    expect(write(root, 'x', 'x')).toMatchObject({ code: 'file/unwritable', detail: 'EACCES' });
  });

  test('what root writes in the folder of a user belongs to that user', needs('root'), () => {
    const root = scratch();
    const owner = 12_345;
    chownSync(root, owner, owner);
    write(root, 'new/x', 'x');
    expect(['new', 'new/x'].map((file) => lstatSync(path.join(root, file)).uid)).toEqual([owner, owner]);
  });
});

test('every descriptor is closed, also on failures', needs('linux'), () => {
  const root = scratch();
  mkdirSync(path.join(root, 'folder'));
  writeFileSync(path.join(root, 'file'), '');
  symlinkSync('folder', path.join(root, 'link'));
  const places = ['new/x', 'folder', 'file/below', 'link', 'link/x', 'folder/x', 'n'.repeat(255)].map(relative);
  const before = readdirSync('/proc/self/fd').length;
  for (const place of places) {
    writeBeneath(root, place, bytes('x'));
    writeBeneath(root, place, bytes('x'), { mayReplace: () => false });
    moveBeneath(root, place, relative('folder/moved'));
    moveBeneath(root, place, relative('link/moved'));
    expect(() =>
      writeBeneath(root, relative('folder/y'), bytes('x'), {
        mayReplace: () => {
          throw new TypeError('a bug');
        },
      }),
    ).toThrow('a bug');
  }
  expect(readdirSync('/proc/self/fd').length).toBe(before);
});

test('a killed process leaves the old file or the new one', async () => {
  const root = scratch();
  const texts = ['a', 'b'].map((letter) => letter.repeat(1_000_000));
  writeFileSync(path.join(root, 'x'), texts[0] ?? '');
  const module = pathToFileURL(path.join(PROJECT, 'dist/platform/fs/confined-write.js')).href;
  const program = `
    import { writeBeneath } from ${JSON.stringify(module)};
    process.stdout.write('ready');
    for (;;) for (const letter of 'ba') writeBeneath(${JSON.stringify(root)}, 'x', Buffer.alloc(1_000_000, letter));`;
  for (let round = 0; round < 5; round += 1) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => {
      child.stdout.once('data', resolve);
    });
    await new Promise((resolve) => {
      setTimeout(resolve, 20 + round * 7);
    });
    const isOver = new Promise((resolve) => {
      child.once('exit', resolve);
    });
    child.kill('SIGKILL');
    await isOver;
    expect(texts).toContain(readFileSync(path.join(root, 'x'), 'utf8'));
  }
});

test('a later write removes old temporary files of a killed process', () => {
  const root = scratch();
  const names = [
    '.skillwright.0123456789abcdef.tmp',
    '.skillwright.fedcba9876543210.tmp',
    '.skillwright.tmp',
    'mine.tmp',
  ];
  for (const name of names) writeFileSync(path.join(root, name), '');
  for (const name of names.slice(1)) utimesSync(path.join(root, name), 1000, 1000);
  writeBeneath(root, relative('x'), bytes('x'));
  expect(readdirSync(root)).toEqual([names[0], names[2], 'mine.tmp', 'x']);
});

describe('moving below a folder', () => {
  test.each<Confinement>(['descriptors', 'paths'])('moves a file to an unused path, by %s', (confinement) => {
    const root = scratch();
    writeFileSync(path.join(root, 'x'), 'x');
    expect(moveBeneath(root, relative('x'), relative('new/y'), { confinement })).toEqual({ type: 'moved' });
    expect(readFileSync(path.join(root, 'new/y'), 'utf8')).toBe('x');
    writeFileSync(path.join(root, 'z'), 'z');
    expect(moveBeneath(root, relative('z'), relative('new/y'), { confinement })).toEqual({
      type: 'failed',
      code: 'file/exists',
    });
    expect(moveBeneath(root, relative('new'), relative('other'), { confinement })).toEqual({
      type: 'failed',
      code: 'file/directory',
    });
    expect(moveBeneath(root, relative('none'), relative('other'), { confinement })).toEqual({
      type: 'failed',
      code: 'file/missing',
    });
  });

  const shared = '/dev/shm';
  const hasOther = existsSync(shared) && statSync(shared).dev !== statSync(tmpdir()).dev;
  test(
    'copies to another file system with permissions, and then removes the source',
    skipUnless(hasOther, 'a second file system that everyone may write to'),
    () => {
      const from = scratch();
      const to = mkdtempSync(path.join(shared, 'skillwright-'));
      onTestFinished(() => rmSync(to, { recursive: true }));
      writeFileSync(path.join(from, 'x'), 'y'.repeat(200_000), { mode: 0o700 });
      expect(moveBeneath('/', relative(path.join(from, 'x').slice(1)), relative(path.join(to, 'x').slice(1)))).toEqual({
        type: 'moved',
      });
      expect(readdirSync(from)).toEqual([]);
      expect(readFileSync(path.join(to, 'x'), 'utf8')).toBe('y'.repeat(200_000));
      expect(lstatSync(path.join(to, 'x')).mode & 0o777).toBe(0o700);
    },
  );
});

/** Exchanges the folder `sub` and a link to a folder outside, and puts aside what is made in its place. Half a minute at most. */
const SWAP = `
  import { existsSync, renameSync } from 'node:fs';
  const [root] = process.argv.slice(1);
  const end = Date.now() + 30_000;
  let aside = 0;
  const swap = (from, to) => {
    while (Date.now() < end)
      try {
        return renameSync(root + from, root + to);
      } catch {
        if (existsSync(root + to)) renameSync(root + to, root + '/aside' + aside++);
      }
  };
  process.stdout.write('ready');
  while (Date.now() < end) {
    swap('/sub', '/spare');
    swap('/link', '/sub');
    swap('/sub', '/link');
    swap('/spare', '/sub');
  }`;

describe('a folder that is swapped with a link meanwhile', needs('linux'), () => {
  test('never gets a byte written or a file moved outside', async () => {
    const base = scratch();
    const root = path.join(base, 'root');
    mkdirSync(path.join(root, 'sub'), { recursive: true });
    mkdirSync(path.join(base, 'outside'));
    symlinkSync('../outside', path.join(root, 'link'));
    const child = spawn(process.execPath, ['--input-type=module', '-e', SWAP, root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const isOver = new Promise((resolve) => {
      child.once('exit', resolve);
    });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await isOver;
    });
    await new Promise((resolve) => {
      child.stdout.once('data', resolve);
    });
    const seen = new Set<string>();
    // On a busy machine the other process may be slow to come.
    for (let count = 0; count < 800 || (count < 20_000 && !seen.has('file/changed')); count += 1) {
      writeFileSync(path.join(root, 'mine'), '');
      for (const outcome of [
        writeBeneath(root, relative('sub/x.md'), bytes('OURS')),
        writeBeneath(root, relative('sub/new/y.md'), bytes('OURS')),
        moveBeneath(root, relative('mine'), relative(`sub/${String(count)}`)),
      ])
        seen.add(outcome.type === 'failed' ? outcome.code : outcome.type);
    }
    // The end of the other process would be told only now.
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    expect(child.exitCode).toBe(null);
    expect(readdirSync(path.join(base, 'outside'))).toEqual([]);
    const possible = new Set(['written', 'moved', 'file/changed', 'file/missing', 'file/exists']);
    expect([...seen].filter((outcome) => !possible.has(outcome))).toEqual([]);
    expect([...seen]).toEqual(expect.arrayContaining(['written', 'moved', 'file/changed']));
  });
});
