import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { findSharedLibraries } from '../../../../src/sandbox/executors/linux/shared-libraries.ts';

let folder = '';

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'skillwright-elf-')));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Elf {
  readonly interpreter?: string;
  readonly needed?: readonly string[];
  readonly runpath?: string;
}

const ADDRESS = 0x40_0000;

/** An ELF file with nothing but what the dynamic loader reads. */
function elf({ interpreter, needed = [], runpath }: Elf): Buffer {
  const texts = [
    ...needed.map((name) => [1, name] as const),
    ...(runpath === undefined ? [] : [[29, runpath] as const]),
  ];
  let strings = Buffer.from('\0');
  const entries = texts.map(([tag, text]) => {
    const at = strings.length;
    strings = Buffer.concat([strings, Buffer.from(`${text}\0`)]);
    return [tag, at] as const;
  });
  const loader = Buffer.from(`${interpreter ?? ''}\0`);
  const start = 64 + 3 * 56;
  const dynamicAt = start + strings.length + loader.length;
  const dynamic = words([...entries, [5, ADDRESS + start] as const, [0, 0] as const].flat());
  const segments = [
    [1, 0, ADDRESS, dynamicAt + dynamic.length],
    [2, dynamicAt, ADDRESS + dynamicAt, dynamic.length],
    [interpreter === undefined ? 0 : 3, start + strings.length, 0, loader.length],
  ].map(([type = 0, offset = 0, address = 0, bytes = 0]) => {
    const segment = words([0, offset, address, 0, bytes, bytes, 0]);
    segment.writeUInt32LE(type, 0);
    return segment;
  });
  const header = Buffer.alloc(64);
  header.write('\x7fELF\x02\x01', 'latin1');
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(segments.length, 56);
  return Buffer.concat([header, ...segments, strings, loader, dynamic]);
}

function words(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [at, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), at * 8);
  return bytes;
}

function put(name: string, content: Elf | Buffer): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, Buffer.isBuffer(content) ? content : elf(content));
  return file;
}

function found(...files: readonly string[]): unknown {
  return findSharedLibraries(files).map(({ source, target }) =>
    [source, target].map((file) => path.relative(folder, file)),
  );
}

test('libraries are found by the search path of the file, and of the library that needs them', () => {
  const node = put('conda/bin/node', { needed: ['liba.so', 'libc.so.6'], runpath: '$ORIGIN/../lib:/nowhere' });
  put('conda/lib/liba.so', { needed: ['libb.so'], runpath: '${ORIGIN}/deep' });
  put('conda/lib/deep/libb.so', {});
  put('conda/lib/libunused.so', {});
  expect(found(node)).toEqual([
    ['conda/lib/liba.so', 'conda/lib/liba.so'],
    ['conda/lib/deep/libb.so', 'conda/lib/deep/libb.so'],
  ]);
});

test('a library and a loader behind links keep the path by which they are opened', () => {
  put('Cellar/icu/74/lib/libicu.so.74', {});
  put('Cellar/glibc/2.39/lib/ld.so', {});
  mkdirSync(path.join(folder, 'opt'));
  mkdirSync(path.join(folder, 'lib'));
  symlinkSync('../Cellar/icu/74', path.join(folder, 'opt/icu'));
  symlinkSync('../Cellar/glibc/2.39/lib/ld.so', path.join(folder, 'lib/ld.so'));
  const node = put('Cellar/node/22/bin/node', {
    needed: ['libicu.so.74'],
    runpath: `${folder}/opt/icu/lib`,
    interpreter: `${folder}/lib/ld.so`,
  });
  expect(found(node)).toEqual([
    ['Cellar/glibc/2.39/lib/ld.so', 'lib/ld.so'],
    ['Cellar/icu/74/lib/libicu.so.74', 'opt/icu/lib/libicu.so.74'],
  ]);
});

test('files that are broken, not ELF or missing have no libraries', () => {
  const whole = elf({ needed: ['liba.so'], runpath: '$ORIGIN' });
  put('liba.so', {});
  const cut = Array.from({ length: whole.length }, (_, at) => put(`cut${String(at)}`, whole.subarray(0, at)));
  for (const file of cut) expect(() => findSharedLibraries([file])).not.toThrow();
  const wild = Buffer.from(whole);
  wild.writeBigUInt64LE(2n ** 63n, 32);
  expect(
    found(put('wild', wild), put('script', Buffer.from('#!/bin/sh\n')), path.join(folder, 'missing'), folder),
  ).toEqual([]);
});

test('a library or loader that is no ELF file is not shown, whatever names it', () => {
  put('.ssh/id_rsa', Buffer.from('-----BEGIN OPENSSH PRIVATE KEY-----'));
  mkdirSync(path.join(folder, 'lib'));
  symlinkSync('../.ssh/id_rsa', path.join(folder, 'lib/libkey.so'));
  const python = put('bin/python', {
    needed: ['id_rsa', 'libkey.so', `${folder}/.ssh/id_rsa`, '../.ssh/id_rsa'],
    runpath: `${folder}/.ssh:$ORIGIN/../lib`,
    interpreter: `${folder}/.ssh/id_rsa`,
  });
  expect(found(python)).toEqual([]);
});

test('libraries that need each other are found once', () => {
  const node = put('node', { needed: ['liba.so'], runpath: '$ORIGIN' });
  put('liba.so', { needed: ['libb.so'] });
  put('libb.so', { needed: ['liba.so'], runpath: '$ORIGIN' });
  expect(found(node)).toEqual([
    ['liba.so', 'liba.so'],
    ['libb.so', 'libb.so'],
  ]);
});
