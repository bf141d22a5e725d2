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

import { previewWrite, writeFile, type WriteFileOptions } from '../../src/project/write-file.ts';
import { sha256 } from '../../src/platform/hash.ts';
import { placed, world, type World } from './support.ts';

function write(here: World, file: string, content: string, options?: WriteFileOptions) {
  return writeFile({ type: 'write_file', path: file, content }, placed(here, file, 'write'), options);
}

describe('write_file', () => {
  test('creates a file and its missing folders', () => {
    const here = world();
    const written = write(here, 'new/deep/x.txt', 'grüße\n');
    expect(written).toEqual({
      type: 'file-written',
      action: 'write_file',
      path: 'new/deep/x.txt',
      bytes: 8,
      digest: `sha256:${sha256('grüße\n')}`,
      mode: lstatSync(path.join(here.places.project, 'new/deep/x.txt')).mode & 0o777,
    });
    expect(readFileSync(path.join(here.places.project, 'new/deep/x.txt'), 'utf8')).toBe('grüße\n');
    expect(readdirSync(path.join(here.places.project, 'new/deep'))).toEqual(['x.txt']);
  });

  test('replaces a file, reports its old digest, and keeps its permissions', () => {
    const here = world({ 'project/run.sh': 'old' });
    const file = path.join(here.places.project, 'run.sh');
    chmodSync(file, 0o750);
    const written = write(here, 'run.sh', 'new');
    expect(written).toMatchObject({ replaced: `sha256:${sha256('old')}` });
    expect([readFileSync(file, 'utf8'), lstatSync(file).mode & 0o777]).toEqual(['new', 0o750]);
    expect(readdirSync(here.places.project)).toEqual(['.agent', 'a.txt', 'run.sh']);
    const kept = path.join(here.places.project, ('kept' in written && written.kept) || '');
    expect([readFileSync(kept, 'utf8'), lstatSync(kept).mode & 0o777]).toEqual(['old', 0o600]);
  });

  test('writes to the workspace', () => {
    const here = world();
    expect(write(here, 'workspace://out/x.txt', 'x')).toMatchObject({ path: 'workspace://out/x.txt' });
    expect(readFileSync(path.join(here.places.workspace, 'out/x.txt'), 'utf8')).toBe('x');
  });

  test('leaves the other hard link of a file unchanged', () => {
    const here = world();
    const outside = path.join(here.base, 'secret/key.txt');
    linkSync(outside, path.join(here.places.project, 'key.txt'));
    expect(write(here, 'key.txt', 'mine')).toMatchObject({ type: 'file-written' });
    expect(readFileSync(outside, 'utf8')).toBe('SECRET');
  });

  test('accepts names of the maximum length', () => {
    const here = world();
    expect(write(here, 'n'.repeat(255), 'x')).toMatchObject({ type: 'file-written' });
  });

  test('rejects content of more than 4 MiB, folders, and replacing a huge file', () => {
    const here = world({ 'project/folder/x': '', 'project/huge': '' });
    truncateSync(path.join(here.places.project, 'huge'), 2 ** 36);
    expect(write(here, 'x', 'ü'.repeat(2 * 1024 * 1024 + 1))).toMatchObject({ code: 'file/too-large' });
    expect(write(here, 'folder', 'x')).toMatchObject({ code: 'file/directory' });
    expect(write(here, 'huge', 'x')).toMatchObject({ code: 'file/too-large' });
    expect(readdirSync(here.places.project)).toEqual(['a.txt', 'folder', 'huge']);
  });

  test('follows no link that replaced the file or a folder after it was resolved', () => {
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

  test('writes nothing if the file differs from the approved preview', () => {
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

  test('explains in a note why the current file is not shown', () => {
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
