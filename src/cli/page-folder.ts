import { existsSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../core/errors.ts';

/** The built page lies beside the command; a checkout that runs from its sources has it in dist. */
export function pageFolder(): string {
  const folder = ['../console', '../../dist/console']
    .map((place) => path.join(import.meta.dirname, place))
    .find((place) => existsSync(path.join(place, 'index.html')));
  if (folder !== undefined) return folder;
  throw new SkillError({
    code: 'io/failed',
    message: 'the files of the console are missing from this installation',
    hint: 'install skillwright again; in a checkout run npm run build',
    data: { path: path.join(import.meta.dirname, '../console'), cause: 'missing' },
  });
}
