import { describe, expect, test } from 'vitest';

import { listDirectory } from '../../src/project/list-directory.ts';
import { filesToSearch } from '../../src/project/files-to-search.ts';
import { placed, world } from './support.ts';

const TREE = {
  'project/.gitignore': 'dist/\n*.log\n!keep.log\n',
  'project/dist/out.js': '',
  'project/debug.log': '',
  'project/keep.log': '',
  'project/pkg/.gitignore': '/made\n',
  'project/pkg/made/x': '',
  'project/pkg/src/made': '',
  'project/pkg/src/a.log': '',
} as const;

describe('files that git ignores', () => {
  test('are left out of listings, by the files of every folder', () => {
    const here = world(TREE);
    const listed = listDirectory({ type: 'list_dir', path: '.', depth: 3 }, placed(here, '.'));
    expect(listed.type === 'directory-listed' && listed.entries.map(({ path }) => path)).toEqual([
      '.gitignore',
      'a.txt',
      'keep.log',
      'pkg',
      'pkg/.gitignore',
      'pkg/src',
      'pkg/src/made',
    ]);
  });

  test('are not searched, unless their folder is named', async () => {
    const here = world(TREE);
    const found = async (folder: string): Promise<unknown> => {
      const search = await filesToSearch(placed(here, folder), {});
      return search.type === 'files' && search.files;
    };
    expect(await found('.')).toEqual(['.gitignore', 'a.txt', 'keep.log', 'pkg/.gitignore', 'pkg/src/made']);
    expect(await found('dist')).toEqual(['dist/out.js']);
  });

  test('an ignore file that is a link, a folder or huge is not read', () => {
    const here = world({
      'project/.gitignore': '-> ../secret/key.txt',
      'project/one/.gitignore/x': '',
      'project/two/.gitignore': 'x\n'.repeat(200_000),
      'project/two/x': '',
    });
    const listed = listDirectory({ type: 'list_dir', path: 'two' }, placed(here, 'two'));
    expect(listed).toMatchObject({ entries: [{ path: '.gitignore' }, { path: 'x' }] });
    expect(listDirectory({ type: 'list_dir', path: '.' }, placed(here, '.'))).toMatchObject({ isCut: false });
  });
});
