import { expect, test } from 'vitest';

import { leftOutLine, findOmission, whyLeftOut } from '../../../src/packs/sources/skill-folders.ts';

test('what tools keep beside the files is left out, and what authors write for them is not', () => {
  const files = ['.DS_Store', '.ds_store', '.env', '.mcp.json', '.gitattributes', '.gitignore', '.gitkeep'];
  const kept = ['.skillignore', '.env.example', 'a.b', '_a', '__proto__', 'SKILL.md'];
  expect([...files, ...kept].filter((name) => whyLeftOut(name, 'file') !== undefined)).toEqual(files.slice(0, 5));
  const folders = ['.git', '.GIT', '.svn', '__MACOSX', '__macosx', '.claude', '.gitignore', 'scripts', '__pycache__'];
  expect(folders.filter((name) => whyLeftOut(name, 'folder') !== undefined)).toEqual(folders.slice(0, 7));
});

test('of a path the outermost name that is left out is told, with its reason', () => {
  const paths = ['a/.git/hooks/x', 'a/.mcp.json', '.claude/b/.env', '__MACOSX/a/._b', 'a/.gitignore', 'a/b\u001b/c'];
  expect(paths.map((path) => findOmission(path, 'file')).map((found) => found && leftOutLine(found))).toEqual([
    'a/.git/: version control',
    'a/.mcp.json: hidden file',
    '.claude/: hidden folder',
    '__MACOSX/: system file',
    undefined,
    undefined,
  ]);
});
