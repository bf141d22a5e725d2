/** Opens a root for changes by one process at a time. */
import { existsSync } from 'node:fs';
import path from 'node:path';

import { diagnose, problemError, quoted, SkillError, type Diagnostic } from '#core';
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
import type { Unplaced } from '../agents/place-skills.ts';
import { readLockAt, type LockFile, type LockedSkill } from '../lock/lock-file.ts';
import { asRefusal, isRefusal, orSystemRefusal, packRefusal, systemRefusal, type PackRefusal } from '../problems.ts';
import type { OnStep } from './apply.ts';
import {
  BACKUP_PARTS,
  JOURNAL_NAME,
  STATE_FOLDER,
  openRootHandle,
  lockPath,
  prepareState,
  closeRootHandle,
  identityAt,
  displayPath,
  statePath,
  timedName,
  unusable,
  lockRoot,
  type RootHandle,
  type RootLock,
} from './root-paths.ts';
import { recoverOpenRoot, type Recovered } from './recover.ts';
import { commitChanges, type CommitEnd, type CommitOptions, type Work } from './commit.ts';
import { startBackgroundSync, type BackgroundSync } from './sync.ts';
import {
  backupPath,
  listBackups,
  removeEmptyBackups,
  removeBackup,
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
    return await act(opened.handle());
  } catch (error) {
    return asRefusal(error);
  } finally {
    await opened.close();
  }
}

/** Only recovers a root. */
export async function recoverRoot(
  root: string,
  options: Omit<WithRootOptions, 'create'> = {},
): Promise<{ readonly type: 'recovered'; readonly lock: LockFile } | PackRefusal> {
  return withRoot(root, options, ({ lock }) => Promise.resolve({ type: 'recovered', lock }));
}

/** Whether a change is in progress or was interrupted. A cheap check for readers. */
export function needsRecovery(root: string): boolean {
  return existsSync(path.join(root, STATE_FOLDER, JOURNAL_NAME));
}

async function open(root: string, options: WithRootOptions): Promise<RootSession> {
  const handle = openRootHandle(root, { create: options.create ?? false });
  let rootLock: RootLock | undefined;
  try {
    prepareState(handle);
    rootLock = await lockRoot(handle, options);
    await recoverOpenRoot(handle, options);
    const lock = readLockAt(lockPath(handle));
    if (isRefusal(lock)) throw problemError(lock);
    return new RootSession(handle, rootLock, lock);
  } catch (error) {
    rootLock?.release();
    closeRootHandle(handle);
    throw error;
  }
}

export interface Committed {
  readonly type: 'committed';
  readonly lock: LockFile;
  /** Backups of what was moved out of the root. */
  readonly kept: readonly SkillBackup[];
  /** Previous versions that were deleted because there were too many. */
  readonly pruned: readonly SkillBackup[];
  /** What other processes changed in the meantime and how it was handled, for the user. */
  readonly notes: readonly string[];
  /** Links and copies that could not be made or removed. */
  readonly unplaced: readonly Unplaced[];
}

/** Selects a backup (default: the newest of that name). */
export interface BackupChoice {
  readonly name: string;
  readonly id?: string;
  /** What to do with an existing skill (default: refuse). */
  readonly existing?: Existing;
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
  /** Removed skills, newest first. */
  trash(): readonly SkillBackup[];
  /** Previous versions of a skill, newest first. */
  versions(name: string): readonly SkillBackup[];
  backups(): readonly SkillBackup[];
  /** The texts of an installed version as its source had them, by SHA-256; empty if they are no longer kept. */
  originals(locked: LockedSkill): Promise<OriginalTexts>;
  /** Restores removed skills with their lock entries: all or none. */
  restore(choices: readonly BackupChoice[], options?: CommitOptions): Promise<Committed | PackRefusal>;
  /** Replaces a skill by its previous version and backs up the replaced one. */
  rollback(choice: Omit<BackupChoice, 'existing'>, options?: CommitOptions): Promise<Committed | PackRefusal>;
  /** Deletes backups of one kind, optionally of one skill, and returns them. */
  purge(part: BackupKind, choice?: { readonly name?: string; readonly before?: Date }): Promise<readonly SkillBackup[]>;
}

/** Number of previous versions to keep per skill. */
const KEEP_VERSIONS = 5;

export class RootSession {
  readonly #handle: RootHandle;
  readonly #rootLock: RootLock;
  readonly #staging: string;
  readonly #stagingPath: string;
  #lock: LockFile;
  #isClosed = false;
  #backgroundSync: BackgroundSync | undefined;
  #folders = 0;

  constructor(handle: RootHandle, rootLock: RootLock, lock: LockFile) {
    this.#handle = handle;
    this.#rootLock = rootLock;
    this.#lock = lock;
    this.#staging = `staging/${ownerName(thisProcess())}.${timedName(new Date(), 'work')}`;
    this.#stagingPath = displayPath(handle, this.#staging);
  }

  handle(): OpenRoot {
    const lockNow = (): LockFile => this.#lock;
    return {
      path: this.#handle.path,
      get lock() {
        return lockNow();
      },
      staging: () => this.#newFolder(),
      startSync: (count) => this.#startSync(count),
      refusals: (changes) =>
        changeRefusals(
          this.#handle,
          this.#lock,
          changes.map((change) => this.#planned(change)),
        ),
      commit: (changes, options) =>
        this.#commit(
          changes.map((change) => this.#planned(change)),
          changes.filter(isPut),
          options,
        ),
      trash: () => listBackups(this.#handle, 'trash'),
      versions: (name) => listBackups(this.#handle, 'previous', name),
      backups: () => listBackups(this.#handle, 'backups'),
      originals: ({ digest }) => readOriginals(this.#handle, digest),
      restore: (choices, options) => this.#bringBack('trash', choices, options),
      rollback: (choice, options) => this.#rollBack(choice, options),
      purge: (part, choice) => this.#purge(part, choice),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#backgroundSync?.drop();
    try {
      // A remaining journal refers to the staging folder, so the next process still needs it.
      if (identityAt(statePath(this.#handle, JOURNAL_NAME)) === undefined)
        await removeTree(statePath(this.#handle, this.#staging));
    } catch (error) {
      // The next process that opens the root removes the rest.
      if (!isSystemError(error)) throw error;
    } finally {
      this.#rootLock.release();
      closeRootHandle(this.#handle);
    }
  }

  #startSync(count: number): BackgroundSync | undefined {
    this.#refuseClosed();
    this.#backgroundSync?.drop();
    this.#backgroundSync = startBackgroundSync({ count, within: this.#handle.path });
    return this.#backgroundSync;
  }

  #newFolder(): string {
    this.#refuseClosed();
    this.#backgroundSync?.drop();
    this.#backgroundSync = undefined;
    this.#folders += 1;
    const below = `${this.#staging}/${String(this.#folders)}`;
    try {
      makeFolders(statePath(this.#handle, below), 0o700);
    } catch (error) {
      throw problemError(systemRefusal(error, `cannot create a staging folder in ${quoted(this.#handle.path, 200)}`));
    }
    return displayPath(this.#handle, below);
  }

  #planned(change: RootChange): PlannedChange {
    if (change.type === 'remove') return change;
    const { looks, from, original: _, ...rest } = change;
    const own = this.#stagingPath;
    const staged = path.resolve(from);
    if (!isInside(staged, own) || staged === own)
      throw new SkillError({
        code: 'input/invalid',
        message: `${JSON.stringify(from)} is not inside a folder that staging() returned`,
        hint: 'copy the files there first',
        data: { expected: own },
      });
    const below = withForwardSlashes(staged.slice(own.length + 1));
    return { ...rest, from: `${this.#staging}/${below}`, isFingerprinted: looks instanceof TreeFingerprint };
  }

  async #commit(
    changes: readonly PlannedChange[],
    staged: readonly PutChange[],
    options: CommitOptions = {},
  ): Promise<Committed | PackRefusal> {
    this.#refuseClosed();
    const made = await this.#orRefusal(() => {
      if (identityAt(statePath(this.#handle, JOURNAL_NAME)) !== undefined)
        throw unusable('an earlier change is not complete: open the root again', this.#handle.path);
      makeFolders(statePath(this.#handle, this.#staging), 0o700);
      return Promise.resolve(this.#work());
    });
    if (isRefusal(made)) return made;
    const { backgroundSync, ...rest } = options;
    const isCovered = backgroundSync !== undefined && backgroundSync === this.#backgroundSync;
    const end = await commitChanges(made, changes, staged, isCovered ? { ...rest, backgroundSync } : rest);
    if (end.type === 'done') return this.#committed(end);
    if (end.type === 'refused') {
      await this.#orRefusal(() => removeEmptyBackups(this.#handle));
      return end;
    }
    return end.refusal;
  }

  #orRefusal<T>(act: () => Promise<T>): Promise<T | PackRefusal> {
    return orSystemRefusal(act, `${quoted(this.#handle.path, 200)} cannot be used`);
  }

  #work(): Work {
    return { handle: this.#handle, rootLock: this.#rootLock, lock: this.#lock, staging: this.#staging };
  }

  async #committed({ lock, steps, notes, unplaced }: Extract<CommitEnd, { type: 'done' }>): Promise<Committed> {
    this.#lock = lock;
    const outOf = new Set(steps.flatMap((step) => (step.type === 'put' ? step.old : step.to) ?? []));
    const parts = new Set([...outOf].map((below) => below.split('/')[0]));
    const kept = BACKUP_PARTS.filter((part) => parts.has(part))
      .flatMap((part) => listBackups(this.#handle, part))
      .filter((entry) => outOf.has(backupPath(entry)));
    const names = new Set(kept.filter(({ part }) => part === 'previous').map(({ name }) => name));
    const pruned = names.size === 0 ? [] : surplusBackups(this.#handle, 'previous', { names, keep: KEEP_VERSIONS });
    for (const entry of pruned) await removeBackup(this.#handle, entry);
    pruneOriginals(this.#handle, lock);
    return { type: 'committed', lock, kept, pruned, notes, unplaced };
  }

  async #bringBack(
    part: BackupKind,
    choices: readonly BackupChoice[],
    options?: CommitOptions,
  ): Promise<Committed | PackRefusal> {
    const all = listBackups(this.#handle, part, choices.length === 1 ? choices[0]?.name : undefined);
    const chosen: SkillBackup[] = [];
    const changes: PlannedChange[] = [];
    for (const { name, id, existing = 'refuse' } of choices) {
      const found = all.find((kept) => kept.name === name && (id === undefined || kept.id === id));
      if (found === undefined)
        return packRefusal(
          'install/trash',
          `there is no backup of ${quoted(name)} in ${quoted(displayPath(this.#handle, part), 200)}`,
        );
      const { lock } = found;
      chosen.push(found);
      changes.push({ type: 'put', name, from: backupPath(found), existing, lock });
    }
    const end = await this.#commit(changes, [], options);
    // Only the records are left.
    if (!isRefusal(end)) for (const found of chosen) await removeBackup(this.#handle, found);
    return end;
  }

  #rollBack(choice: Omit<BackupChoice, 'existing'>, options?: CommitOptions): Promise<Committed | PackRefusal> {
    if (this.#lock.skills.has(choice.name))
      return this.#bringBack('previous', [{ ...choice, existing: 'replace' }], options);
    const message = `${quoted(choice.name)} is not installed in ${quoted(this.#handle.path, 200)}`;
    return Promise.resolve(packRefusal('install/not-installed', message));
  }

  async #purge(
    part: BackupKind,
    { name, before }: { readonly name?: string; readonly before?: Date } = {},
  ): Promise<readonly SkillBackup[]> {
    const isMeant = ({ at }: SkillBackup): boolean => before === undefined || Date.parse(at) < before.getTime();
    const gone = listBackups(this.#handle, part, name).filter(isMeant);
    for (const entry of gone) await removeBackup(this.#handle, entry);
    pruneOriginals(this.#handle, this.#lock);
    return gone;
  }

  #refuseClosed(): void {
    if (this.#isClosed)
      throw new SkillError({
        code: 'input/invalid',
        message: 'the root is closed',
        hint: 'use it only inside the function that withRoot calls',
        data: { expected: 'an open root' },
      });
  }
}

function isPut(change: RootChange): change is PutChange {
  return change.type === 'put';
}

/** How long a reader waits for a writer, which is either nearly done or busy with a download. */
const WAIT_MS = 5_000;

/** Recovers roots before they are read, and reports it. A root that cannot be recovered is read as it is. */
export async function recoverRoots(roots: readonly string[], signal?: AbortSignal): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  for (const path of roots) {
    const report = ({ message }: { readonly message: string }): void =>
      void diagnostics.push(diagnose({ code: 'root/interrupted', path, message }, 'lenient'));
    const options = { timeoutMs: WAIT_MS, onRecovered: report };
    const recovered = await recoverRoot(path, { ...options, signal });
    if (isRefusal(recovered)) report(recovered);
  }
  return diagnostics;
}
