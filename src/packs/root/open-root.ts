/** Opens a root for changes by one process at a time. */
import { existsSync } from 'node:fs';
import path from 'node:path';

import type { Unplaced } from '../agents/place-skills.ts';
import { readLockAt, type LockFile, type LockedSkill } from '../lock/lock-file.ts';
import {
  accepted,
  asRefusal,
  findRefusal,
  isRefusal,
  orSystemRefusal,
  systemRefusal,
  type PackRefusal,
} from '../problems.ts';
import { diagnose, invalidInput, problemError, quoted, type Diagnostic } from '#core';
import type { OnStep } from './apply.ts';
import {
  BACKUP_PARTS,
  JOURNAL_NAME,
  STATE_FOLDER,
  closeRootHandle,
  displayPath,
  identityAt,
  lockPath,
  lockRoot,
  openRootHandle,
  prepareState,
  statePath,
  timedName,
  unusable,
  type RootHandle,
  type RootLock,
} from './root-paths.ts';
import { recoverOpenRoot, type Recovered } from './recover.ts';
import {
  isInside,
  isSystemError,
  makeFolders,
  ownerName,
  removeTree,
  thisProcess,
  TreeFingerprint,
  withForwardSlashes,
} from '#platform';
import { commitChanges, type CommitOptions } from './commit.ts';
import { startBackgroundSync, type BackgroundSync } from './sync.ts';
import {
  backupPath,
  listBackups,
  removeBackup,
  removeEmptyBackups,
  surplusBackups,
  type BackupKind,
  type SkillBackup,
} from './skill-backups.ts';
import { pruneOriginals, readOriginals, type OriginalTexts } from './originals.ts';
import { changeRefusals, type Existing, type PlannedChange, type PutChange, type RootChange } from './plan.ts';

export interface WithRootOptions {
  readonly signal?: AbortSignal;
  /** How long to wait for another process (default: 30 s). */
  readonly timeoutMs?: number;
  /** Creates the root if it does not exist. */
  readonly create?: boolean;
  readonly onRecovered?: (what: Recovered) => void;
  /** For tests: called after every change of the recovery that other processes can see. */
  readonly onStep?: OnStep;
}

/**
 * Opens a root exclusively, completes or clears interrupted changes, and calls `act`. Refuses if the root cannot be used, stays busy, or
 * has an invalid lock. A refusal thrown by `act` becomes the result; other errors are rethrown.
 */
export async function withRoot<T>(
  root: string,
  options: WithRootOptions,
  act: (open: OpenRoot) => Promise<T>,
): Promise<T | PackRefusal> {
  const opened = await orSystemRefusal(() => open(root, options), `${quoted(root, 200)} cannot be used`);
  if (isRefusal(opened)) return opened;
  try {
    return await act(opened.root);
  } catch (error) {
    return asRefusal(error);
  } finally {
    await opened.close();
  }
}

/** What the functions that use the root of some settings have in common. */
export interface RootOptions {
  readonly settings: { readonly root: string };
  readonly signal?: AbortSignal;
  /** Gets notes for the user, such as the completion of an interrupted change. */
  readonly onNote?: (note: string) => void;
}

/** `withRoot` for the root of some settings. */
export function inRoot<T>(
  { settings, signal, onNote }: RootOptions,
  act: (open: OpenRoot) => Promise<T>,
  { create }: Pick<WithRootOptions, 'create'> = {},
): Promise<T | PackRefusal> {
  return withRoot(settings.root, { create, signal, onRecovered: ({ message }) => onNote?.(message) }, act);
}

/** Completes an interrupted change before a reader looks at the root. Throws a refusal. */
export async function completeChange(options: RootOptions): Promise<void> {
  if (needsRecovery(options.settings.root)) accepted(await inRoot(options, () => Promise.resolve(true)));
}

/** Whether a change is in progress or was interrupted. A cheap check for readers. */
export function needsRecovery(root: string): boolean {
  return existsSync(path.join(root, STATE_FOLDER, JOURNAL_NAME));
}

/** What a change leaves. */
export interface ChangeOutcome {
  /** False for a dry run. */
  readonly isDone: boolean;
  /** Backups of what was moved out of the root. */
  readonly kept: readonly SkillBackup[];
  /** What other processes changed in the meantime and how it was handled, for the user. */
  readonly notes: readonly string[];
  /** Links and copies for agents that could not be made or removed. */
  readonly unplaced: readonly Unplaced[];
}

export interface Committed extends Omit<ChangeOutcome, 'isDone'> {
  readonly type: 'committed';
  readonly lock: LockFile;
  /** Previous versions that were deleted because there were too many. */
  readonly pruned: readonly SkillBackup[];
}

export interface OpenRoot {
  /** Absolute path without links. */
  readonly path: string;
  /** The current lock. A commit replaces it. */
  readonly lock: LockFile;
  /** Creates a private folder on the file system of the root. It is deleted when the root is closed. Throws a refusal. */
  staging(): string;
  /**
   * Declares that staging is complete with about `count` files and starts to sync them to disk in the background. Pass the result to
   * `commit`, which waits for it. Do not write into the staging folders afterwards; a new staging folder cancels the sync.
   */
  startSync(count: number): BackgroundSync | undefined;
  /** The changes that `commit` would refuse, by name. */
  refusals(changes: readonly RootChange[]): ReadonlyMap<string, PackRefusal>;
  /** Makes all changes or none. */
  commit(changes: readonly RootChange[], options?: CommitOptions): Promise<Committed | PackRefusal>;
  /** Backups of one kind, newest first, optionally of one skill. */
  backups(part: BackupKind, name?: string): readonly SkillBackup[];
  /** The texts of an installed version as its source had them, by SHA-256; empty if they are no longer kept. */
  originals(locked: LockedSkill): Promise<OriginalTexts>;
  /** Moves backups back with their lock entries: all or none. `existing` says what to do with an existing skill (default: refuse). */
  bringBack(
    backups: readonly SkillBackup[],
    options?: CommitOptions & { readonly existing?: Existing },
  ): Promise<Committed | PackRefusal>;
  emptyTrash(): Promise<void>;
}

/** Number of previous versions to keep per skill. */
const KEEP_VERSIONS = 5;

async function open(root: string, options: WithRootOptions): Promise<ReturnType<typeof openSession>> {
  const handle = openRootHandle(root, { create: options.create ?? false });
  let rootLock: RootLock | undefined;
  try {
    prepareState(handle);
    rootLock = await lockRoot(handle, options);
    await recoverOpenRoot(handle, options);
    return openSession(handle, rootLock, accepted(readLockAt(lockPath(handle))));
  } catch (error) {
    rootLock?.release();
    closeRootHandle(handle);
    throw error;
  }
}

function openSession(handle: RootHandle, rootLock: RootLock, lockAtStart: LockFile) {
  const staging = `staging/${ownerName(thisProcess())}.${timedName(new Date(), 'work')}`;
  const stagingPath = displayPath(handle, staging);
  let lock = lockAtStart;
  let isClosed = false;
  let backgroundSync: BackgroundSync | undefined;
  let folders = 0;

  const refuseClosed = (): void => {
    if (isClosed)
      throw invalidInput('the root is closed', 'an open root', 'use it only inside the function that withRoot calls');
  };
  const hasJournal = (): boolean => identityAt(statePath(handle, JOURNAL_NAME)) !== undefined;
  const toPlanned = (change: RootChange): PlannedChange => {
    if (change.type === 'remove') return change;
    const { looks, from, original: _, ...rest } = change;
    const staged = path.resolve(from);
    if (!isInside(staged, stagingPath) || staged === stagingPath)
      throw invalidInput(
        `${JSON.stringify(from)} is not inside a folder that staging() returned`,
        stagingPath,
        'copy the files there first',
      );
    const below = withForwardSlashes(staged.slice(stagingPath.length + 1));
    return { ...rest, from: `${staging}/${below}`, isFingerprinted: looks instanceof TreeFingerprint };
  };
  const commit = async (
    changes: readonly PlannedChange[],
    staged: readonly PutChange[],
    { backgroundSync: sync, ...options }: CommitOptions = {},
  ): Promise<Committed | PackRefusal> => {
    refuseClosed();
    try {
      if (hasJournal()) throw unusable('an earlier change is not complete: open the root again', handle.path);
      makeFolders(statePath(handle, staging), 0o700);
    } catch (error) {
      return findRefusal(error) ?? systemRefusal(error, `${quoted(handle.path, 200)} cannot be used`);
    }
    const covering = sync === backgroundSync ? sync : undefined;
    const end = await commitChanges({ handle, rootLock, lock, staging }, changes, staged, {
      ...options,
      backgroundSync: covering,
    });
    if (end.type === 'refused') {
      // An unfinished change still needs its backups.
      if (!hasJournal())
        await orSystemRefusal(() => removeEmptyBackups(handle), `${quoted(handle.path, 200)} cannot be used`);
      return end;
    }
    lock = end.lock;
    const outOf = new Set(end.steps.flatMap((step) => (step.type === 'put' ? step.old : step.to) ?? []));
    const parts = new Set([...outOf].map((below) => below.split('/')[0]));
    const kept = BACKUP_PARTS.filter((part) => parts.has(part))
      .flatMap((part) => listBackups(handle, part))
      .filter((entry) => outOf.has(backupPath(entry)));
    const names = new Set(kept.filter(({ part }) => part === 'previous').map(({ name }) => name));
    const pruned = names.size === 0 ? [] : surplusBackups(handle, 'previous', { names, keep: KEEP_VERSIONS });
    for (const entry of pruned) await removeBackup(handle, entry);
    pruneOriginals(handle, lock);
    return { type: 'committed', lock, kept, pruned, notes: end.notes, unplaced: end.unplaced };
  };

  const root: OpenRoot = {
    path: handle.path,
    get lock() {
      return lock;
    },
    staging() {
      refuseClosed();
      backgroundSync?.drop();
      backgroundSync = undefined;
      folders += 1;
      const below = `${staging}/${String(folders)}`;
      try {
        makeFolders(statePath(handle, below), 0o700);
      } catch (error) {
        throw problemError(systemRefusal(error, `cannot create a staging folder in ${quoted(handle.path, 200)}`));
      }
      return displayPath(handle, below);
    },
    startSync(count) {
      refuseClosed();
      backgroundSync?.drop();
      backgroundSync = startBackgroundSync({ count, within: handle.path });
      return backgroundSync;
    },
    refusals: (changes) => changeRefusals(handle, lock, changes.map(toPlanned)),
    commit: (changes, options) =>
      commit(
        changes.map(toPlanned),
        changes.filter((change) => change.type === 'put'),
        options,
      ),
    backups: (part, name) => listBackups(handle, part, name),
    originals: ({ digest }) => readOriginals(handle, digest),
    async bringBack(chosen, { existing = 'refuse', ...options } = {}) {
      const changes = chosen.map((found): PlannedChange => {
        return { type: 'put', name: found.name, from: backupPath(found), existing, lock: found.lock };
      });
      const end = await commit(changes, [], options);
      // Only the records are left.
      if (!isRefusal(end)) for (const found of chosen) await removeBackup(handle, found);
      return end;
    },
    async emptyTrash() {
      for (const entry of listBackups(handle, 'trash')) await removeBackup(handle, entry);
      pruneOriginals(handle, lock);
    },
  };
  return {
    root,
    async close(): Promise<void> {
      isClosed = true;
      backgroundSync?.drop();
      try {
        // A remaining journal refers to the staging folder, so the next process still needs it.
        if (!hasJournal()) await removeTree(statePath(handle, staging));
      } catch (error) {
        // The next process that opens the root removes the rest.
        if (!isSystemError(error)) throw error;
      } finally {
        rootLock.release();
        closeRootHandle(handle);
      }
    },
  };
}

/** How long a reader waits for a writer, which is either nearly done or busy with a download. */
const WAIT_MS = 5_000;

/** Recovers roots before they are read, and reports it. A root that cannot be recovered is read as it is. */
export async function recoverRoots(roots: readonly string[], signal?: AbortSignal): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  for (const root of roots) {
    const onRecovered = ({ message }: { readonly message: string }): void =>
      void diagnostics.push(diagnose({ code: 'root/interrupted', path: root, message }, 'lenient'));
    const recovered = await withRoot(root, { timeoutMs: WAIT_MS, onRecovered, signal }, () => Promise.resolve(true));
    if (isRefusal(recovered)) onRecovered(recovered);
  }
  return diagnostics;
}
