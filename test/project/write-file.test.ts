import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { previewWrite, writeFile } from '../../src/project/write-file.ts';
import type { WriteFileOptions } from '../../src/project/write-file.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { placed, world } from './support.ts';
import type { World } from './support.ts';

function write(here: World, file: string, content: string, options?: WriteFileOptions) {
  return writeFile({ type: 'write_file', path: file, content }, placed(here, file, 'write'), options);
}

describe('write_file', () => {
  test('makes a file and the folders on the way to it', () => {
    const here = world();
    expect(write(here, 'new/deep/x.txt', 'grüße\n')).toEqual({
      type: 'file-written',
      action: 'write_file',
      path: 'new/deep/x.txt',
      bytes: 8,
      digest: `sha256:${sha256('grüße\n')}`,
    });
    expect(readFileSync(path.join(here.places.project, 'new/deep/x.txt'), 'utf8')).toBe('grüße\n');
    expect(readdirSync(path.join(here.places.project, 'new/deep'))).toEqual(['x.txt']);
  });

  test('replaces a file, says what was there, and keeps its permissions', () => {
    const here = world({ 'project/run.sh': 'old' });
    const file = path.join(here.places.project, 'run.sh');
    chmodSync(file, 0o750);
    expect(write(here, 'run.sh', 'new')).toMatchObject({ replaced: `sha256:${sha256('old')}` });
    expect([readFileSync(file, 'utf8'), lstatSync(file).mode & 0o777]).toEqual(['new', 0o750]);
    expect(readdirSync(here.places.project)).toEqual(['a.txt', 'run.sh']);
  });

  test('writes to the workspace', () => {
    const here = world();
    expect(write(here, 'workspace://out/x.txt', 'x')).toMatchObject({ path: 'workspace://out/x.txt' });
    expect(readFileSync(path.join(here.places.workspace, 'out/x.txt'), 'utf8')).toBe('x');
  });

  test('leaves the other name of a file as it was', () => {
    const here = world();
    const outside = path.join(here.base, 'secret/key.txt');
    linkSync(outside, path.join(here.places.project, 'key.txt'));
    expect(write(here, 'key.txt', 'mine')).toMatchObject({ type: 'file-written' });
    expect(readFileSync(outside, 'utf8')).toBe('SECRET');
  });

  test('takes names as long as names can be', () => {
    const here = world();
    expect(write(here, 'n'.repeat(255), 'x')).toMatchObject({ type: 'file-written' });
  });

  test('refuses content of more than 4 MiB, folders, and a huge file in its way', () => {
    const here = world({ 'project/folder/x': '', 'project/huge': '' });
    truncateSync(path.join(here.places.project, 'huge'), 2 ** 36);
    expect(write(here, 'x', 'ü'.repeat(2 * 1024 * 1024 + 1))).toMatchObject({ code: 'file/too-large' });
    expect(write(here, 'folder', 'x')).toMatchObject({ code: 'file/directory' });
    expect(write(here, 'huge', 'x')).toMatchObject({ code: 'file/too-large' });
    expect(readdirSync(here.places.project)).toEqual(['a.txt', 'folder', 'huge']);
  });

  test('follows no link that took the place of the file or of a folder after it was judged', () => {
    const here = world({ 'project/docs/x.md': 'x' });
    const { project } = here.places;
    const judged = placed(here, 'docs/x.md', 'write');
    const action = { type: 'write_file', path: 'docs/x.md', content: 'MINE' } as const;
    renameSync(path.join(project, 'docs/x.md'), path.join(project, 'docs/moved'));
    symlinkSync('../../secret/key.txt', path.join(project, 'docs/x.md'));
    expect(writeFile(action, judged)).toMatchObject({ code: 'file/changed' });
    renameSync(path.join(project, 'docs'), path.join(project, 'aside'));
    symlinkSync('../secret', path.join(project, 'docs'));
    expect(writeFile(action, judged)).toMatchObject({ code: 'file/changed' });
    expect(readdirSync(path.join(here.base, 'secret'))).toEqual(['key.txt']);
    expect(readFileSync(path.join(here.base, 'secret/key.txt'), 'utf8')).toBe('SECRET');
  });

  test('writes nothing where something else is there than the person saw', () => {
    const here = world();
    const seen = previewWrite(placed(here, 'a.txt', 'write'));
    expect(seen).toEqual({ before: 'project a\n', digest: `sha256:${sha256('project a\n')}` });
    expect(write(here, 'a.txt', 'first', { seen })).toMatchObject({ type: 'file-written' });
    expect(write(here, 'a.txt', 'second', { seen })).toMatchObject({ code: 'file/changed' });
    const none = previewWrite(placed(here, 'new.txt', 'write'));
    expect(none).toEqual({ before: undefined, digest: undefined });
    expect(write(here, 'new.txt', 'first', { seen: none })).toMatchObject({ type: 'file-written' });
    expect(write(here, 'new.txt', 'second', { seen: none })).toMatchObject({ code: 'file/changed' });
    expect(readFileSync(path.join(here.places.project, 'a.txt'), 'utf8')).toBe('first');
  });

  test('shows before a write what cannot be shown as a note', () => {
    const here = world({
      'project/big.txt': 'x'.repeat(256 * 1024 + 1),
      'project/i.png': Buffer.from('89504e470d0a1a0a0000', 'hex'),
    });
    mkdirSync(path.join(here.places.project, 'folder'));
    expect(
      ['big.txt', 'i.png', 'folder'].map((file) => previewWrite(placed(here, file, 'write'))).map(({ note }) => note),
    ).toEqual([
      'the current file has 262145 bytes and is not shown',
      'the current file is not UTF-8 text (image/png)',
      'the current file cannot be shown (file/directory)',
    ]);
  });
});
