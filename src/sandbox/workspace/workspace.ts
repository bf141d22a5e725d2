/**
 * Workspaces: a folder per run or session, identified by a key, in which skills are staged and programs run. See `layout.ts` for the
 * layout on disk and `leftovers.ts` for the cleanup after dead processes.
 */
import { chmodSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { randomBytes } from 'node:crypto';

import { isValidName, toSlug, type AttachedWorkspace, type Executor } from '#core';
import { isPresent, isSystemError, openTreeDigests, sha256, thisProcess } from '#platform';
import { executorFailed } from '../executors/failures.ts';
import { writeFolderOwner } from './folder-owner.ts';
import {
  invalid,
  ioFailed,
  isRoot,
  isSeparate,
  linkedFolders,
  makeHome,
  makeInside,
  makeTemporary,
  makeWorkspaceFolders,
  openBase,
  refuseUnreachable,
  type Base,
} from './layout.ts';
import { removeLeftovers, removeOldSnapshots, type SweepOptions } from './leftovers.ts';
import { newMetadata, readMetadata, writeMetadata, type MetadataReading, type WorkspaceMetadata } from './metadata.ts';
import { discard, openSnapshots, stagedName, type SkillSource, type Snapshot, type Snapshots } from './snapshots.ts';
import { copyOwnFolders } from './own-folders.ts';
import { stageSnapshot } from './stage.ts';
import { withinTime } from '../process/child-process.ts';
import type { StagedSkill, WorkspaceFolder, Identity } from '../program-types.ts';

export interface WorkspacesOptions {
  /** Absolute path, created if missing. Must belong to the current user; for root, every user must be able to reach it. */
  readonly base: string;
  readonly now?: () => number;
  /** Maximum age of kept workspaces and unused snapshots (default: a week). */
  readonly keptForMs?: number;
}

export interface Workspaces {
  /** Returns the workspace of a key: the open one, the kept one, or a new one. */
  open(key: string, executor: Executor): Promise<Workspace>;
  /** Closes all open workspaces. May be called twice. */
  close(): Promise<void>;
}

export interface RunFolder {
  /** `run-1`. */
  readonly name: string;
  /** Relative to the workspace, with forward slashes. */
  readonly path: string;
  /** Where the files of the program are on the host. */
  readonly host: string;
}

export interface Workspace {
  readonly id: string;
  /** `skills` grows while skills are staged; executors read it for each program. */
  readonly place: WorkspaceFolder;
  readonly attached: AttachedWorkspace;
  /** Owner of the writable folders, where it is not the current user. */
  readonly identity: Identity | undefined;
  readonly metadata: WorkspaceMetadata;
  /** Problems while it was opened and skills were staged. */
  readonly warnings: readonly string[];
  /** Stages a skill once: it stays as it is, whatever happens to its folder. */
  stage(skill: SkillSource, options?: { readonly signal?: AbortSignal }): Promise<StagedSkill>;
  /** Whether a program used the skill here before, so that `stage` returns the files that it had then. */
  hasStaged(skill: SkillSource): boolean;
  /** Whether the files of the skill still have this digest. */
  isCurrent(skill: SkillSource, digest: string, signal?: AbortSignal): Promise<boolean>;
  /** Removes old snapshots, once for all workspaces. Call it while a program runs; otherwise closing the workspaces does it. */
  tidy(): Promise<void>;
  /** Creates a folder for one run. */
  newRunFolder(): RunFolder;
  /** Creates the private folder of a skill, or of programs without a skill. Returns its path relative to the workspace. */
  homeOf(skill: { readonly name: string; readonly source: string } | undefined): string;
  /** Changes the metadata and writes it to disk. */
  record(change: (metadata: WorkspaceMetadata) => WorkspaceMetadata): void;
  /**
   * Changes the metadata in memory only. It is written with the next `record`, at the latest when the workspace is kept: no one reads
   * it before, because the workspace of a dead process is removed.
   */
  note(change: (metadata: WorkspaceMetadata) => WorkspaceMetadata): void;
  /** The folder of all workspaces. */
  readonly base: Base;
  /** `keep`: the next `open` of the key finds all files. Otherwise everything is removed. May be called twice. */
  close(options?: { readonly keep?: boolean }): Promise<void>;
}

const WEEK_MS = 7 * 24 * 60 * 60_000;
/** Time limit for removing leftovers before the first workspace opens. */
const SWEEP_MS = 2_000;
/** An executor that does not end its programs within this time is broken. */
const DETACH_MS = 30_000;
const MAX_RUNS = 100_000;
const DIGITS = 8;

export function openWorkspaces({ base: folder, now = Date.now, keptForMs = WEEK_MS }: WorkspacesOptions): Workspaces {
  const base = openBase(folder);
  const snapshots = openSnapshots(base, openTreeDigests({ file: base.digestFile }));
  const open = new Map<string, Promise<Workspace>>();
  const closing = new Map<string, Promise<void>>();
  let swept: Promise<unknown> | undefined;
  let tidied: Promise<unknown> | undefined;
  const sweeping = (): SweepOptions => ({ now: now(), maxMs: SWEEP_MS, keptForMs });
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
        // Wait for a workspace of the same key that is being kept.
        await Promise.allSettled([closing.get(name)]);
        const onClose = (closed: Promise<void>): void => {
          open.delete(name);
          closing.set(name, closed);
          const forget = (): boolean => closing.get(name) === closed && closing.delete(name);
          closed.then(forget, forget);
        };
        return openOne({ base, snapshots, now, name, executor, tidy, onClose });
      })();
      open.set(name, opening);
      // The caller gets the error; the next call tries again.
      opening.catch(() => open.delete(name));
      return opening;
    },
    async close() {
      const outcomes = await Promise.allSettled([
        ...closing.values(),
        ...[...open.values()].map(async (opening) => (await opening).close()),
      ]);
      // For workspaces in which no program ran.
      if (swept !== undefined) await tidy();
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
  };
}

/** Hashes the key, which may contain user and session names of any length. */
function keyName(key: string, { name }: Executor): string {
  return sha256(JSON.stringify([name, key])).slice(0, 16);
}

interface Opening {
  readonly base: Base;
  readonly snapshots: Snapshots;
  readonly now: () => number;
  readonly name: string;
  readonly executor: Executor;
  readonly tidy: () => Promise<void>;
  readonly onClose: (closed: Promise<void>) => void;
}

async function openOne(opening: Opening): Promise<Workspace> {
  const { base, executor, now } = opening;
  const id = `${opening.name}-${randomBytes(4).toString('hex')}`;
  const root = path.join(base.root, id);
  let state: 'none' | 'new' | 'kept' = 'none';
  try {
    const isKept = isRenamed(path.join(base.root, `${opening.name}.kept`), root);
    if (isKept) writeFolderOwner(root, thisProcess());
    else createFolder(base, root);
    state = isKept ? 'kept' : 'new';
    makeWorkspaceFolders(root, executor.identity);
    const time = new Date(now()).toISOString();
    const reading = isKept ? readMetadata(root, time) : { metadata: newMetadata(time) };
    writeMetadata(root, reading.metadata);
    const staged = new Map<string, StagedSkill>();
    const place: WorkspaceFolder = {
      id,
      root,
      get skills() {
        return [...staged.values()];
      },
    };
    const attached = await executor.attach(place);
    return makeWorkspace(opening, { place, staged, attached }, reading);
  } catch (error) {
    if (state === 'new') await discard(base, root);
    if (state === 'kept') await keepFolder(base, root, opening.name);
    if (isSystemError(error)) throw ioFailed(root, error);
    throw error;
  }
}

/** Creates a folder that contains our lock from the moment it is visible. */
function createFolder(base: Base, root: string): void {
  const folder = makeTemporary(base);
  chmodSync(folder, isRoot() ? 0o711 : 0o700);
  writeFolderOwner(folder, thisProcess());
  renameSync(folder, root);
}

/** Takes over a kept workspace. Only one of several processes succeeds. */
function isRenamed(kept: string, root: string): boolean {
  try {
    renameSync(kept, root);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return false;
    throw error;
  }
}

interface Parts extends Pick<Workspace, 'place' | 'attached'> {
  readonly staged: Map<string, StagedSkill>;
}

function makeWorkspace(opening: Opening, { place, staged, attached }: Parts, read: MetadataReading): Workspace {
  const { base, now, executor, snapshots, tidy } = opening;
  const { id, root } = place;
  const identity = isRoot() ? executor.identity : undefined;
  const staging = new Map<string, Promise<StagedSkill>>();
  /** Where each staged skill comes from. In a kept workspace, the name of a skill that is gone is free. */
  const folders = new Map(
    read.metadata.skills.flatMap(({ name, dir }) => (dir !== undefined && isPresent(dir) ? [[name, dir]] : [])),
  );
  const locate = ({ name, dir }: SkillSource): SkillSource => ({
    name: stagedName({ name, dir }, (one) => (folders.get(one) ?? dir) !== dir),
    dir,
  });
  const warnings = read.warning === undefined ? [] : [read.warning];
  let { metadata } = read;
  let runs = lastRun(root);
  let closing: Promise<void> | undefined;
  const refuseClosed = (): void => {
    if (closing !== undefined) throw invalid(root, 'is a closed workspace', 'open it again by its key');
  };
  /** Without isolation an earlier program can have removed them. */
  const restoreFolders = (): void => {
    refuseClosed();
    makeWorkspaceFolders(root, identity);
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
  const recordOf = (skill: SkillSource): WorkspaceMetadata['skills'][number] | undefined =>
    metadata.skills.find(({ name, dir }) => name === skill.name && dir === skill.dir);
  const stage = async (skill: SkillSource, signal: AbortSignal | undefined): Promise<StagedSkill> => {
    const known = staged.get(skill.name);
    if (known !== undefined) return known;
    const { digest, path: snapshot } = await takeSnapshot(skill, signal);
    const stagedSkill: StagedSkill = { name: skill.name, digest, snapshot };
    const mode = isSeparate(attached) ? 'mount' : 'copy';
    await stageSnapshot({ name: skill.name, digest, path: snapshot }, { base, root, mode, signal });
    // A kept workspace has them already, as its programs left them.
    if (recordOf(skill)?.digest !== digest) warnings.push(...copyOwnFolders(stagedSkill, linkedFolders(root)));
    record((before) => ({
      ...before,
      skills: [
        ...before.skills.filter(({ name }) => name !== skill.name),
        { ...skill, digest, stagedAt: new Date(now()).toISOString() },
      ],
    }));
    staged.set(skill.name, stagedSkill);
    return stagedSkill;
  };
  const takeSnapshot = async (skill: SkillSource, signal: AbortSignal | undefined): Promise<Snapshot> => {
    // A kept workspace continues with its earlier skills as long as their snapshots exist.
    const before = recordOf(skill)?.digest;
    const kept = before === undefined ? undefined : await snapshots.find(skill.name, before);
    return kept ?? snapshots.take(skill, { signal });
  };
  const closeOnce = async (keep: boolean): Promise<void> => {
    await Promise.allSettled(staging.values());
    await detachInTime(attached, executor.name);
    if (keep && isNoted) writeMetadata(root, metadata);
    if (keep) await keepFolder(base, root, opening.name);
    else await discard(base, root);
  };

  return {
    id,
    place,
    attached,
    identity,
    base,
    warnings,
    get metadata() {
      return metadata;
    },
    stage({ name, dir }, { signal } = {}) {
      refuseClosed();
      const skill = locate({ name, dir });
      folders.set(skill.name, dir);
      const before = staging.get(skill.name);
      const run = (async (): Promise<StagedSkill> => {
        // Sequential per name: the second call finds what the first has staged.
        if (before !== undefined) await Promise.allSettled([before]);
        return stage(skill, signal);
      })();
      staging.set(skill.name, run);
      const forget = (): boolean => staging.get(skill.name) === run && staging.delete(skill.name);
      run.then(forget, forget);
      return run;
    },
    hasStaged: (skill) => recordOf(locate(skill)) !== undefined,
    isCurrent: (skill, digest, signal) => snapshots.isCurrent(skill, digest, signal),
    tidy,
    newRunFolder() {
      restoreFolders();
      for (let attempt = 0; attempt < MAX_RUNS; attempt += 1) {
        runs += 1;
        const name = `run-${String(runs)}`;
        if (makeInside(path.join(root, 'runs'), name, { mode: 0o700, owner: identity }))
          return { name, path: `runs/${name}`, host: path.join(root, 'runs', name) };
      }
      throw invalid(root, `already has ${String(MAX_RUNS)} runs`, 'close the workspace and open it again');
    },
    homeOf(skill) {
      restoreFolders();
      // Two sources may have a skill of the same name.
      return makeHome(root, skill === undefined ? 'none' : homeName(skill), identity);
    },
    record,
    note(change) {
      metadata = changed(change);
      isNoted = true;
    },
    close({ keep = false } = {}) {
      if (closing === undefined) {
        closing = closeOnce(keep);
        opening.onClose(closing);
      }
      return closing;
    },
  };
}

/** A slug, because programs often fail where the path of their home has a space or a colon. */
function homeName({ name, source }: { readonly name: string; readonly source: string }): string {
  const slug = isValidName(name) ? name : (toSlug(name, DIGITS + 1) ?? 'skill');
  return `${slug}-${sha256(slug === name ? source : JSON.stringify([name, source])).slice(0, DIGITS)}`;
}

function lastRun(root: string): number {
  const numbers = readdirSync(path.join(root, 'runs')).map((name) => Number(/^run-(\d{1,9})$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

/** Keeps a workspace, replacing an earlier one of the same key. */
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

async function detachInTime(attached: AttachedWorkspace, executor: string): Promise<void> {
  const isDone = await withinTime(
    attached.detach().then(() => true),
    DETACH_MS,
  );
  if (isDone === true) return;
  const message = `the executor ${executor} did not end its programs within ${String(DETACH_MS / 1000)} s`;
  throw executorFailed(executor, message, { hint: 'find the remaining processes and end them', cause: 'detach' });
}
