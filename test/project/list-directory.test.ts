import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { listDirectory } from '../../src/project/list-directory.ts';
import { placed, world, type World } from './support.ts';

function list(here: World, folder: string, depth?: number) {
  return listDirectory({ type: 'list_dir', path: folder, depth }, placed(here, folder));
}

function names(here: World, folder: string, depth?: number): readonly string[] {
  const listed = list(here, folder, depth);
  return listed.type === 'failed' ? [listed.code] : listed.entries.map((entry) => entry.path);
}

describe('list_dir', () => {
  test('leaves out the bookkeeping at the top of a workspace', () => {
    const here = world({ 'workspace/.owner': '1', 'workspace/.copies/pdf/SKILL.md': '', 'workspace/work/.env': 'A=1' });
    expect(names(here, 'workspace://', 3)).toEqual(['metadata.json', 'work', 'work/.env', 'work/b.txt']);
  });

  test('lists a folder, sorted, hidden files included, links not followed', () => {
    const here = world({
      'project/b/inner.txt': 'inner',
      'project/.env': 'KEY=1',
      'project/link': '-> ../secret',
      'project/broken': '-> nowhere',
    });
    execFileSync('mkfifo', [path.join(here.places.project, 'pipe')]);
    expect(list(here, '.')).toEqual({
      type: 'directory-listed',
      action: 'list_dir',
      path: '.',
      entries: [
        { path: '.env', kind: 'file', bytes: 5 },
        { path: 'a.txt', kind: 'file', bytes: 10 },
        { path: 'b', kind: 'folder', bytes: 0 },
        { path: 'broken', kind: 'link', bytes: 0 },
        { path: 'link', kind: 'link', bytes: 0 },
        { path: 'pipe', kind: 'other', bytes: 0 },
      ],
      isCut: false,
    });
  });

  test('lists to the requested depth, but not .git, node_modules and the trash', () => {
    const here = world({
      'project/.git/config': '',
      'project/node_modules/x/index.js': '',
      'project/.agent/trash/1/old.txt': '',
      'project/src/deep/er/f.ts': '',
    });
    expect(names(here, '.', 2)).toEqual(['.agent', '.agent/trash', '.git', 'a.txt', 'node_modules', 'src', 'src/deep']);
    expect(names(here, '.', 5).slice(-4)).toEqual(['src', 'src/deep', 'src/deep/er', 'src/deep/er/f.ts']);
    expect(names(here, 'src', 2)).toEqual(['deep', 'deep/er']);
    expect(names(here, '.git')).toEqual(['config']);
    expect([0, 6, 1.5, -1].map((depth) => names(here, '.', depth))).toEqual(
      Array.from({ length: 4 }, () => ['input/invalid']),
    );
  });

  test('lists at most 1,000 entries, the shallow ones first', () => {
    const here = world();
    for (let count = 0; count < 1100; count += 1) {
      const folder = path.join(here.places.project, count < 600 ? 'one' : 'two');
      mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, String(count).padStart(4, '0')), '');
    }
    const listed = list(here, '.', 3);
    expect(listed).toMatchObject({ isCut: true });
    expect(listed.type === 'directory-listed' && listed.entries).toHaveLength(1000);
    expect(listed.type === 'directory-listed' && listed.entries.filter(({ kind }) => kind === 'folder')).toHaveLength(
      2,
    );
  });

  test('omits names that are not valid paths, and reports it', () => {
    const here = world();
    writeFileSync(path.join(here.places.project, 'new\nline'), '');
    writeFileSync(path.join(here.places.project, 'turn\u202eed'), '');
    expect(list(here, '.')).toMatchObject({ entries: [{ path: 'a.txt' }], isCut: true });
  });

  test('rejects a file, and detects a link that replaced the folder', () => {
    const here = world({ 'project/docs/x': '' });
    expect(list(here, 'a.txt')).toMatchObject({ code: 'file/missing', message: '"a.txt" is a file, not a folder' });
    const judged = placed(here, 'docs');
    renameSync(path.join(here.places.project, 'docs'), path.join(here.places.project, 'moved'));
    symlinkSync('../secret', path.join(here.places.project, 'docs'));
    expect(listDirectory({ type: 'list_dir', path: 'docs' }, judged)).toMatchObject({ code: 'file/changed' });
  });
});
