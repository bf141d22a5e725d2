import path from 'node:path';

import { tryRealPath } from '#platform';
import { programsOfGit } from './git-programs.ts';
import type { NamedFiles } from './set-aside.ts';

/** What git runs and obeys in a folder that it takes for a repository, whatever the folder is called. */
const RUN_BY_GIT: ReadonlySet<string> = new Set(['HEAD', 'config', 'config.worktree', 'commondir', 'hooks', 'info']);

function isRepository(names: ReadonlySet<string>): boolean {
  return names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs')));
}

export interface NameRules {
  /** Files that other tools run or obey: read-only also in a writable folder. */
  readonly isProtected: (relative: string) => boolean;
  readonly skillRoots: readonly string[];
}

/** For one search of a folder. */
export function openNamedFiles(source: string, { isProtected, skillRoots }: NameRules): NamedFiles {
  const roots = new Set(skillRoots.map((root) => tryRealPath(root) ?? root));
  const ofGit = new Set<string>();
  return {
    ofGit,
    enter: (folder, names) => {
      const place = path.join(source, folder);
      if (names.has('.git')) for (const file of programsOfGit(place, source)) ofGit.add(path.relative(source, file));
      const isBare = isRepository(names);
      return (relative, name) =>
        isProtected(relative) ||
        ofGit.has(relative) ||
        (isBare && RUN_BY_GIT.has(name)) ||
        roots.has(path.join(source, relative));
    },
  };
}
