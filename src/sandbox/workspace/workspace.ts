/**
 * Workspaces: a folder for each run or session, found again by its key, in which skills are staged and programs run. See `layout.ts`
 * for where things lie and `leftovers.ts` for what happens to those of processes that died.
 */
import { chmodSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { randomBytes } from 'node:crypto';

import { SkillError } from '../../core/errors.ts';
import type { AttachedWorkspace, Executor, Identity, StagedSkill, WorkspacePlace } from '../../core/execution.ts';
import { thisProcess, writeFolderOwner } from '../../platform/fs/lock-owner.ts';
import { sha256 } from '../../platform/hash.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { openTreeDigests } from '../../platform/fs/tree-digest.ts';
import {
  invalid,
  ioFailed,
  isRoot,
  makeInside,
  makeTemporary,
  makeWorkspaceFolders,
  openBase,
  refuseUnreachable,
} from './layout.ts';
import type { Base } from './layout.ts';
import { removeLeftovers, removeOldSnapshots } from './leftovers.ts';
import type { SweepOptions } from './leftovers.ts';
import { newMetadata, readMetadata, writeMetadata } from './metadata.ts';
import type { WorkspaceMetadata } from './metadata.ts';
import { discard, openSnapshots, refuseSkillName, withSignal } from './snapshots.ts';
import type { SkillSource, Snapshots } from './snapshots.ts';
import { stageSnapshot } from './stage.ts';

export interface WorkspacesOptions {
  /** Absolute; made where it is missing. Ours alone, and on Linux with root reachable for every user. */
  readonly base: string;
  readonly now?: () => number;
  /** How long a kept workspace and an unused snapshot stay; a week. */
  readonly keptForMs?: number;
  /** The longest that removing leftovers may hold up the first workspace. */
  readonly sweepMs?: number;
}

export interface Workspaces {
  /** The workspace of a key: a new one, the one that is open, or the one that was kept. */
  open(key: string, executor: Executor): Promise<Workspace>;
  /** Closes all that are open. May be called twice. */
  close(): Promise<void>;
}

export interface RunFolder {
  /** `run-1`. */
  readonly name: string;
  /** Below the workspace, with forward slashes. */
  readonly path: string;
}

export interface Workspace {
  readonly id: string;
  readonly key: string;
  /** `skills` grows while skills are staged: executors look at it for each program. */
  readonly place: WorkspacePlace;
  readonly attached: AttachedWorkspace;
  /** Whom the writable folders belong to, where not to us. */
  readonly identity: Identity | undefined;
  readonly metadata: WorkspaceMetadata;
  /** What a person should know about how it came to be. */
  readonly warnings: readonly string[];
  /**
   * Puts a skill in place, once: as long as nobody asks for another digest, what is staged stays, whatever happens to the skill's
   * folder meanwhile.
   */
  stage(skill: SkillSource, options?: { readonly signal?: AbortSignal }): Promise<StagedSkill>;
  /** Removes old copies of skills, once for all workspaces: to be asked for while a program runs. Done by the close of all otherwise. */
  tidy(): Promise<void>;
  /** A folder for one run, made new. */
  newRunFolder(): RunFolder;
  /** Changes what is recorded; on disk before it returns. */
  record(change: (metadata: WorkspaceMetadata) => WorkspaceMetadata): void;
  /**
   * The same for what only the next one wants to know who opens a workspace that was kept: on disk with the next record, at the latest
   * when it is kept. One whose process dies is removed, whatever its record says.
   */
  note(change: (metadata: WorkspaceMetadata) => WorkspaceMetadata): void;
  /** Where it lies, with others. */
  readonly base: Base;
  /** `keep`: the next one who opens the key finds everything in it. Otherwise nothing is left. May be called twice. */
  close(options?: { readonly keep?: boolean }): Promise<void>;
}

const WEEK_MS = 7 * 24 * 60 * 60_000;
const SWEEP_MS = 2_000;
/** An executor that does not end its programs in this time is broken. */
const DETACH_MS = 30_000;
const MAX_RUNS = 100_000;

export function openWorkspaces({
  base: folder,
  now = Date.now,
  keptForMs = WEEK_MS,
  sweepMs = SWEEP_MS,
}: WorkspacesOptions): Workspaces {
  const base = openBase(folder);
  const snapshots = openSnapshots(base, openTreeDigests({ file: base.digestFile }));
  const open = new Map<string, Promise<Workspace>>();
  const closing = new Map<string, Promise<void>>();
  let swept: Promise<unknown> | undefined;
  let tidied: Promise<unknown> | undefined;
  const sweeping = (): SweepOptions => ({ now: now(), maxMs: sweepMs, keptForMs });
  const tidy = async (): Promise<void> => {
    tidied ??= removeOldSnapshots(base, sweeping());
    await tidied;
  };
  return {
    open(key, executor) {
      const name = keyName(key, executor);
      const known = open.get(name);
      if (known !== undefined) return known;
      const opening = (async (): Promise<Workspace> => {
        refuseUnreachable(base, executor.identity);
        swept ??= removeLeftovers(base, sweeping());
        await swept;
        // What is just being kept is found again.
        await Promise.allSettled([closing.get(name)]);
        const onClose = (shut: Promise<void>): void => {
          open.delete(name);
          closing.set(name, shut);
          const forget = (): boolean => closing.get(name) === shut && closing.delete(name);
          shut.then(forget, forget);
        };
        return openOne({ base, snapshots, now, key, name, executor, tidy, onClose });
      })();
      open.set(name, opening);
      // Whoever asked is told; the next one tries again.
      opening.catch(() => open.delete(name));
      return opening;
    },
    async close() {
      const outcomes = await Promise.allSettled([
        ...closing.values(),
        ...[...open.values()].map(async (opening) => (await opening).close()),
      ]);
      // Where no program gave the time for it.
      if (swept !== undefined) await tidy();
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
  };
}

/** Keys hold names of people and sessions, of any length: none of it becomes a path. */
function keyName(key: string, { name }: Executor): string {
  return sha256(JSON.stringify([name, key])).slice(0, 16);
}

interface Opening {
  readonly base: Base;
  readonly snapshots: Snapshots;
  readonly now: () => number;
  readonly key: string;
  readonly name: string;
  readonly executor: Executor;
  readonly tidy: () => Promise<void>;
  readonly onClose: (shut: Promise<void>) => void;
}

async function openOne(opening: Opening): Promise<Workspace> {
  const { base, executor, now } = opening;
  const id = `${opening.name}-${randomBytes(4).toString('hex')}`;
  const root = path.join(base.root, id);
  let state: 'none' | 'new' | 'kept' = 'none';
  try {
    const isKept = isTakenUp(path.join(base.root, `${opening.name}.kept`), root);
    if (isKept) writeFolderOwner(root, thisProcess());
    else appear(base, root);
    state = isKept ? 'kept' : 'new';
    makeWorkspaceFolders(root, executor.identity);
    const time = new Date(now()).toISOString();
    const reading = isKept ? readMetadata(root, time) : { metadata: newMetadata(time) };
    writeMetadata(root, reading.metadata);
    const staged = new Map<string, StagedSkill>();
    const place: WorkspacePlace = {
      id,
      root,
      get skills() {
        return [...staged.values()];
      },
    };
    const attached = await executor.attach(place);
    const warnings = reading.warning === undefined ? [] : [reading.warning];
    return makeWorkspace(opening, { place, staged, attached, metadata: reading.metadata, warnings });
  } catch (error) {
    if (state === 'new') await discard(base, root);
    if (state === 'kept') await keepFolder(base, root, opening.name);
    if (isSystemError(error)) throw ioFailed(root, error);
    throw error;
  }
}

/** A new folder with our lock in it from its first moment: whoever finds it knows whose it is. */
function appear(base: Base, root: string): void {
  const made = makeTemporary(base);
  chmodSync(made, isRoot() ? 0o711 : 0o700);
  writeFolderOwner(made, thisProcess());
  renameSync(made, root);
}

/** Renamed by one process only, whoever else tries. */
function isTakenUp(kept: string, root: string): boolean {
  try {
    renameSync(kept, root);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return false;
    throw error;
  }
}

interface Parts {
  readonly place: WorkspacePlace;
  readonly staged: Map<string, StagedSkill>;
  readonly attached: AttachedWorkspace;
  readonly metadata: WorkspaceMetadata;
  readonly warnings: readonly string[];
}

function makeWorkspace(opening: Opening, { place, staged, attached, warnings, ...begun }: Parts): Workspace {
  const { base, key, now, executor, snapshots, tidy } = opening;
  const { id, root } = place;
  const identity = isRoot() ? executor.identity : undefined;
  const staging = new Map<string, Promise<StagedSkill>>();
  let metadata = begun.metadata;
  let runs = lastRun(root);
  let closing: Promise<void> | undefined;
  const refuseClosed = (): void => {
    if (closing !== undefined) throw invalid(root, 'is a workspace that was closed', 'open it again by its key');
  };
  let isNoted = false;
  const changed = (change: (before: WorkspaceMetadata) => WorkspaceMetadata): WorkspaceMetadata => {
    refuseClosed();
    return { ...change(metadata), updated: new Date(now()).toISOString() };
  };
  const record: Workspace['record'] = (change) => {
    const next = changed(change);
    writeMetadata(root, next);
    metadata = next;
    isNoted = false;
  };
  const stage = async (skill: SkillSource, signal: AbortSignal | undefined): Promise<StagedSkill> => {
    const known = staged.get(skill.name);
    if (known !== undefined && (skill.digest === undefined || skill.digest === known.digest)) return known;
    const { digest, path: snapshot } = await takeSnapshot(skill, signal);
    const stagedSkill: StagedSkill = { name: skill.name, digest, snapshot };
    const { isolation } = attached.capabilities;
    const manner = isolation === 'none' || isolation === 'seatbelt' ? 'copy' : 'mount';
    await stageSnapshot({ name: skill.name, digest, path: snapshot }, withSignal({ base, root, manner }, signal));
    record((before) => ({
      ...before,
      skills: [
        ...before.skills.filter(({ name }) => name !== skill.name),
        { name: skill.name, digest, stagedAt: new Date(now()).toISOString() },
      ],
    }));
    staged.set(skill.name, stagedSkill);
    return stagedSkill;
  };
  const takeSnapshot = async (
    skill: SkillSource,
    signal: AbortSignal | undefined,
  ): Promise<Awaited<ReturnType<Snapshots['take']>>> => {
    // A workspace that was kept goes on with the skills it had, while there are copies of them.
    const before = skill.digest ?? metadata.skills.find(({ name }) => name === skill.name)?.digest;
    if (before === undefined || skill.digest !== undefined) return snapshots.take(skill, withSignal({}, signal));
    return (await snapshots.find(skill.name, before)) ?? snapshots.take(skill, withSignal({}, signal));
  };
  const shut = async (keep: boolean): Promise<void> => {
    await Promise.allSettled(staging.values());
    await withDeadline(attached.detach(), executor.name);
    if (keep && isNoted) writeMetadata(root, metadata);
    if (keep) await keepFolder(base, root, opening.name);
    else await discard(base, root);
  };

  return {
    id,
    key,
    place,
    attached,
    identity,
    base,
    warnings,
    get metadata() {
      return metadata;
    },
    stage(skill, { signal } = {}) {
      refuseClosed();
      refuseSkillName(skill.name, skill.dir);
      const before = staging.get(skill.name);
      const run = (async (): Promise<StagedSkill> => {
        // One after the other for each name: the second finds what the first has staged.
        if (before !== undefined) await Promise.allSettled([before]);
        return stage(skill, signal);
      })();
      staging.set(skill.name, run);
      const forget = (): void => {
        if (staging.get(skill.name) === run) staging.delete(skill.name);
      };
      run.then(forget, forget);
      return run;
    },
    tidy,
    newRunFolder() {
      refuseClosed();
      for (let attempt = 0; attempt < MAX_RUNS; attempt += 1) {
        runs += 1;
        const name = `run-${String(runs)}`;
        if (makeInside(path.join(root, 'runs'), name, { mode: 0o700, owner: identity }))
          return { name, path: `runs/${name}` };
      }
      throw invalid(root, 'has no room for another run', 'close the workspace and open it again');
    },
    record,
    note(change) {
      metadata = changed(change);
      isNoted = true;
    },
    close({ keep = false } = {}) {
      if (closing === undefined) {
        closing = shut(keep);
        opening.onClose(closing);
      }
      return closing;
    },
  };
}

function lastRun(root: string): number {
  const numbers = readdirSync(path.join(root, 'runs')).map((name) => Number(/^run-(\d{1,9})$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

/** One of the same key that was kept before makes room: the newest is the one that is gone on with. */
async function keepFolder(base: Base, root: string, name: string): Promise<void> {
  const kept = path.join(base.root, `${name}.kept`);
  writeFolderOwner(root, 'kept');
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      renameSync(root, kept);
      return;
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw ioFailed(root, error);
    }
    await discard(base, kept);
  }
}

async function withDeadline(act: Promise<void>, executor: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new SkillError({
          code: 'executor/failed',
          message: `the executor ${executor} did not end its programs within ${String(DETACH_MS / 1000)} s`,
          hint: 'look for processes that are left, and end them',
          data: { executor, cause: 'detach' },
        }),
      );
    }, DETACH_MS);
  });
  try {
    await Promise.race([act, late]);
  } finally {
    clearTimeout(timer);
  }
}
