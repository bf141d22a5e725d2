import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { resolvePath } from '../../src/project/resolve-path.ts';
import { readFile, type ReadFileLimits } from '../../src/project/read-file.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { RIGHT, startSwapping } from '../platform/fs/swap-race.ts';
import { placed, world, type World } from './support.ts';
import { needs } from '../needs.ts';

function read(
  here: World,
  file: string,
  more: { lines?: { from: number; to?: number }; limits?: ReadFileLimits } = {},
) {
  const { lines, limits } = more;
  return readFile({ type: 'read_file', path: file, lines }, placed(here, file), limits);
}

describe('read_file', () => {
  test('returns a small file whole, with its digest', () => {
    const here = world({ 'project/src/main.ts': 'one\ntwo\n' });
    expect(read(here, 'src/main.ts')).toEqual({
      type: 'file-read',
      action: 'read_file',
      path: 'src/main.ts',
      mediaType: 'text/x-typescript',
      isBinary: false,
      text: 'one\ntwo\n',
      lines: { from: 1, to: 2 },
      totalLines: 2,
      bytes: 8,
      digest: `sha256:${sha256('one\ntwo\n')}`,
      truncated: false,
      notes: [],
    });
  });

  test('returns the requested lines; a last line beyond the end means the end', () => {
    const here = world({ 'project/n.txt': '1\n2\n3\n4' });
    const parts = [{ from: 2, to: 3 }, { from: 3 }, { from: 4, to: 99 }].map((lines) => read(here, 'n.txt', { lines }));
    expect(parts.map((part) => part.type === 'file-read' && [part.text, part.lines])).toEqual([
      ['2\n3\n', { from: 2, to: 3 }],
      ['3\n4', { from: 3, to: 4 }],
      ['4', { from: 4, to: 4 }],
    ]);
    const wrong = [{ from: 0 }, { from: 5 }, { from: 3, to: 2 }, { from: 1.5 }, { from: Number.NaN }];
    expect(wrong.map((lines) => read(here, 'n.txt', { lines }))).toEqual(
      wrong.map(() => expect.objectContaining({ type: 'failed', code: 'lines/invalid' })),
    );
  });

  test('returns an empty file', () => {
    const here = world({ 'project/empty': '' });
    expect(read(here, 'empty')).toMatchObject({ text: '', lines: { from: 0, to: 0 }, totalLines: 0, truncated: false });
  });

  test('stops after 2,000 lines and reports where to continue', () => {
    const here = world({ 'project/long.txt': 'x\n'.repeat(5000) });
    expect(read(here, 'long.txt')).toMatchObject({
      lines: { from: 1, to: 2000 },
      totalLines: 5000,
      truncated: true,
      notes: ['truncated after line 2000 of 5000; continue with lines from 2001'],
    });
    expect(read(here, 'long.txt', { lines: { from: 4001 } })).toMatchObject({
      lines: { from: 4001, to: 5000 },
      notes: [],
    });
  });

  test('stops after 256 KiB, between two lines', () => {
    const here = world({ 'project/wide.txt': `${'y'.repeat(1023)}\n`.repeat(300) });
    expect(read(here, 'wide.txt')).toMatchObject({ lines: { from: 1, to: 256 }, truncated: true });
  });

  test('truncates long lines without splitting characters', () => {
    const here = world({ 'project/min.js': `${'a'.repeat(1999)}😀${'b'.repeat(100_000)}\nshort\n` });
    expect(read(here, 'min.js')).toMatchObject({
      text: `${'a'.repeat(1999)}…\nshort\n`,
      truncated: true,
      notes: ['only the first 2000 characters are shown of line 1'],
    });
  });

  test('describes binary files, rejects other encodings, removes hidden characters', () => {
    const here = world({
      'project/i.png': Buffer.from('89504e470d0a1a0a0000', 'hex'),
      'project/latin.txt': Buffer.from('caf\xe9\n', 'latin1'),
      'project/sly.md': 'safe\u202e\u200bword\u001b[2J\r\n',
    });
    expect(read(here, 'i.png')).toMatchObject({ isBinary: true, mediaType: 'image/png', text: '', bytes: 10 });
    expect(read(here, 'latin.txt')).toMatchObject({ code: 'file/not-utf8' });
    expect(read(here, 'sly.md')).toMatchObject({
      text: 'safeword\n',
      notes: ['3 hidden or control characters were removed'],
    });
  });

  test('rejects folders, pipes, sockets, devices and large files', async () => {
    const here = world({ 'project/big': '' });
    const { project } = here.places;
    mkdirSync(path.join(project, 'folder'));
    execFileSync('mkfifo', [path.join(project, 'pipe')]);
    const server = createServer().listen(path.join(project, 'socket'));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => {
      server.once('listening', resolve);
    });
    truncateSync(path.join(project, 'big'), 16 * 1024 * 1024 + 1);
    const files = ['.', 'folder', 'pipe', 'socket', 'big'];
    expect(files.map((file) => read(here, file)).map((each) => each.type === 'failed' && each.code)).toEqual([
      'file/directory',
      'file/directory',
      'file/not-regular',
      'file/not-regular',
      'file/too-large',
    ]);
  });

  test('reads hard links in the project only', () => {
    const here = world();
    const { project, workspace } = here.places;
    linkSync(path.join(here.base, 'secret/key.txt'), path.join(workspace, 'work/stolen'));
    linkSync(path.join(project, 'a.txt'), path.join(project, 'again.txt'));
    expect(read(here, 'again.txt')).toMatchObject({ text: 'project a\n' });
    expect(read(here, 'workspace://work/stolen')).toMatchObject({ code: 'path/hard-link' });
  });

  test.each([
    ['the file', 'docs/x.md', (project: string) => swap(project, 'docs/x.md', '../.env')],
    ['its folder', 'docs/x.md', (project: string) => swap(project, 'docs', 'hidden')],
  ])('detects a link that replaced %s after it was resolved', (_what, file, exchange) => {
    const here = world({ 'project/docs/x.md': 'x', 'project/.env': 'KEY', 'project/hidden/x.md': 'KEY' });
    const judged = placed(here, file);
    exchange(here.places.project);
    expect(readFile({ type: 'read_file', path: file }, judged)).toMatchObject({ type: 'failed', code: 'file/changed' });
  });

  test('never reads outside while files and folders are swapped', needs('linux'), async () => {
    const root = await startSwapping();
    const places = { project: root, skills: [] };
    const seen = new Set<string>();
    for (let count = 0; count < 3000 || (count < 200_000 && !seen.has('file/changed')); count += 1) {
      for (const file of ['leaf.md', 'sub/x.md']) {
        const found = resolvePath(file, places, 'read');
        if (found.type === 'refused') seen.add(found.failure.code);
        else {
          const read = readFile({ type: 'read_file', path: file }, found);
          seen.add(read.type === 'failed' ? read.code : read.text);
        }
      }
    }
    const possible = new Set([RIGHT, 'path/link-outside', 'file/changed', 'file/missing']);
    expect([...seen].filter((outcome) => !possible.has(outcome))).toEqual([]);
    expect([...seen]).toEqual(expect.arrayContaining([RIGHT, 'path/link-outside', 'file/changed']));
  });

  test('reports a missing project folder', () => {
    const here = world();
    const judged = placed(here, 'a.txt');
    rmSync(here.places.project, { recursive: true });
    expect(readFile({ type: 'read_file', path: 'a.txt' }, judged)).toMatchObject({ code: 'file/missing' });
    writeFileSync(here.places.project, '');
    expect(readFile({ type: 'read_file', path: 'a.txt' }, judged)).toMatchObject({ code: 'file/missing' });
  });
});

function swap(project: string, name: string, target: string): void {
  renameSync(path.join(project, name), path.join(project, 'moved'));
  symlinkSync(target, path.join(project, name));
}
