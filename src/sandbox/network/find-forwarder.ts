import { existsSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';

/** Beside this module in the build, below the bundled command, and in `dist` when running from the sources. */
const FOLDERS: readonly string[] = ['.', '../sandbox/network', '../../../dist/sandbox/network'];

/** The compiled file of a program that runs inside a sandbox. */
export function findForwarder(name: 'forwarder' | 'serve-forwarder'): string {
  const places = FOLDERS.map((folder) => path.join(import.meta.dirname, folder, `${name}.js`));
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new SkillError({
    code: 'executor/failed',
    message: `the program ${name} for sandboxes is missing`,
    hint: 'reinstall skillwright; in a clone, run npm run build',
    data: { executor: 'network', cause: `none of ${places.join(', ')}` },
  });
}
