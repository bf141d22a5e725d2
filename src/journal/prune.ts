/** Removing old runs: by age, and by what all of them take together, the oldest first. Nothing that may be running is touched. */
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
  /** Runs that began longer ago go. */
  readonly olderThanMs?: number;
  /** The oldest go until the rest takes no more. */
  readonly maxBytes?: number;
  /** So many of the newest stay, whatever else is said. */
  readonly keep?: number;
  /** Says what would be done and does nothing. */
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
  /** Runs that stay, and what they take. */
  readonly kept: number;
  readonly keptBytes: number;
  /** Of those that stay: could be running. */
  readonly running: number;
}

/** Under such a name nothing is taken for a run, and the next prune takes it away. */
const REMOVED = '.removed-';
/** A folder without run.json may be one that is just being made. */
const UNKNOWN_MS = 60 * 60_000;

/** Throws `io/failed` where the directory is a link or somebody else's. */
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

/** `runs` are the newest first; so are those that go the oldest first. */
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

/** Nobody writes to it. What cannot be judged is left alone while it is young. */
function isFree({ path: place, reading }: ListedRun, now: number, asker: ReturnType<typeof thisProcess>): boolean {
  if (reading.type === 'run') return runLife(reading.info, asker) !== 'running';
  const stats = lstatSync(place, { throwIfNoEntry: false });
  return stats !== undefined && stats.mtimeMs < now - UNKNOWN_MS;
}

/** By its id, which nobody who edits a file can change. */
function startOf({ id }: ListedRun): number {
  const [, year, month, day, hour, minute, second] = TIME.exec(id) ?? [];
  return Date.parse(
    `${String(year)}-${String(month)}-${String(day)}T${String(hour)}:${String(minute)}:${String(second)}Z`,
  );
}

const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/;

/** First the name, then the files: a kill in between leaves nothing that looks like a run. */
async function removeRun(directory: string, id: string): Promise<void> {
  const place = path.join(directory, `${REMOVED}${id}`);
  try {
    renameSync(path.join(directory, id), place);
  } catch (error) {
    // Another prune was faster.
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
      // A run has one level of folders; what somebody put deeper is removed with it and not counted.
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
    message: `nothing is removed from ${quoted(directory, 200)}: ${reason}`,
    hint: 'prune the folder that holds the runs themselves',
    data: { path: directory, cause: reason },
  });
}
