import { existsSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '#core';

/** The path of a file or folder in `dist`. This module is two folders below the package in the sources, when compiled, and in both bundles. */
export function builtFile(name: string): string {
  const file = path.join(import.meta.dirname, '../../dist', name);
  if (existsSync(file)) return file;
  throw new SkillError({
    code: 'io/failed',
    message: `${name} is missing from this installation`,
    hint: 'install skillwright again; in a clone, run npm run build',
    data: { path: file, cause: 'missing' },
  });
}
