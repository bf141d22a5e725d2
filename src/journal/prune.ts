/** Removes old runs by age and by total size, oldest first. Runs that may be in progress are kept. */
import { lstatSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../core/errors.ts';
import { quoted } from '../core/text/text.ts';
import { thisProcess } from '../platform/fs/lock-owner.ts';
import { isPresent, isSystemError } from '../platform/fs/paths.ts';
import { removeTree } from '../platform/fs/remove-tree.ts';
import { foreignReason, listRuns, runLife } from './run-folder.ts';
import type { ListedRun } from './run-folder.ts';

export interface PruneOptions {
  readonly directory: string;
  /** Removes runs that started longer ago. */
  readonly olderThanMs?: number;
  /** Removes the oldest runs until the rest fits. */
  readonly maxBytes?: number;
  /** Keeps this many of the newest runs in any case. */
  readonly keep?: number;
  /** Reports what would be removed without removing it. */
  readonly dryRun?: boolean;
  readonly now?: () => Date;
}

export interface PrunedRun {
  readonly id: string;
  readonly bytes: number;
  readonly reason: 'age' | 'size';
}

export interface Pruning {
  readonly removed: readonly PrunedRun[];
  /** The number of runs kept, and their size. */
  readonly kept: number;
  readonly keptBytes: number;
  /** How many of the kept runs may be in progress. */
  readonly running: number;
}

/** Folders with this prefix are not runs; the next prune removes them. */
const REMOVED = '.removed-';
/** A folder without run.json may belong to a run that is just starting. */
const UNKNOWN_MS = 60 * 60_000;

/** Throws `io/failed` if the directory is a link or belongs to another user. */
export async function pruneRuns(options: PruneOptions): Promise<Pruning> {
  const { directory, dryRun = false, now = () => new Date() } = options;
  if (!isPresent(directory)) return { removed: [], kept: 0, keptBytes: 0, running: 0 };
  const reason = foreignReason(directory);
  if (reason !== undefined) throw notPruned(directory, reason);
  const asker = thisProcess();
  const sized = listRuns(directory).map((run) => ({
    id: run.id,
    path: run.path,
    bytes: bytesBelow(run.path),
    startedAt: startOf(run),
    isFree: isFree(run, now().getTime(), asker),
  }));
  const removed = choose(sized, options, now().getTime());
  const gone = new Set(removed.map(({ id }) => id));
  if (!dryRun) {
    for (const { id } of removed) await removeRun(directory, id);
    await removeLeftovers(directory);
  }
  const stay = sized.filter(({ id }) => !gone.has(id));
  return {
    removed,
    kept: stay.length,
    keptBytes: stay.reduce((sum, { bytes }) => sum + bytes, 0),
    running: stay.filter((run) => !run.isFree).length,
  };
}

interface SizedRun {
  readonly id: string;
  readonly bytes: number;
  readonly startedAt: number;
  readonly isFree: boolean;
}

/** `runs` are sorted newest first; the result is sorted oldest first. */
function choose(
  runs: readonly SizedRun[],
  { olderThanMs, maxBytes, keep = 0 }: PruneOptions,
  now: number,
): readonly PrunedRun[] {
  const candidates = runs.filter(({ isFree }, place) => isFree && place >= keep).toReversed();
  let total = runs.reduce((sum, { bytes }) => sum + bytes, 0);
  const removed: PrunedRun[] = [];
  for (const { id, bytes, startedAt } of candidates) {
    const isOld = olderThanMs !== undefined && startedAt < now - olderThanMs;
    const isTooMuch = maxBytes !== undefined && total > maxBytes;
    if (!isOld && !isTooMuch) continue;
    removed.push({ id, bytes, reason: isOld ? 'age' : 'size' });
    total -= bytes;
  }
  return removed;
}

/** Whether no process writes to the run. Unreadable runs are kept while they are recent. */
function isFree({ path: place, reading }: ListedRun, now: number, asker: ReturnType<typeof thisProcess>): boolean {
  if (reading.type === 'run') return runLife(reading.info, asker) !== 'running';
  const stats = lstatSync(place, { throwIfNoEntry: false });
  return stats !== undefined && stats.mtimeMs < now - UNKNOWN_MS;
}

/** From the id, which editing a file cannot change. */
function startOf({ id }: ListedRun): number {
  const [, year, month, day, hour, minute, second] = TIME.exec(id) ?? [];
  return Date.parse(
    `${String(year)}-${String(month)}-${String(day)}T${String(hour)}:${String(minute)}:${String(second)}Z`,
  );
}

const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/;

/** The folder is renamed first, so that a kill in between leaves nothing that looks like a run. */
async function removeRun(directory: string, id: string): Promise<void> {
  const place = path.join(directory, `${REMOVED}${id}`);
  try {
    renameSync(path.join(directory, id), place);
  } catch (error) {
    // Another prune removed it.
    if (isSystemError(error) && error.code === 'ENOENT') return;
    throw error;
  }
  await removeTree(place);
}

async function removeLeftovers(directory: string): Promise<void> {
  for (const name of readdirSync(directory)) if (name.startsWith(REMOVED)) await removeTree(path.join(directory, name));
}

function bytesBelow(folder: string): number {
  let bytes = 0;
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const place = path.join(folder, entry.name);
      // A run has one level of folders; deeper files are removed as well but not counted.
      bytes += entry.isDirectory() ? filesIn(place) : sizeOf(place);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
  return bytes;
}

function filesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + sizeOf(path.join(folder, name)), 0);
}

function sizeOf(place: string): number {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.size : 0;
}

function notPruned(directory: string, reason: string): SkillError {
  return new SkillError({
    code: 'io/failed',
    message: `nothing was removed from ${quoted(directory, 200)}: ${reason}`,
    hint: 'prune the folder that contains the runs',
    data: { path: directory, cause: reason },
  });
}
