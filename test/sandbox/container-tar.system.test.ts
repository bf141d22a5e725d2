import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { DEFAULT_LIMITS } from '../../src/core/execution.ts';
import { treeBudget, writeTree } from '../../src/sandbox/executors/container/tar-tree.ts';
import { padding, readTar, tarEnd, tarHeader } from '../../src/sandbox/executors/container/tar.ts';
import type { TarHeader, TarType } from '../../src/sandbox/executors/container/tar.ts';
import { treeTar } from '../../src/sandbox/executors/container/tree-tar.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-tar-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const OWNER = { uid: 0, gid: 0 };

async function whole(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** In pieces that fall nowhere in particular. */
async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  await Promise.resolve();
}

function entry(name: string, type: Exclude<TarType, 'other'>, { target = '', text = '' } = {}): Buffer {
  const header: TarHeader = { ...OWNER, name, type, mode: 0o755, size: Buffer.byteLength(text), modified: 0, target };
  return Buffer.concat([tarHeader({ ...header, type }), Buffer.from(text), padding(header.size)]);
}

async function unpack(bytes: Buffer, files = 100): Promise<void> {
  const to = path.join(folder, 'to');
  mkdirSync(to);
  const budget = treeBudget({ ...DEFAULT_LIMITS, files, diskBytes: 1_000_000 });
  await writeTree(readTar(inPieces(bytes, 700)), { top: 'out', folder: to, owner: undefined, budget });
}

const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'written',
    (error: unknown) => (error instanceof Error ? error.name : 'something'),
  );

describe('a tar of ours', () => {
  const long = `${'d'.repeat(90)}/${'größe-大小-'.repeat(12)}`;

  test('is read by tar, with long and Unicode names, links, modes and bytes', async () => {
    const from = path.join(folder, 'from');
    mkdirSync(path.join(from, path.dirname(long)), { recursive: true });
    writeFileSync(path.join(from, long), Buffer.from([0, 255, 10]), { mode: 0o755 });
    writeFileSync(path.join(from, 'empty'), '');
    symlinkSync('x'.repeat(150), path.join(from, 'link'));
    execFileSync('mkfifo', [path.join(from, 'pipe')]);
    const file = path.join(folder, 'a.tar');
    writeFileSync(file, Buffer.concat([await whole(treeTar(from, { prefix: 'top/', owner: OWNER })), tarEnd()]));
    execFileSync('tar', ['-xf', file, '-C', folder]);
    expect(readdirSync(path.join(folder, 'top')).sort()).toEqual(['d'.repeat(90), 'empty', 'link']);
    expect(readFileSync(path.join(folder, 'top', long))).toEqual(Buffer.from([0, 255, 10]));
    expect(statSync(path.join(folder, 'top', long)).mode & 0o777).toBe(0o755);
    expect(readlinkSync(path.join(folder, 'top/link'))).toBe('x'.repeat(150));
  });

  test.each(['ustar', 'pax', 'gnu'])("tar's own %s is read here, cut anywhere", async (format) => {
    mkdirSync(path.join(folder, 'out/d'), { recursive: true });
    writeFileSync(path.join(folder, 'out/d/größe'), 'x'.repeat(1500));
    if (format !== 'ustar') writeFileSync(path.join(folder, 'out', 'n'.repeat(180)), 'long');
    const bytes = execFileSync('tar', ['-c', `--format=${format}`, '-C', folder, 'out'], { maxBuffer: 1 << 24 });
    for (const size of [1, 511, 513, 100_000]) {
      const names: string[] = [];
      for await (const { name, bytes: content } of readTar(inPieces(bytes, size)))
        names.push(`${name} ${String((await whole(content)).length)}`);
      expect(names.sort()).toEqual(
        ['out/ 0', 'out/d/ 0', 'out/d/größe 1500', ...(format === 'ustar' ? [] : [`out/${'n'.repeat(180)} 4`])].sort(),
      );
    }
  });
});

describe('a hostile tar', () => {
  const top = entry('out/', 'folder');

  test.each<readonly [string, readonly Buffer[]]>([
    ['leads up', [entry('out/../../x', 'file', { text: 'x' })]],
    ['is absolute', [entry('/etc/x', 'file', { text: 'x' })]],
    ['stands elsewhere', [entry('work/x', 'file', { text: 'x' })]],
    ['goes through a link', [entry('out/l', 'link', { target: '..' }), entry('out/l/x', 'file', { text: 'x' })]],
    ['replaces a link', [entry('out/l', 'link', { target: '../x' }), entry('out/l', 'file', { text: 'x' })]],
    ['has a file where a folder was', [entry('out/d/', 'folder'), entry('out/d', 'file', { text: 'x' })]],
    ['names something outside again', [entry('out/h', 'hard-link', { target: 'out/../../secret' })]],
    ['names something absent again', [entry('out/h', 'hard-link', { target: 'out/absent' })]],
    [
      'names a link again',
      [entry('out/l', 'link', { target: '/etc/passwd' }), entry('out/h', 'hard-link', { target: 'out/l' })],
    ],
    ['ends in the middle', [entry('out/f', 'file', { text: 'x'.repeat(2000) }).subarray(0, 1000)]],
    ['is no tar', [Buffer.alloc(2048, 0x41)]],
  ])('that %s writes nothing outside and is refused', async (_, entries) => {
    writeFileSync(path.join(folder, 'secret'), 's');
    const result = await outcome(unpack(Buffer.concat([top, ...entries])));
    expect(['BrokenTar', 'Error']).toContain(result);
    expect(readdirSync(folder).sort()).toEqual(['secret', 'to']);
  });

  test('that holds too much, or too many, is refused before it is written', async () => {
    const many = Array.from({ length: 20 }, (_, at) => entry(`out/${String(at)}`, 'file'));
    expect(await outcome(unpack(Buffer.concat([top, ...many, tarEnd()]), 10))).toBe('TreeTooLarge');
    rmSync(path.join(folder, 'to'), { recursive: true });
    const large = tarHeader({
      ...OWNER,
      name: 'out/f',
      type: 'file',
      mode: 0o644,
      size: 2 ** 40,
      modified: 0,
      target: '',
    });
    expect(await outcome(unpack(Buffer.concat([top, large])))).toBe('TreeTooLarge');
    expect(readdirSync(path.join(folder, 'to'))).toEqual([]);
  });
});
