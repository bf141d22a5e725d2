/** An opened root: what can be done with it, and what that takes. */
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import type { LockFile } from '../lock/lock.ts';
import { PackRefused, isRefusal, packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { ownerName, thisProcess } from '../../platform/fs/lock-owner.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { isInside, isSystemError } from '../../platform/fs/paths.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { orSystemRefusal, systemRefusal } from '../system-refusal.ts';
import { commitChanges } from './commit.ts';
import type { CommitEnd, CommitOptions, Work } from './commit.ts';
import { beginSync } from './durable.ts';
import type { Settling } from './durable.ts';
import { keptPlace, listKept, removeEmptyKept, removeKept, surplusKept } from './kept.ts';
import type { KeptPart, KeptSkill } from './kept.ts';
import { JOURNAL_NAME, identityAt, releaseRoot, shownPlace, statePlace, timedName, unusable } from './places.ts';
import type { HeldRoot } from './places.ts';
import type { Existing, PlannedChange, PutChange, RootChange } from './plan.ts';
import type { RootLock } from './root-lock.ts';

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
