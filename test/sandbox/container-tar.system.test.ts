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

import { isSkillError } from '../../src/core/errors.ts';
import { extractTree } from '../../src/sandbox/executors/container/extract-tree.ts';
import { packTree } from '../../src/sandbox/executors/container/pack-tree.ts';
import { readTar, writeTar } from '../../src/sandbox/executors/container/tar.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-tar-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const OWNER = { uid: 0, gid: 0 };

async function whole(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Yields chunks that do not end at block boundaries. */
async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  await Promise.resolve();
}

type EntryType = 'file' | 'directory' | 'symlink' | 'link' | 'fifo';
const END = Buffer.alloc(1024);

/** One entry without the end of the archive. */
async function entry(name: string, type: EntryType, { target = '', text = '' } = {}): Promise<Buffer> {
  const body = Buffer.from(text);
  const header = { ...OWNER, name, type, mode: 0o755, size: body.length, mtime: new Date(0), linkname: target };
  const bytes = await whole(writeTar([{ header, body: () => (text === '' ? [] : [body]) }]));
  return bytes.subarray(0, -END.length);
}

async function unpack(source: AsyncIterable<Uint8Array>, files = 100): Promise<void> {
  const to = path.join(folder, 'to');
  mkdirSync(to);
  const budget = { bytes: 1_000_000, files };
  await extractTree(readTar(source), { top: 'out', folder: to, owner: undefined, budget });
}

const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'written',
    (error: unknown) => (isSkillError(error) ? error.code : error instanceof Error ? error.name : 'something'),
  );

describe('a written tar', () => {
  const long = `${'d'.repeat(90)}/${'größe-大小-'.repeat(12)}`;

  test('is read by tar, with long and Unicode names, links, modes and bytes', async () => {
    const from = path.join(folder, 'from');
    mkdirSync(path.join(from, path.dirname(long)), { recursive: true });
    writeFileSync(path.join(from, long), Buffer.from([0, 255, 10]), { mode: 0o755 });
    writeFileSync(path.join(from, 'empty'), '');
    symlinkSync('x'.repeat(150), path.join(from, 'link'));
    execFileSync('mkfifo', [path.join(from, 'pipe')]);
    const file = path.join(folder, 'a.tar');
    writeFileSync(file, await whole(writeTar(packTree(from, { prefix: 'top/', owner: OWNER }))));
    execFileSync('tar', ['-xf', file, '-C', folder]);
    expect(readdirSync(path.join(folder, 'top')).sort()).toEqual(['d'.repeat(90), 'empty', 'link']);
    expect(readFileSync(path.join(folder, 'top', long))).toEqual(Buffer.from([0, 255, 10]));
    expect(statSync(path.join(folder, 'top', long)).mode & 0o777).toBe(0o755);
    expect(readlinkSync(path.join(folder, 'top/link'))).toBe('x'.repeat(150));
  });

  test.each(['ustar', 'pax', 'gnu'])('the %s format of tar is read in chunks of any size', async (format) => {
    mkdirSync(path.join(folder, 'out/d'), { recursive: true });
    writeFileSync(path.join(folder, 'out/d/größe'), 'x'.repeat(1500));
    if (format !== 'ustar') writeFileSync(path.join(folder, 'out', 'n'.repeat(180)), 'long');
    const bytes = execFileSync('tar', ['-c', `--format=${format}`, '-C', folder, 'out'], { maxBuffer: 1 << 24 });
    for (const size of [31, 511, 513, 100_000]) {
      const names: string[] = [];
      for await (const { header, body } of readTar(inPieces(bytes, size)))
        names.push(`${header.name} ${String((await whole(body)).length)}`);
      expect(names.sort()).toEqual(
        ['out/ 0', 'out/d/ 0', 'out/d/größe 1500', ...(format === 'ustar' ? [] : [`out/${'n'.repeat(180)} 4`])].sort(),
      );
    }
  });
});

describe('a hostile tar', () => {
  const top = entry('out/', 'directory');

  test.each<readonly [string, readonly Promise<Buffer>[]]>([
    ['names a parent folder', [entry('out/../../x', 'file', { text: 'x' })]],
    ['names an absolute path', [entry('/etc/x', 'file', { text: 'x' })]],
    ['names another top folder', [entry('work/x', 'file', { text: 'x' })]],
    ['goes through a link', [entry('out/l', 'symlink', { target: '..' }), entry('out/l/x', 'file', { text: 'x' })]],
    ['replaces a link', [entry('out/l', 'symlink', { target: '../x' }), entry('out/l', 'file', { text: 'x' })]],
    ['has a file where a folder was', [entry('out/d/', 'directory'), entry('out/d', 'file', { text: 'x' })]],
    ['has a link without a target', [entry('out/l', 'symlink')]],
    ['hard-links a file outside', [entry('out/h', 'link', { target: 'out/../../secret' })]],
    ['hard-links a missing file', [entry('out/h', 'link', { target: 'out/absent' })]],
    [
      'hard-links a symbolic link',
      [entry('out/l', 'symlink', { target: '/etc/passwd' }), entry('out/h', 'link', { target: 'out/l' })],
    ],
    ['is not a tar', [Promise.resolve(Buffer.alloc(2048, 0x41))]],
  ])('that %s writes nothing outside and is rejected', async (_, entries) => {
    writeFileSync(path.join(folder, 'secret'), 's');
    const bytes = Buffer.concat([await top, ...(await Promise.all(entries)), END]);
    expect(['tar/broken', 'Error']).toContain(await outcome(unpack(inPieces(bytes, 700))));
    expect(readdirSync(folder).sort()).toEqual(['secret', 'to']);
  });

  test.each([512, 1000, 2500])('that ends after %i of its bytes is rejected', async (length) => {
    const bytes = Buffer.concat([await top, await entry('out/f', 'file', { text: 'x'.repeat(2000) })]);
    expect(await outcome(unpack(inPieces(bytes.subarray(0, length), 700)))).toBe('tar/broken');
  });

  test('with a wrong checksum is rejected', async () => {
    const bytes = Buffer.concat([await top, await entry('out/f', 'file', { text: 'x' }), END]);
    bytes.write('g', 512 + 4, 'latin1');
    expect(await outcome(unpack(inPieces(bytes, 700)))).toBe('tar/broken');
  });

  test('loses its pipes and a file in place of the top folder, and keeps the rest', async () => {
    const file = await entry('out', 'file', { text: 'x'.repeat(3000) });
    const rest = [await entry('out/p', 'fifo'), await entry('out/f', 'file', { text: 'kept' }), END];
    await unpack(inPieces(Buffer.concat([file, ...rest]), 700));
    expect(readdirSync(path.join(folder, 'to'))).toEqual(['f']);
    expect(readFileSync(path.join(folder, 'to/f'), 'utf8')).toBe('kept');
  });

  test('that holds too much, or too many, is rejected before it is written', async () => {
    const many = await Promise.all(Array.from({ length: 20 }, (_, at) => entry(`out/${String(at)}`, 'file')));
    expect(await outcome(unpack(inPieces(Buffer.concat([await top, ...many, END]), 700), 10))).toBe('tar/too-large');
    rmSync(path.join(folder, 'to'), { recursive: true });
    expect(await outcome(unpack(endless(await top)))).toBe('tar/too-large');
    expect(readdirSync(path.join(folder, 'to'))).toEqual([]);
  });

  test('of which the sender fails throws the error of the sender', async () => {
    async function* failing(): AsyncGenerator<Uint8Array, void> {
      yield await top;
      throw new RangeError('the connection is gone');
    }
    expect(await outcome(unpack(failing()))).toBe('RangeError');
  });
});

/** A file of one terabyte whose bytes keep coming; the reader has to stop the sender. */
async function* endless(top: Buffer): AsyncGenerator<Uint8Array, void> {
  yield top;
  const header = { ...OWNER, name: 'out/f', type: 'file' as const, mode: 0o644, size: 2 ** 40, mtime: new Date(0) };
  yield* writeTar([{ header, body: zeros }]);
}

function* zeros(): Generator<Uint8Array, void> {
  for (;;) yield new Uint8Array(64 * 1024);
}
