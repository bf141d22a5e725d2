/** What processes that died left behind: found and removed by the next one. What a living process owns is never touched. */
import { lstatSync, readdirSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';

import { OWNER_FILE, ownerOfName, ownerState, readFolderOwner, thisProcess } from '../../platform/fs/lock-owner.ts';
import type { LockOwner } from '../../platform/fs/lock-owner.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { digestName } from '../../platform/fs/tree-digest.ts';
import { isOurs, makeTemporary } from './layout.ts';
import type { Base } from './layout.ts';
import { readMetadata } from './metadata.ts';

export interface SweepOptions {
  readonly now: number;
  /** The longest that removing may take; the rest is for the next one. */
  readonly maxMs: number;
  /** How long workspaces that were kept stay, and snapshots that nobody uses. */
  readonly keptForMs: number;
}

/** What came of it, for a person who asks. */
export interface Swept {
  readonly removed: number;
  /** Names of what could not be removed, or not in time. */
  readonly left: readonly string[];
}

/** `<hash of the key>-<chance>`, or `<hash of the key>.kept`. */
const WORKSPACE_NAME = /^[0-9a-f]{16}(?:-[0-9a-f]{8}|\.kept)$/;
const SNAPSHOT_NAME = /^[0-9a-f]{64}$/;
/** A folder without a lock was made just now, or by somebody who died before it had one. */
const GRACE_MS = 10 * 60_000;
/** Of owners that cannot be asked: they live in another container. */
const UNKNOWN_MS = 24 * 60 * 60_000;

export async function removeLeftovers(base: Base, options: SweepOptions): Promise<Swept> {
  const asker = thisProcess();
  const dead = [
    ...namesIn(base.temporary)
      .filter((name) => isDeadTemporary(base, name, asker, options.now))
      .map((name) => path.join(base.temporary, name)),
    ...takeAway(base, deadWorkspaces(base, asker, options)),
  ];
  return await removeAll(dead, options);
}

/** Copies of skills that no workspace has used for long. Nobody waits for their place: there may be hundreds to be looked at. */
export async function removeOldSnapshots(base: Base, options: SweepOptions): Promise<Swept> {
  return await removeAll(takeAway(base, unusedSnapshots(base, options)), options);
}

async function removeAll(folders: readonly string[], { maxMs }: SweepOptions): Promise<Swept> {
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
    // Another process at the same work, or a file that even the owner may not remove.
    if (!isSystemError(error)) throw error;
    return lstatSync(folder, { throwIfNoEntry: false }) === undefined;
  }
}

/** Moves folders away in one step each, so that nobody meets a half-removed one. Whoever is first has it. */
function takeAway(base: Base, folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => {
    const temporary = makeTemporary(base);
    try {
      renameSync(folder, path.join(temporary, path.basename(folder)));
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
    return [temporary];
  });
}

function isDeadTemporary(base: Base, name: string, asker: LockOwner, now: number): boolean {
  const owner = ownerOfName(name);
  if (owner === undefined) return false;
  const state = ownerState(owner, asker);
  return state === 'dead' || (state === 'unknown' && ageOf(path.join(base.temporary, name), now) > UNKNOWN_MS);
}

function deadWorkspaces(base: Base, asker: LockOwner, { now, keptForMs }: SweepOptions): readonly string[] {
  return workspacesIn(base).filter((folder) => {
    const lock = readFolderOwner(folder);
    const age = ageOf(lock.type === 'absent' ? folder : path.join(folder, OWNER_FILE), now);
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

/** Of every process, ours too. */
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
  // Of plain names, and there may be hundreds: they need no `path.join`, which takes as long as the look itself.
  const old = namesIn(base.snapshots).filter(
    (name) => SNAPSHOT_NAME.test(name) && ageOf(`${base.snapshots}/${name}`, now) > keptForMs,
  );
  if (old.length === 0) return [];
  const used = new Set(
    workspacesIn(base).flatMap((folder) =>
      readMetadata(folder, '').metadata.skills.map(({ digest }) => digestName(digest)),
    ),
  );
  return old.filter((name) => !used.has(name)).map((name) => path.join(base.snapshots, name));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

/** What is gone has no age. */
function ageOf(file: string, now: number): number {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? 0 : now - stats.mtimeMs;
}
