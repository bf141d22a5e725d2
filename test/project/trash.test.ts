import { mkdirSync, readFileSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { sha256 } from '../../src/platform/hash.ts';
import { deleteFile } from '../../src/project/trash.ts';
import { placed, world, type World } from './support.ts';

const AT = new Date('2026-01-31T23:59:59.123Z');

function remove(here: World, file: string) {
  return deleteFile({ type: 'delete_file', path: file }, placed(here, file, 'write'), { at: AT });
}

describe('delete_file', () => {
  test('moves a file to the trash of the project, with a record, ignored by git', () => {
    const here = world({ 'project/src/old.ts': 'old' });
    const { project } = here.places;
    const deleted = remove(here, 'src/old.ts');
    expect(deleted).toEqual({
      type: 'file-deleted',
      action: 'delete_file',
      path: 'src/old.ts',
      trash: expect.stringMatching(/^\.agent\/trash\/20260131T235959Z-[0-9a-f]{8}\/src\/old\.ts$/),
      digest: `sha256:${sha256('old')}`,
      bytes: 3,
      mode: expect.any(Number),
    });
    const trash = deleted.type === 'file-deleted' ? deleted.trash : '';
    expect(readFileSync(path.join(project, trash), 'utf8')).toBe('old');
    expect(
      JSON.parse(readFileSync(path.join(project, trash, '../../..', `${trash.split('/')[2] ?? ''}.json`), 'utf8')),
    ).toEqual({
      from: 'src/old.ts',
      deletedAt: AT.toISOString(),
    });
    expect(readFileSync(path.join(project, '.agent/trash/.gitignore'), 'utf8')).toBe('*\n');
    expect(readdirSync(path.join(project, 'src'))).toEqual([]);
  });

  test('keeps two files with the same name and second apart', () => {
    const here = world();
    const first = remove(here, 'a.txt');
    renameSync(path.join(here.base, 'secret/key.txt'), path.join(here.places.project, 'a.txt'));
    const second = remove(here, 'a.txt');
    expect(first).not.toEqual(second);
    expect(readdirSync(path.join(here.places.project, '.agent/trash'))).toHaveLength(5);
  });

  test('moves workspace files to the trash of the workspace', () => {
    const here = world();
    expect(remove(here, 'workspace://work/b.txt')).toMatchObject({
      path: 'workspace://work/b.txt',
      trash: expect.stringMatching(/^workspace:\/\/\.trash\/20260131T235959Z-[0-9a-f]{8}\/work\/b\.txt$/),
    });
  });

  test('rejects folders and missing files', () => {
    const here = world({ 'project/folder/x': '' });
    expect(remove(here, 'none')).toMatchObject({ code: 'file/missing' });
    expect(readdirSync(here.places.project)).toEqual(['a.txt', 'folder']);
    expect(remove(here, 'folder')).toMatchObject({ code: 'file/directory' });
    expect(readdirSync(path.join(here.places.project, 'folder'))).toEqual(['x']);
  });

  test('deletes nothing if the trash is outside or the file became a link', () => {
    const here = world({ 'project/docs/x': 'x' });
    const { project } = here.places;
    const judged = placed(here, 'docs/x', 'write');
    mkdirSync(path.join(here.base, 'elsewhere'));
    symlinkSync('../elsewhere', path.join(project, '.agent'));
    expect(remove(here, 'a.txt')).toMatchObject({ code: 'file/unwritable' });
    expect(readdirSync(path.join(here.base, 'elsewhere'))).toEqual([]);
    renameSync(path.join(project, '.agent'), path.join(project, 'other'));
    renameSync(path.join(project, 'docs'), path.join(project, 'moved'));
    symlinkSync('../secret', path.join(project, 'docs'));
    expect(deleteFile({ type: 'delete_file', path: 'docs/x' }, judged)).toMatchObject({ code: 'file/changed' });
    expect(readdirSync(path.join(here.base, 'secret'))).toEqual(['key.txt']);
  });

  test('follows no link to the trash, also within the project', () => {
    const here = world({ 'project/.git/x': '', 'project/.agent': '-> .git' });
    expect(remove(here, 'a.txt')).toMatchObject({ code: 'file/unwritable' });
    expect(readdirSync(path.join(here.places.project, '.git'))).toEqual(['x']);
  });
});
