/** A root of skills, opened for changes by one process at a time. */
import { existsSync } from 'node:fs';
import path from 'node:path';

import type { LockFile } from '../lock/lock.ts';
import { PackRefused, isRefusal, orSystemRefusal, packRefusal, systemRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import type { OnStep } from './apply.ts';
import {
  JOURNAL_NAME,
  STATE_FOLDER,
  holdRoot,
  lockPlace,
  prepareState,
  releaseRoot,
  identityAt,
  shownPlace,
  statePlace,
  timedName,
  unusable,
} from './root-paths.ts';
import type { HeldRoot } from './root-paths.ts';
import { readLockAt } from '../lock/lock-file.ts';
import { recoverHeld } from './recover.ts';
import type { Recovered } from './recover.ts';
import { lockRoot } from './root-lock.ts';
import type { RootLock } from './root-lock.ts';
import { SkillError } from '../../core/errors.ts';
import { ownerName, thisProcess } from '../../platform/fs/folder-lock.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { isInside, isSystemError } from '../../platform/fs/paths.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { commitChanges } from './commit.ts';
import type { CommitEnd, CommitOptions, Work } from './commit.ts';
import { beginSync } from './sync.ts';
import type { Settling } from './sync.ts';
import { keptPlace, listKept, removeEmptyKept, removeKept, surplusKept } from './skill-backups.ts';
import type { KeptPart, KeptSkill } from './skill-backups.ts';
import type { Existing, PlannedChange, PutChange, RootChange } from './plan.ts';
import { diagnose } from '../../core/diagnostic.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';

export interface WithRootOptions {
  readonly signal?: AbortSignal;
  /** How long to wait for another process; 30 s. */
  readonly timeoutMs?: number;
  /** Make the root where there is none. */
  readonly create?: boolean;
  readonly onRecovered?: (what: Recovered) => void;
  /** For tests: told after everything that recovery does and others can see. */
  readonly onStep?: OnStep;
}

/**
 * Opens a root, brings it to rest where somebody left it in the middle, and lets `act` change it while nobody else does. Refused where the
 * root cannot be used, is in use for too long, or has a lock that cannot be read. A `PackRefused` of `act` is its refusal; all else that it
 * throws flies on.
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
    if (error instanceof PackRefused) return error.refusal;
    throw error;
  } finally {
    await opened.close();
  }
}

/** Brings a root to rest; nothing more. */
export async function recoverRoot(
  root: string,
  options: Omit<WithRootOptions, 'create'> = {},
): Promise<{ readonly type: 'recovered'; readonly lock: LockFile } | PackRefusal> {
  return withRoot(root, options, ({ lock }) => Promise.resolve({ type: 'recovered', lock }));
}

/** Somebody is in the middle of a change, or died there. One look, for readers. */
export function needsRecovery(root: string): boolean {
  return existsSync(path.join(root, STATE_FOLDER, JOURNAL_NAME));
}

async function open(root: string, options: WithRootOptions): Promise<RootSession> {
  const held = holdRoot(root, { create: options.create ?? false });
  let rootLock: RootLock | undefined;
  try {
    prepareState(held);
    rootLock = await lockRoot(held, options);
    await recoverHeld(held, options);
    const lock = readLockAt(lockPlace(held));
    if (isRefusal(lock)) throw new PackRefused(lock);
    return new RootSession(held, rootLock, lock);
  } catch (error) {
    rootLock?.release();
    releaseRoot(held);
    throw error;
  }
}

export interface Committed {
  readonly type: 'committed';
  readonly lock: LockFile;
  /** What was taken out of the root, and where it lies now. */
  readonly kept: readonly KeptSkill[];
  /** Versions before, of which there were more than are kept: removed for good. */
  readonly pruned: readonly KeptSkill[];
  /** What somebody else did meanwhile, and what became of it. For people. */
  readonly notes: readonly string[];
}

/** Which of those that are kept; the newest where only a name is given. */
export interface KeptChoice {
  readonly name: string;
  readonly id?: string;
  /** What to do with what stands there; refuse. */
  readonly existing?: Existing;
}

export interface OpenRoot {
  /** Real and absolute. */
  readonly path: string;
  /** As it is now: a commit changes it. */
  readonly lock: LockFile;
  /** A fresh folder that nobody else can enter, on the file system of the root. Removed when the root is closed. Throws `PackRefused`. */
  staging(): string;
  /**
   * Says that all is staged, about so many files: they begin to go to the disk, while they are looked at. Given to the commit, which then waits
   * for the end of that. Nothing may be written into the staging folders after this; a further folder takes it back.
   */
  settle(count: number): Settling | undefined;
  /** All changes or none. */
  commit(changes: readonly RootChange[], options?: CommitOptions): Promise<Committed | PackRefusal>;
  /** Removed skills, newest first. */
  trash(): readonly KeptSkill[];
  /** Earlier versions of a skill, newest first. */
  versions(name: string): readonly KeptSkill[];
  backups(): readonly KeptSkill[];
  /** Brings a removed skill back, with its entry in the lock. */
  restore(choice: KeptChoice, options?: CommitOptions): Promise<Committed | PackRefusal>;
  /** The version before takes the place of the present one, which is then the version before. */
  rollback(choice: Omit<KeptChoice, 'existing'>, options?: CommitOptions): Promise<Committed | PackRefusal>;
  /** Removes for good what is kept, and says what it was: of one skill, or all of a part. */
  purge(part: KeptPart, choice?: { readonly name?: string; readonly before?: Date }): Promise<readonly KeptSkill[]>;
}

/** Versions before the present one that are kept of each skill. */
const KEEP_VERSIONS = 5;

/** The handle of an opened root. */
export class RootSession {
  readonly #held: HeldRoot;
  readonly #rootLock: RootLock;
  readonly #staging: string;
  #lock: LockFile;
  #isClosed = false;
  #settling: Settling | undefined;
  #folders = 0;

  constructor(held: HeldRoot, rootLock: RootLock, lock: LockFile) {
    this.#held = held;
    this.#rootLock = rootLock;
    this.#lock = lock;
    this.#staging = `staging/${ownerName(thisProcess())}.${timedName(new Date(), 'work')}`;
  }

  handle(): OpenRoot {
    const lockNow = (): LockFile => this.#lock;
    return {
      path: this.#held.path,
      get lock() {
        return lockNow();
      },
      staging: () => this.#newFolder(),
      settle: (count) => this.#settle(count),
      commit: (changes, options) =>
        this.#commit(
          changes.map((change) => this.#planned(change)),
          changes.filter(isPut),
          options,
        ),
      trash: () => listKept(this.#held, 'trash'),
      versions: (name) => listKept(this.#held, 'previous', name),
      backups: () => listKept(this.#held, 'backups'),
      restore: (choice, options) => this.#bringBack('trash', choice, options),
      rollback: (choice, options) => this.#rollBack(choice, options),
      purge: (part, choice) => this.#purge(part, choice),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#settling?.drop();
    try {
      // What a journal still speaks of is for whoever comes next.
      if (identityAt(statePlace(this.#held, JOURNAL_NAME)) === undefined)
        await removeTree(statePlace(this.#held, this.#staging));
    } catch (error) {
      // What is left is removed by whoever opens the root next.
      if (!isSystemError(error)) throw error;
    } finally {
      this.#rootLock.release();
      releaseRoot(this.#held);
    }
  }

  #settle(count: number): Settling | undefined {
    this.#refuseClosed();
    this.#settling?.drop();
    this.#settling = beginSync({ count, within: this.#held.path });
    return this.#settling;
  }

  #newFolder(): string {
    this.#refuseClosed();
    this.#settling?.drop();
    this.#settling = undefined;
    this.#folders += 1;
    const below = `${this.#staging}/${String(this.#folders)}`;
    try {
      makeFolders(statePlace(this.#held, below), 0o700);
    } catch (error) {
      throw new PackRefused(systemRefusal(error, `nothing can be put into ${quoted(this.#held.path, 200)}`));
    }
    return shownPlace(this.#held, below);
  }

  #planned(change: RootChange): PlannedChange {
    if (change.type === 'remove') return change;
    const { looks: _, from, ...rest } = change;
    const own = shownPlace(this.#held, this.#staging);
    const staged = path.resolve(from);
    if (!isInside(staged, own) || staged === own)
      throw new SkillError({
        code: 'input/invalid',
        message: `${JSON.stringify(from)} does not lie in a folder that staging() gave`,
        hint: 'put the files there first',
        data: { expected: own },
      });
    const below = path.relative(own, staged).split(path.sep).join('/');
    return { ...rest, from: `${this.#staging}/${below}` };
  }

  async #commit(
    changes: readonly PlannedChange[],
    staged: readonly PutChange[],
    options: CommitOptions = {},
  ): Promise<Committed | PackRefusal> {
    this.#refuseClosed();
    const made = await this.#orRefusal(() => {
      if (identityAt(statePlace(this.#held, JOURNAL_NAME)) !== undefined)
        throw unusable('an earlier change is not finished: open the root again', this.#held.path);
      makeFolders(statePlace(this.#held, this.#staging), 0o700);
      return Promise.resolve(this.#work());
    });
    if (isRefusal(made)) return made;
    const { settling, ...rest } = options;
    const isCovered = settling !== undefined && settling === this.#settling;
    const end = await commitChanges(made, changes, staged, isCovered ? { ...rest, settling } : rest);
    if (end.type === 'done') return this.#committed(end);
    if (end.type === 'refused') {
      await this.#orRefusal(() => removeEmptyKept(this.#held));
      return end;
    }
    return end.refusal;
  }

  #orRefusal<T>(act: () => Promise<T>): Promise<T | PackRefusal> {
    return orSystemRefusal(act, `${quoted(this.#held.path, 200)} cannot be used`);
  }

  #work(): Work {
    return { held: this.#held, rootLock: this.#rootLock, lock: this.#lock, staging: this.#staging };
  }

  async #committed({ lock, steps, notes }: Extract<CommitEnd, { type: 'done' }>): Promise<Committed> {
    this.#lock = lock;
    const outOf = new Set(steps.flatMap((step) => (step.type === 'put' ? step.old : step.to) ?? []));
    const parts = new Set([...outOf].map((below) => below.split('/')[0]));
    const kept = KEPT_PARTS.filter((part) => parts.has(part))
      .flatMap((part) => listKept(this.#held, part))
      .filter((entry) => outOf.has(keptPlace(entry)));
    const names = new Set(kept.filter(({ part }) => part === 'previous').map(({ name }) => name));
    const pruned = names.size === 0 ? [] : surplusKept(this.#held, 'previous', { names, keep: KEEP_VERSIONS });
    for (const entry of pruned) await removeKept(this.#held, entry);
    return { type: 'committed', lock, kept, pruned, notes };
  }

  async #bringBack(
    part: KeptPart,
    { name, id, existing = 'refuse' }: KeptChoice,
    options?: CommitOptions,
  ): Promise<Committed | PackRefusal> {
    const found = listKept(this.#held, part, name).find((kept) => id === undefined || kept.id === id);
    if (found === undefined)
      return packRefusal(
        'install/trash',
        `nothing of ${quoted(name)} is kept in ${quoted(shownPlace(this.#held, part), 200)}`,
      );
    const { lock } = found;
    const entry = lock === undefined ? {} : { lock };
    const end = await this.#commit([{ type: 'put', name, from: keptPlace(found), existing, ...entry }], [], options);
    // The record alone is left of it.
    if (!isRefusal(end)) await removeKept(this.#held, found);
    return end;
  }

  #rollBack(choice: Omit<KeptChoice, 'existing'>, options?: CommitOptions): Promise<Committed | PackRefusal> {
    if (this.#lock.skills.has(choice.name))
      return this.#bringBack('previous', { ...choice, existing: 'replace' }, options);
    const message = `${quoted(choice.name)} is not installed in ${quoted(this.#held.path, 200)}`;
    return Promise.resolve(packRefusal('install/not-installed', message));
  }

  async #purge(
    part: KeptPart,
    { name, before }: { readonly name?: string; readonly before?: Date } = {},
  ): Promise<readonly KeptSkill[]> {
    const isMeant = ({ at }: KeptSkill): boolean => before === undefined || Date.parse(at) < before.getTime();
    const gone = listKept(this.#held, part, name).filter(isMeant);
    for (const entry of gone) await removeKept(this.#held, entry);
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

const KEPT_PARTS: readonly KeptPart[] = ['trash', 'previous', 'backups'];

function isPut(change: RootChange): change is PutChange {
  return change.type === 'put';
}

/** How long a reader waits for somebody who is at work: they are done in a moment, or hold a root for a download. */
const WAIT_MS = 5_000;

/** What could not be brought to rest is told, and read as it is. */
export async function recoverRoots(roots: readonly string[], signal?: AbortSignal): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  for (const path of roots) {
    const recovered = await recoverRoot(path, { timeoutMs: WAIT_MS, ...(signal === undefined ? {} : { signal }) });
    if (isRefusal(recovered))
      diagnostics.push(diagnose({ code: 'root/interrupted', path, message: recovered.message }, 'lenient'));
  }
  return diagnostics;
}
