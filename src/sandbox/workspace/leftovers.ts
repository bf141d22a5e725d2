/** Finds and removes what dead processes left behind. Never touches what a living process owns. */
import { lstatSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';

import {
  digestName,
  namesIn,
  ownerOfName,
  ownerState,
  removeTree,
  thisProcess,
  type LockOwner,
  isSystemError,
  quietly,
} from '#platform';
import { OWNER_FILE, readFolderOwner } from './folder-owner.ts';
import { isOurs, makeTemporary, type Base } from './layout.ts';
import { readMetadata } from './metadata.ts';

export interface SweepOptions {
  readonly now: number;
  /** Time limit; the next process removes the rest. */
  readonly maxMs: number;
  /** Maximum age of kept workspaces and unused snapshots. */
  readonly keptForMs: number;
}

export interface SweepResult {
  readonly removed: number;
  /** Names of folders that could not be removed in time. */
  readonly left: readonly string[];
}

/** `<hash of the key>-<random>`, or `<hash of the key>.kept`. */
const WORKSPACE_NAME = /^[0-9a-f]{16}(?:-[0-9a-f]{8}|\.kept)$/;
const SNAPSHOT_NAME = /^[0-9a-f]{64}$/;
/** A folder without a lock was just created, or its process died before it wrote the lock. */
const GRACE_MS = 10 * 60_000;
/** Maximum age for owners of unknown state, such as processes of another container. */
const UNKNOWN_MS = 24 * 60 * 60_000;

export async function removeLeftovers(base: Base, options: SweepOptions): Promise<SweepResult> {
  const asker = thisProcess();
  const dead = [
    ...namesIn(base.temporary)
      .filter((name) => isDeadTemporary(base, name, asker, options.now))
      .map((name) => path.join(base.temporary, name)),
    ...takeAway(base, deadWorkspaces(base, asker, options)),
  ];
  return await removeAll(dead, options);
}

/** Removes snapshots that no workspace has used for long. There may be hundreds, so callers run it in the background. */
export async function removeOldSnapshots(base: Base, options: SweepOptions): Promise<SweepResult> {
  return await removeAll(takeAway(base, unusedSnapshots(base, options)), options);
}

async function removeAll(folders: readonly string[], { maxMs }: SweepOptions): Promise<SweepResult> {
  const until = Date.now() + maxMs;
  const left: string[] = [];
  for (const folder of folders) if (!(await isGone(folder, until))) left.push(path.basename(folder));
  return { removed: folders.length - left.length, left };
}

async function isGone(folder: string, until: number): Promise<boolean> {
  if (Date.now() > until) return false;
  try {
    return await removeTree(folder, { until });
  } catch (error) {
    // Another process removes the same folder, or the file system denies it.
    if (!isSystemError(error)) throw error;
    return lstatSync(folder, { throwIfNoEntry: false }) === undefined;
  }
}

/** Moves each folder away atomically, so that no process sees a partly removed one. Only one of several processes succeeds. */
function takeAway(base: Base, folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => {
    const temporary = makeTemporary(base);
    quietly(() => renameSync(folder, path.join(temporary, path.basename(folder))));
    return [temporary];
  });
}

function isDeadTemporary(base: Base, name: string, asker: LockOwner, now: number): boolean {
  const owner = ownerOfName(name);
  if (owner === undefined) return false;
  const state = ownerState(owner, asker);
  return state === 'dead' || (state === 'unknown' && measureAge(path.join(base.temporary, name), now) > UNKNOWN_MS);
}

function deadWorkspaces(base: Base, asker: LockOwner, { now, keptForMs }: SweepOptions): readonly string[] {
  return workspacesIn(base).filter((folder) => {
    const lock = readFolderOwner(folder);
    const age = measureAge(lock.type === 'absent' ? folder : path.join(folder, OWNER_FILE), now);
    switch (lock.type) {
      case 'owned': {
        const state = ownerState(lock.owner, asker);
        return state === 'dead' || (state === 'unknown' && age > UNKNOWN_MS);
      }
      case 'kept': {
        return age > keptForMs;
      }
      case 'absent': {
        return age > GRACE_MS;
      }
      case 'unreadable': {
        return age > UNKNOWN_MS;
      }
    }
  });
}

/** The workspaces of all processes. */
function workspacesIn({ root }: Base): readonly string[] {
  return namesIn(root)
    .filter((name) => WORKSPACE_NAME.test(name))
    .map((name) => path.join(root, name))
    .filter((folder) => {
      const stats = lstatSync(folder, { throwIfNoEntry: false });
      return stats?.isDirectory() === true && isOurs(stats);
    });
}

function unusedSnapshots(base: Base, { now, keptForMs }: SweepOptions): readonly string[] {
  // `path.join` would take as long as the stat call, and there may be hundreds of names.
  const old = namesIn(base.snapshots).filter(
    (name) => SNAPSHOT_NAME.test(name) && measureAge(`${base.snapshots}/${name}`, now) > keptForMs,
  );
  if (old.length === 0) return [];
  const used = new Set(
    workspacesIn(base).flatMap((folder) =>
      readMetadata(folder, '').metadata.skills.map(({ digest }) => digestName(digest)),
    ),
  );
  return old.filter((name) => !used.has(name)).map((name) => path.join(base.snapshots, name));
}

/** Returns 0 for a file that is gone. */
function measureAge(file: string, now: number): number {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? 0 : now - stats.mtimeMs;
}
