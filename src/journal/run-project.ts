/** The project that a recorded run worked in. */
import path from 'node:path';

import type { RunInfo } from '#core';
import { isInside, realPath, tryRealPath } from '#platform';

export interface ProjectSearch {
  /** The folder of the record. */
  readonly folder: string;
  /** The current project, and where its runs are recorded. */
  readonly cwd: string;
  readonly directory: string;
  /** The record has a valid seal of this user, so that the project it names is where the user worked. */
  readonly isSealed: boolean;
  /** The chain beside the record does not announce it: it was copied there from another project (default: false). */
  readonly isCopied?: boolean;
}

/**
 * Returns undefined if the record does not tell. A record that lies in a project belongs to it, also after the project was moved or
 * copied with its chain; one from elsewhere names its project, and is believed only with a seal.
 */
export function projectOfRun(
  { project: named }: Pick<RunInfo, 'project'>,
  { folder, cwd, directory, isSealed, isCopied = false }: ProjectSearch,
): string | undefined {
  const runs = realPath(path.dirname(folder));
  const here = realPath(cwd);
  const recorded = named === undefined ? undefined : tryRealPath(named);
  if (recorded !== undefined && (recorded === here || isInside(runs, recorded))) return recorded;
  if (isCopied && named !== undefined) return isSealed ? recorded : undefined;
  if (runs === realPath(directory) && (named === undefined || isInside(runs, here))) return here;
  if (runs.endsWith(path.join(path.sep, '.agent', 'runs'))) return path.dirname(path.dirname(runs));
  return isSealed ? recorded : undefined;
}
