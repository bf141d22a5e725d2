/** Runs with their subagents: they are kept, removed and named together. */
import { closeSync } from 'node:fs';
import path from 'node:path';

import { isSkillError, nearest, quoted, SkillError, type RunInfo } from '#core';
import { isInside, realPath, tryRealPath } from '#platform';
import { LineReader, openJournal } from './journal-lines.ts';
import { infoFromEvents } from './journal-reader.ts';
import { listRuns, runIds, type ListedRun } from './run-folder.ts';

export interface RunUnit {
  /** The run that the user started, or a subagent whose run is gone. */
  readonly run: ListedRun;
  /** Its subagents and theirs, newest first. */
  readonly subagents: readonly ListedRun[];
}

/** Newest start first. */
export function runUnits(runs: readonly ListedRun[]): readonly RunUnit[] {
  const parents = new Map(runs.map((run) => [run.id, recordedInfo(run)?.parent]));
  const roots = new Map(runs.map(({ id }) => [id, findRoot(id, parents)]));
  return runs
    .filter(({ id }) => roots.get(id) === id)
    .map((run) => ({ run, subagents: runs.filter(({ id }) => id !== run.id && roots.get(id) === run.id) }));
}

function findRoot(id: string, parents: ReadonlyMap<string, string | undefined>): string {
  const seen = new Set<string>();
  for (let at = id; ;) {
    seen.add(at);
    const parent = parents.get(at);
    if (parent === undefined || !parents.has(parent)) return at;
    // Forged records can name each other.
    if (seen.has(parent)) return id;
    at = parent;
  }
}

/** Whether a run has a first event. A kill before it leaves a folder of a run that did nothing. */
export function hasBegun({ path: place, reading }: ListedRun): boolean {
  if (reading.type !== 'absent') return true;
  const opened = openJournal(place);
  if (opened.type !== 'open') return opened.type === 'failed';
  try {
    return new LineReader(opened.descriptor).lines().next().done !== true;
  } finally {
    closeSync(opened.descriptor);
  }
}

/** From `run.json`, or from the events if that file is missing or damaged. */
export function recordedInfo({ path: place, reading }: ListedRun): RunInfo | undefined {
  if (reading.type === 'run') return reading.info;
  try {
    return reading.type === 'newer' ? undefined : infoFromEvents(place);
  } catch (error) {
    if (isSkillError(error)) return undefined;
    throw error;
  }
}

/** The run that was started last: not a subagent, and not one that was killed before its first event. */
function lastRun(directory: string): ListedRun | undefined {
  return listRuns(directory).find((run) => hasBegun(run) && recordedInfo(run)?.parent === undefined);
}

/** Finds a run by its id, by a unique prefix, or by `last`. Throws `run/unknown`. */
export function findRun(directory: string, name: string): string {
  const newest = name === 'last' ? lastRun(directory) : undefined;
  if (newest !== undefined) return newest.path;
  const ids = runIds(directory);
  const meant = ids.includes(name) ? [name] : ids.filter((id) => name !== '' && id.startsWith(name));
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return path.join(directory, only);
  const near = meant.length > 1 ? meant.slice(0, 3) : nearest(name, ids);
  const many = `${quoted(name)} is a prefix of ${String(meant.length)} runs`;
  throw new SkillError({
    code: 'run/unknown',
    message: meant.length > 1 ? many : `there is no run ${quoted(name)} in ${quoted(directory, 200)}`,
    hint: near.length === 0 ? 'list the runs with skillwright runs list' : `the nearest runs are ${near.join(', ')}`,
    data: { name, nearest: near },
  });
}

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
