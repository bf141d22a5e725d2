/** Removes old runs by age and by total size, oldest first. Runs that may be in progress are kept. */
import { lstatSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../core/errors.ts';
import { quoted } from '../core/text/text.ts';
import { thisProcess } from '../platform/fs/lock-owner.ts';
import { isPresent, isSystemError } from '../platform/fs/paths.ts';
import { removeTree } from '../platform/fs/remove-tree.ts';
import { REMOVED_PREFIX, foreignReason, listRuns, runLife, startOfId } from './run-folder.ts';
import type { ListedRun } from './run-folder.ts';
import { BREAK_CODES } from './chain-lines.ts';
import type { RemovalReason } from './chain-lines.ts';
import { appendToChain } from './run-chain.ts';
import { folderId, unfinishedRemovals, verifyChain } from './verify-chain.ts';

export interface PruneOptions {
  readonly directory: string;
  /** Removes runs that started longer ago. */
  readonly olderThanMs?: number;
  /** Removes the oldest runs until the rest fits. */
  readonly maxBytes?: number;
  /** Keeps this many of the newest runs in any case. */
  readonly keep?: number;
  /** Removes this run. */
  readonly run?: string;
  /** Records runs whose folders are gone as removed, and breaks of the chain as known, so that they are no longer problems. */
  readonly missing?: boolean;
  /** Authenticates the removals in the chain of the directory. */
  readonly sealKey?: Uint8Array;
  readonly home?: string;
  /** Reports what would be removed without removing it. */
  readonly dryRun?: boolean;
  readonly now?: () => Date;
}

export interface PrunedRun {
  readonly id: string;
  readonly bytes: number;
  readonly reason: RemovalReason;
}

export interface Pruning {
  readonly removed: readonly PrunedRun[];
  /** The number of runs kept, and their size. */
  readonly kept: number;
  readonly keptBytes: number;
  /** How many of the kept runs may be in progress. */
  readonly running: number;
}

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
    startedAt: startOfId(run.id),
    isFree: isFree(run, now().getTime(), asker),
  }));
  const removed = choose(sized, options, now().getTime());
  const gone = new Set(removed.map(({ id }) => id));
  const lost = options.missing === true ? lostRuns(directory, options) : [];
  if (!dryRun) {
    for (const run of removed) await removeRun(directory, run, options);
    for (const { id } of lost) recordRemoval(directory, { run: id, reason: 'missing' }, options);
    if (options.missing === true) recordKnownBreaks(directory, options);
    await removeLeftovers(directory, options);
  }
  const stay = sized.filter(({ id }) => !gone.has(id));
  return {
    removed: [...removed, ...lost],
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
  { olderThanMs, maxBytes, keep = 0, run }: PruneOptions,
  now: number,
): readonly PrunedRun[] {
  const candidates = runs.filter(({ isFree }, place) => isFree && place >= keep).toReversed();
  let total = runs.reduce((sum, { bytes }) => sum + bytes, 0);
  const removed: PrunedRun[] = [];
  for (const { id, bytes, startedAt } of candidates) {
    if (id === run) {
      removed.push({ id, bytes, reason: 'named' });
      continue;
    }
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

/** Records that the user knows of the breaks so far; an unrecorded one is recorded before it. */
function recordKnownBreaks(directory: string, options: PruneOptions): void {
  const { sealKey, home, now = () => new Date() } = options;
  const isBreak = verifyChain(directory, options).problems.some(({ code }) => BREAK_CODES.some((one) => one === code));
  if (isBreak) appendToChain(directory, { type: 'breaks-known' }, { sealKey, home, now: now(), sync: true });
}

/** Runs that the chain announces and that are neither here nor removed. */
function lostRuns(directory: string, options: PruneOptions): readonly PrunedRun[] {
  return verifyChain(directory, options)
    .problems.filter(({ code, run }) => code === 'chain/run-missing' && run !== undefined)
    .map(({ run = '' }) => ({ id: run, bytes: 0, reason: 'missing' }));
}

/**
 * The removal is recorded first, with the folder that is meant, so that a kill at any moment leaves a run that is there or one that was
 * removed. The folder is renamed before its files go, so that no part of it looks like a run.
 */
async function removeRun(directory: string, { id, reason }: PrunedRun, options: PruneOptions): Promise<void> {
  const folder = folderId(path.join(directory, id));
  // Another prune removed it.
  if (folder === undefined) return;
  recordRemoval(directory, { run: id, reason, folder }, options);
  await removeFolder(directory, id);
}

async function removeFolder(directory: string, id: string): Promise<void> {
  const place = path.join(directory, `${REMOVED_PREFIX}${id}`);
  try {
    renameSync(path.join(directory, id), place);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return;
    throw error;
  }
  await removeTree(place);
}

function recordRemoval(
  directory: string,
  removal: { readonly run: string; readonly reason: RemovalReason; readonly folder?: string },
  options: PruneOptions,
): void {
  const { sealKey, home, now = () => new Date() } = options;
  appendToChain(directory, { type: 'run-remove', ...removal }, { sealKey, home, now: now(), sync: true });
}

/** What a killed prune left. A folder whose removal is not recorded stays: verify reports it. */
async function removeLeftovers(directory: string, options: PruneOptions): Promise<void> {
  const names = readdirSync(directory).filter((name) => name.startsWith(REMOVED_PREFIX));
  const lost = names.length === 0 ? [] : lostRuns(directory, options);
  for (const name of names) {
    const id = name.slice(REMOVED_PREFIX.length);
    if (!lost.some((run) => run.id === id)) await removeTree(path.join(directory, name));
  }
  for (const id of unfinishedRemovals(directory, options)) await removeFolder(directory, id);
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
