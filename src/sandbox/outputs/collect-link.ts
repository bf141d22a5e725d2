import { readlinkSync } from 'node:fs';
import path from 'node:path';

import { isSystemError } from '../../platform/fs/paths.ts';
import type { WorkspaceFolders } from './collect-folders.ts';

/** Says of a link whether it leaves the workspace, by its words alone: it is only a name for what is not done anyway. */
export function linkReason(
  folders: WorkspaceFolders,
  name: string,
  root: string,
  programRoot: string | undefined,
): 'link' | 'link-outside' {
  const entered = folders.enter(name.slice(0, Math.max(0, name.lastIndexOf('/'))));
  if (entered.type !== 'open') return 'link';
  try {
    const target = readlinkSync(`${entered.folder.place}/${path.posix.basename(name)}`);
    const homes = [root, ...(programRoot === undefined ? [] : [programRoot])];
    const home = homes.find((start) => target === start || target.startsWith(`${start}/`));
    if (path.posix.isAbsolute(target) && home === undefined) return 'link-outside';
    const relative =
      home === undefined ? path.posix.join(path.posix.dirname(name), target) : path.posix.relative(home, target);
    return relative === '..' || relative.startsWith('../') ? 'link-outside' : 'link';
  } catch (error) {
    if (isSystemError(error)) return 'link';
    throw error;
  }
}
