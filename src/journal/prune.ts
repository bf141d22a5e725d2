/** Removes old runs by age and by total size, oldest first. Runs that may be in progress are kept. */
import { lstatSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';

import { quoted, SkillError } from '#core';
import { isPresent, isSystemError, removeTree, thisProcess } from '#platform';
import {
  REMOVED_PREFIX,
  listRuns,
  makeDirectory,
  runLife,
  runsFolderState,
  startOfId,
  type ListedRun,
} from './run-folder.ts';
import { BREAK_CODES, type ChainKeys, type RemovalReason } from './chain-lines.ts';
import { appendToChain, type ChainEvent } from './run-chain.ts';
import { hasBegun, recordedInfo, runUnits } from './run-units.ts';
import { folderId, readLastLine, unfinishedRemovals, verifyChain } from './verify-chain.ts';
import { verifyRun } from './verify.ts';

export interface PruneOptions extends ChainKeys {
  readonly directory: string;
  /** Removes runs that started longer ago. */
  readonly olderThanMs?: number;
  /** Removes the oldest runs until the rest fits. */
  readonly maxBytes?: number;
  /** Keeps this many of the newest runs in any case, each with its subagents. */
  readonly keep?: number;
  /** Removes this run. */
  readonly run?: string;
  /** Records runs whose folders are gone as removed, and breaks of the chain as known, so that they are no longer problems. */
  readonly missing?: boolean;
  /** Reports what would be removed without removing it. */
  readonly dryRun?: boolean;
  readonly now?: () => Date;
}

interface PrunedRun {
  readonly id: string;
  readonly bytes: number;
  readonly reason: RemovalReason;
}

export interface Pruning {
  readonly removed: readonly PrunedRun[];
  /** With `missing`: what is no longer a problem, one sentence each, without the runs in `removed`. */
  readonly acknowledged: readonly string[];
  /** The number of runs kept, and their size. */
  readonly kept: number;
  readonly keptBytes: number;
  /** How many of the kept runs may be in progress. */
  readonly running: number;
}

/** A folder that cannot be read as a run may belong to one of a later version. */
const UNKNOWN_MS = 60 * 60_000;
/** A run writes its first event at once; it waits at most ten seconds for the lock of the chain. */
const BEGINNING_MS = 60_000;

/** Throws `io/failed` if the directory is a link or belongs to another user, and `input/invalid` for the name of a subagent. */
export async function pruneRuns(options: PruneOptions): Promise<Pruning> {
  const { directory, dryRun = false, now = () => new Date() } = options;
  if (!isPresent(directory)) {
    // To know of a folder that is gone as a whole is a line of its chain, which begins anew.
    const isKnown = options.missing !== true || verifyChain(directory, options).problems.length === 0;
    if (isKnown || dryRun) return { removed: [], acknowledged: [], kept: 0, keptBytes: 0, running: 0 };
    makeDirectory(directory);
  }
  const state = runsFolderState(directory);
  if (state === 'absent') throw notPruned(directory, 'it does not exist');
  if (state !== 'usable') throw notPruned(directory, state.problem);
  const listed = listRuns(directory);
  const units = sizedUnits(listed, now().getTime());
  requireWhole(units, options.run);
  const empty = emptyRuns(listed, units, options);
  const rest = units.filter(({ id }) => !empty.has(id));
  const removed = [
    ...choose(rest, options, now().getTime()),
    ...units.filter(({ id }) => empty.has(id)).flatMap(({ parts }) => parts.map((part) => pruned(part, 'not-begun'))),
  ];
  const gone = new Set(removed.map(({ id }) => id));
  const lost = options.missing === true ? lostRuns(directory, options) : [];
  if (!dryRun) {
    for (const run of removed) await removeRun(directory, run, options);
    for (const { id } of lost) recordRemoval(directory, { run: id, reason: 'missing' }, options);
  }
  const acknowledged = options.missing === true ? recordKnown(directory, options) : [];
  if (!dryRun) await removeLeftovers(directory, options);
  const stay = units.filter(({ id }) => !gone.has(id));
  return {
    removed: [...removed, ...lost],
    acknowledged,
    kept: stay.reduce((sum, { parts }) => sum + parts.length, 0),
    keptBytes: stay.reduce((sum, { bytes }) => sum + bytes, 0),
    running: stay.reduce((sum, { parts }) => sum + parts.filter(({ isFree: free }) => !free).length, 0),
  };
}

interface SizedRun {
  readonly id: string;
  readonly bytes: number;
  readonly isFree: boolean;
}

/** A run and its subagents. */
interface SizedUnit {
  readonly id: string;
  readonly startedAt: number;
  readonly bytes: number;
  /** In the order of removal: the run itself is last, so that a kill never leaves subagents without it. */
  readonly parts: readonly SizedRun[];
}

function sizedUnits(listed: readonly ListedRun[], now: number): readonly SizedUnit[] {
  const asker = thisProcess();
  const sized = (run: ListedRun): SizedRun => ({
    id: run.id,
    bytes: bytesBelow(run.path),
    isFree: isFree(run, now, asker),
  });
  return runUnits(listed).map(({ run, subagents }) => {
    const parts = [...subagents.toReversed(), run].map(sized);
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    return { id: run.id, startedAt: startOfId(run.id), bytes, parts };
  });
}

/** `units` are sorted newest first; the result is sorted oldest first. */
function choose(
  units: readonly SizedUnit[],
  { olderThanMs, maxBytes, keep = 0, run }: PruneOptions,
  now: number,
): readonly PrunedRun[] {
  const candidates = units
    .filter(({ parts }, place) => place >= keep && parts.every((part) => part.isFree))
    .toReversed();
  let total = units.reduce((sum, { bytes }) => sum + bytes, 0);
  const removed: PrunedRun[] = [];
  for (const { id, bytes, startedAt, parts } of candidates) {
    const isOld = olderThanMs !== undefined && startedAt < now - olderThanMs;
    const isTooMuch = maxBytes !== undefined && total > maxBytes;
    if (id !== run && !isOld && !isTooMuch) continue;
    const reason = id === run ? 'named' : isOld ? 'age' : 'size';
    removed.push(...parts.map((part) => pruned(part, reason)));
    total -= bytes;
  }
  return removed;
}

function pruned({ id, bytes }: SizedRun, reason: RemovalReason): PrunedRun {
  return { id, bytes, reason };
}

/** Undo and resume of a run need the records of its subagents. */
function requireWhole(units: readonly SizedUnit[], name: string | undefined): void {
  const unit = units.find(({ id, parts }) => id !== name && parts.some((part) => part.id === name));
  if (unit === undefined) return;
  throw new SkillError({
    code: 'input/invalid',
    message: `${quoted(name ?? '')} is a subagent of run ${unit.id}; nothing was removed`,
    hint: `remove the run with its subagents: skillwright runs prune ${unit.id}`,
    data: { expected: unit.id },
  });
}

/** Runs that were killed before their first event. A folder that was emptied later does not fit the chain and is not one of them. */
function emptyRuns(
  listed: readonly ListedRun[],
  units: readonly SizedUnit[],
  options: PruneOptions,
): ReadonlySet<string> {
  const free = new Set(units.filter(({ parts }) => parts.every((part) => part.isFree)).map(({ id }) => id));
  const empty = listed.filter((run) => free.has(run.id) && !hasBegun(run)).map(({ id }) => id);
  const { problems } = empty.length === 0 ? { problems: [] } : verifyChain(options.directory, options);
  return new Set(empty.filter((id) => !problems.some(({ run }) => run === id)));
}

/** Whether no process writes to the run. A folder that does not say who owns it is kept while it is recent. */
function isFree(run: ListedRun, now: number, asker: ReturnType<typeof thisProcess>): boolean {
  const info = recordedInfo(run);
  if (info !== undefined) return runLife(info, asker) !== 'running';
  const stats = lstatSync(run.path, { throwIfNoEntry: false });
  return stats !== undefined && stats.mtimeMs < now - (hasBegun(run) ? UNKNOWN_MS : BEGINNING_MS);
}

/**
 * Records that the user knows of the breaks so far, an unrecorded one before that, and of the runs whose lines were lost with them. A
 * run that was added later, or whose own record does not verify, stays a problem. Returns what is known now.
 */
function recordKnown(directory: string, options: PruneOptions): readonly string[] {
  const { sealKey, dryRun = false, now = () => new Date() } = options;
  const { problems, breaks } = verifyChain(directory, options);
  const append = (event: ChainEvent): void => {
    if (!dryRun) appendToChain(directory, event, { ...options, now: now(), sync: true });
  };
  const broken = problems.filter(({ code, run }) => run === undefined && BREAK_CODES.some((one) => one === code));
  const isBroken = broken.length > 0;
  const known = broken.map(({ code, message }) => `${code}: ${message}`);
  if (isBroken) append({ type: 'breaks-known' });
  const brokenAt = Math.max(...breaks.map(({ at }) => Date.parse(at)), ...(isBroken ? [now().getTime()] : []));
  for (const { code, run, message } of problems) {
    if (run === undefined || startOfId(run) > brokenAt) continue;
    const place = path.join(directory, run);
    const { status } = verifyRun(place, { sealKey });
    const isUnlisted = code === 'chain/run-unlisted' && (status === 'torn' || status === 'running');
    const isWhole = status === 'intact' && (code === 'chain/run-unlisted' || code === 'chain/run-exchanged');
    if (!isUnlisted && !isWhole) continue;
    const last = status === 'running' ? undefined : readLastLine(place);
    append({ type: 'run-known', run, head: last?.hash, count: last?.seq });
    known.push(`${code}: run ${run}: ${message}`);
  }
  return known;
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
  const { now = () => new Date() } = options;
  appendToChain(directory, { type: 'run-remove', ...removal }, { ...options, now: now(), sync: true });
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
