import {
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  mkdirSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { openFileArtifacts } from '../../../src/sandbox/artifacts/file-store.ts';
import type { ArtifactStore } from '../../../src/sandbox/artifacts/store.ts';
import { sha256 } from '../../../src/platform/hash.ts';
import { verifies } from '../../conformance/verifies.ts';
import { scratch } from '../../skills/registry/support.ts';
import { needs } from '../../needs.ts';

const NOW = '2026-01-02T03:04:05.000Z';
const TEXT = { mediaType: 'text/plain' };

function open(directory: string, options: { readonly maxBytes?: number } = {}): ArtifactStore {
  return openFileArtifacts(directory, { now: () => new Date(NOW), ...options });
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function version(name: string, number: number, content: string) {
  return {
    name,
    version: number,
    digest: `sha256:${sha256(content)}`,
    bytes: Buffer.byteLength(content),
    mediaType: 'text/plain',
    savedAt: NOW,
  };
}

describe('artifacts', () => {
  verifies('EXEC-9', 'have versions from 0, and the latest is loaded unless one is named', async () => {
    const store = open(scratch());
    expect(await store.save('out/a.txt', bytes('first'), TEXT)).toEqual(version('out/a.txt', 0, 'first'));
    expect(await store.save('out/a.txt', bytes('second'), TEXT)).toEqual(version('out/a.txt', 1, 'second'));
    expect(await store.save('b', [bytes('in '), bytes('pieces')], TEXT)).toEqual(version('b', 0, 'in pieces'));
    expect(await store.save('empty', bytes(''), TEXT)).toEqual(version('empty', 0, ''));
    expect(await store.load('out/a.txt')).toEqual({
      ...version('out/a.txt', 1, 'second'),
      content: Buffer.from('second'),
    });
    expect(await store.load('out/a.txt', 0)).toEqual({
      ...version('out/a.txt', 0, 'first'),
      content: Buffer.from('first'),
    });
    expect(await store.list()).toEqual([
      version('b', 0, 'in pieces'),
      version('empty', 0, ''),
      version('out/a.txt', 1, 'second'),
    ]);
    expect(await store.versions('out/a.txt')).toEqual([
      version('out/a.txt', 0, 'first'),
      version('out/a.txt', 1, 'second'),
    ]);
  });

  verifies('EXEC-9', 'can be deleted, and no version is ever given twice', async () => {
    const directory = scratch();
    const store = open(directory);
    for (const content of ['zero', 'one', 'two']) await store.save('a', bytes(content), TEXT);
    expect(await store.delete('a', 2)).toEqual([2]);
    expect(await store.load('a')).toMatchObject({ version: 1 });
    await expect(store.load('a', 2)).rejects.toMatchObject({
      code: 'artifact/unknown',
      data: { name: 'a', nearest: ['a@0', 'a@1'] },
    });
    expect(await store.save('a', bytes('three'), TEXT)).toMatchObject({ version: 3 });
    expect(await store.delete('a')).toEqual([0, 1, 3]);
    expect(await store.list()).toEqual([]);
    await expect(store.versions('a')).rejects.toMatchObject({ code: 'artifact/unknown' });
    await expect(store.delete('a')).rejects.toMatchObject({ code: 'artifact/unknown' });
    expect(readdirSync(path.join(directory, 'blobs'))).toEqual([]);
    expect(await store.save('a', bytes('four'), TEXT)).toMatchObject({ version: 4 });
  });

  test('with equal bytes are stored once, and deleting one keeps the other', async () => {
    const directory = scratch();
    const store = open(directory);
    for (const name of ['a', 'b', 'a']) await store.save(name, bytes('same'), TEXT);
    expect(readdirSync(path.join(directory, 'blobs'))).toEqual([sha256('same')]);
    await store.delete('a');
    expect(Buffer.from((await store.load('b')).content).toString()).toBe('same');
    await store.delete('b');
    expect(readdirSync(path.join(directory, 'blobs'))).toEqual([]);
  });

  test('with a damaged blob are not returned, and a new save does not reuse it', async () => {
    const directory = scratch();
    const store = open(directory);
    await store.save('a', bytes('right'), TEXT);
    writeFileSync(path.join(directory, 'blobs', sha256('right')), 'wrong bytes');
    await expect(store.load('a')).rejects.toMatchObject({
      code: 'io/failed',
      data: { cause: 'its digest does not match' },
    });
    await store.save('a', bytes('right'), TEXT);
    expect(Buffer.from((await store.load('a')).content).toString()).toBe('right');
  });

  test('that do not exist are rejected with similar names', async () => {
    const store = open(scratch());
    await expect(store.load('a')).rejects.toMatchObject({ code: 'artifact/unknown', data: { name: 'a', nearest: [] } });
    for (const name of ['out/report.txt', 'out/other.bin', 'user:report.txt']) await store.save(name, bytes('x'), TEXT);
    await expect(store.load('out/reprot.txt')).rejects.toMatchObject({
      message: 'unknown artifact "out/reprot.txt"',
      hint: 'did you mean "out/report.txt"?',
      data: { name: 'out/reprot.txt', nearest: ['out/report.txt'] },
    });
  });

  test('have names like files; other names are rejected and create nothing', async () => {
    const directory = path.join(scratch(), 'store');
    const store = open(directory);
    const names = [
      '',
      '../x',
      'a/../../x',
      '/etc/x',
      'user:',
      'user:../x',
      'user:/x',
      'other:x',
      'a\\b',
      'a\nb',
      'a\u202eb',
      'a@3',
      'x'.repeat(300),
    ];
    const refused = await Promise.all(
      names.map((name) =>
        store.save(name, bytes('x'), TEXT).then(
          () => name,
          (error: { code: string }) => error.code,
        ),
      ),
    );
    expect(refused).toEqual(names.map(() => 'input/invalid'));
    expect(existsSync(directory)).toBe(false);
    expect(await store.save('./a//b', bytes('x'), TEXT)).toMatchObject({ name: 'a/b' });
    for (const name of ['ü/日本.txt', 'A', 'a@b', 'con', '__proto__', `${'d/'.repeat(300)}x`])
      expect(await store.save(name, bytes(name), TEXT)).toMatchObject({ name, version: 0 });
    expect((await store.list()).length).toBe(7);
  });

  test('that are too large or fail while being read leave nothing behind', async () => {
    const directory = scratch();
    const store = open(directory, { maxBytes: 10 });
    await expect(store.save('a', [bytes('12345'), bytes('678901')], TEXT)).rejects.toMatchObject({
      code: 'input/invalid',
    });
    const broken = function* (): Iterable<Uint8Array> {
      yield bytes('123');
      throw new RangeError('the file changed');
    };
    await expect(store.save('a', broken(), TEXT)).rejects.toThrow('the file changed');
    expect(['blobs', 'incoming'].map((folder) => readdirSync(path.join(directory, folder)))).toEqual([[], []]);
    expect(await store.list()).toEqual([]);
    expect(await store.save('a', bytes('1234567890'), TEXT)).toMatchObject({ version: 0 });
  });

  test('are private to their owner', async () => {
    const directory = path.join(scratch(), 'store');
    await open(directory).save('a', bytes('x'), TEXT);
    const modes = ['blobs', 'names', 'incoming', `blobs/${sha256('x')}`, `names/${sha256('a')}/0/record.json`].map(
      (name) => (statSync(path.join(directory, name)).mode & 0o777).toString(8),
    );
    expect(modes).toEqual(['700', '700', '700', '600', '600']);
  });

  test('with invalid records are ignored', async () => {
    const directory = scratch();
    const store = open(directory);
    await store.save('a', bytes('good'), TEXT);
    const folder = path.join(directory, 'names', sha256('a'));
    const records = [
      '',
      'null',
      '{}',
      '{"name":"a"}',
      '{"name":"b","digest":"x","bytes":1,"mediaType":"","savedAt":""}',
    ];
    for (const [place, text] of records.entries()) {
      mkdirSync(path.join(folder, String(place + 1)));
      writeFileSync(path.join(folder, String(place + 1), 'record.json'), text);
    }
    mkdirSync(path.join(folder, '6'));
    symlinkSync(path.join(folder, '0/record.json'), path.join(folder, '6/record.json'));
    mkdirSync(path.join(folder, 'stray'));
    expect((await store.versions('a')).map((one) => one.version)).toEqual([0]);
    expect(await store.save('a', bytes('next'), TEXT)).toMatchObject({ version: 7 });
  });

  test('left unfinished by a killed process are removed later', async () => {
    const directory = scratch();
    const store = open(directory);
    await store.save('a', bytes('x'), TEXT);
    const incoming = path.join(directory, 'incoming');
    mkdirSync(path.join(incoming, 'old'));
    for (const name of ['old/content', 'stale', 'fresh']) writeFileSync(path.join(incoming, name), 'x');
    const now = Date.parse(NOW) / 1000;
    for (const name of ['old', 'stale']) utimesSync(path.join(incoming, name), now - 4000, now - 4000);
    utimesSync(path.join(incoming, 'fresh'), now - 10, now - 10);
    await store.save('a', bytes('y'), TEXT);
    expect(readdirSync(incoming)).toEqual(['fresh']);
  });

  test('in a read-only folder fail with a reason', needs('an ordinary user'), async () => {
    const directory = scratch();
    chmodSync(directory, 0o500);
    await expect(open(directory).save('a', bytes('x'), TEXT)).rejects.toMatchObject({ code: 'io/failed' });
  });

  test('fail with a reason if another file is in the way', async () => {
    const directory = scratch();
    writeFileSync(path.join(directory, 'names'), 'a file');
    await expect(open(directory).save('a', bytes('x'), TEXT)).rejects.toMatchObject({ code: 'io/failed' });
    await expect(open(directory).list()).rejects.toMatchObject({ code: 'io/failed' });
    rmSync(path.join(directory, 'names'));
    expect(await open(directory).save('a', bytes('x'), TEXT)).toMatchObject({ version: 0 });
    expect(readFileSync(path.join(directory, 'names', sha256('a'), '0', 'content'), 'utf8')).toBe('x');
  });
});

describe('a store of a project', () => {
  test.each([
    '.agent',
    '.agent/artifacts',
    ...['blobs', 'incoming', 'names'].map((name) => `.agent/artifacts/${name}`),
  ])('neither writes nor reads behind a link at %s', async (name) => {
    const project = scratch();
    mkdirSync(path.join(project, '.git'));
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    symlinkSync(path.join(project, '.git'), path.join(project, name));
    const store = openFileArtifacts(path.join(project, '.agent/artifacts'), { project });
    const message = `artifacts are not kept behind the link ${JSON.stringify(path.join(project, name))}, which could lead to files of other tools`;
    await expect(store.save('report.txt', bytes('x'), TEXT)).rejects.toMatchObject({ code: 'io/failed', message });
    await expect(store.list()).rejects.toMatchObject({ message });
    expect(readdirSync(path.join(project, '.git'))).toEqual([]);
  });

  test('does not write a version behind a link of its name', async () => {
    const project = scratch();
    const names = path.join(project, '.agent/artifacts/names');
    mkdirSync(path.join(project, '.git'));
    mkdirSync(names, { recursive: true });
    symlinkSync(path.join(project, '.git'), path.join(names, sha256('report.txt')));
    const store = openFileArtifacts(path.join(project, '.agent/artifacts'), { project });
    await expect(store.save('report.txt', bytes('x'), TEXT)).rejects.toMatchObject({ code: 'io/failed' });
    expect(readdirSync(path.join(project, '.git'))).toEqual([]);
  });
});
