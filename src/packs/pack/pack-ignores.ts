import { parseIgnore } from '#core';

/** Files that exclude files from packs; later files take precedence. */
export const IGNORE_FILES = ['.gitignore', '.skillignore'] as const;

/** Files of repositories, editors, systems and interpreters. An ignore file can include them with `!`. */
const ALWAYS = [
  '.git',
  '.hg/',
  '.svn/',
  '.gitignore',
  '.gitattributes',
  '.gitmodules',
  '.skillignore',
  '.DS_Store',
  '._*',
  '__MACOSX/',
  'Thumbs.db',
  'desktop.ini',
  '*~',
  '*.sw[op]',
  '.idea/',
  '.vscode/',
  'node_modules/',
  '__pycache__/',
  '*.py[co]',
  '.venv/',
  '.pytest_cache/',
];

/** Rules that precede those of all files. */
export const BUILT_IN_IGNORES: readonly ReturnType<typeof parseIgnore>[number][] = parseIgnore(ALWAYS.join('\n'), {
  folder: '',
  file: '',
});
