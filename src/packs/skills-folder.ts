import path from 'node:path';

import { isDirectory, isPresent } from '#platform';

/** Most clients read this folder. */
const FOLDER = '.agents/skills';
/** The folder of older projects, used if it is the only one. */
const OLDER_FOLDER = '.agent/skills';

/** The older folder beside a root, if both exist: its skills are used too. */
export function olderFolder(root: string): string | undefined {
  const older = path.join(path.dirname(path.dirname(root)), OLDER_FOLDER);
  return root.endsWith(path.join('/', FOLDER)) && isDirectory(older) ? older : undefined;
}

/** The folder for skills below a project or home folder. `new`, `install` and `pack` use the same. */
export function skillsFolder(top: string): string {
  const [own, older] = [path.join(top, FOLDER), path.join(top, OLDER_FOLDER)];
  return !isPresent(own) && isDirectory(older) ? older : own;
}
