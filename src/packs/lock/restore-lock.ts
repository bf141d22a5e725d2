/** `install --frozen`: installs exactly what the lock says, or nothing. */
import path from 'node:path';

import { compareText, quoted } from '#core';
import { findAgentBase } from '../agents/agents.ts';
import { checkCopies } from '../agents/lock-places.ts';
import { folderInLock, type AgentTarget } from '../agents/place-targets.ts';
import { readStagedTree } from '../inspect/inspect-skill.ts';
import { readTypedSource, settingsForLock, stagePack } from '../inspect/stage-pack.ts';
import { verifySource } from '../inspect/verdicts.ts';
import type { FetchIntoRootOptions } from '../install/options.ts';
import { groupBy } from '../group-by.ts';
import { accepted, isRefusal, orRefusal, refused, type PackRefusal } from '../problems.ts';
import { inRoot, type ChangeOutcome, type OpenRoot } from '../root/open-root.ts';
import { mayReplace, type Existing, type PutChange } from '../root/plan.ts';
import type { StagedSource } from '../sources/source.ts';
import { trustArriving } from '../trust-confirmed.ts';
import { verifySkill } from '../verify-root.ts';
import { requireLock, type LockedSkill } from './lock-file.ts';

export interface RestoreOptions extends Omit<FetchIntoRootOptions, 'at'> {
  /** Folders of the lock that the user named; others are used only if they belong to a known agent. */
  readonly targets?: readonly AgentTarget[];
  /** What to do with a skill that does not match the lock (default: refuse). */
  readonly existing?: Existing;
}

export interface Restored extends Omit<ChangeOutcome, 'notes'> {
  readonly type: 'restored';
  readonly root: string;
  /** Names of skills that already match the lock. */
  readonly same: readonly string[];
  /** Names of skills that were installed, or would be in a dry run, with their digests. */
  readonly brought: readonly string[];
  /** Links and copies for agents that were missing and are back, or would be; absolute paths. */
  readonly linked: readonly string[];
  /** The locked digests of the installed skills by name. */
  readonly digests: ReadonlyMap<string, string>;
}

/** Refuses to overwrite local edits without `existing`: a folder that differs from its lock entry is reported. */
export async function restoreLock(options: RestoreOptions): Promise<Restored | PackRefusal> {
  const lock = orRefusal(() => requireLock(options.settings.root));
  return isRefusal(lock) ? lock : await inRoot(options, (open) => restoreInto(open, options));
}

async function restoreInto(open: OpenRoot, options: RestoreOptions): Promise<Restored> {
  const { settings, existing = 'refuse', dryRun = false, trust, signal, targets = [] } = options;
  const all = [...open.lock.skills.values()].toSorted((a, b) => compareText(a.name, b.name));
  const found = all.map((locked) => verifySkill(path.join(open.path, locked.name), locked));
  const edited = found.find(({ status }) => status === 'drift' || status === 'unreadable');
  if (edited !== undefined && !mayReplace(existing))
    throw refused('lock/drift', `${quoted(edited.name)} does not match the lock; it may have been edited`);
  const absent = found.flatMap(({ status, locked }) => (status === 'same' || locked === undefined ? [] : [locked]));
  const base = findAgentBase(open.path, settings.surroundings);
  const missing = all
    .flatMap((locked) => checkCopies(locked, open.path, base))
    // A link to a skill that is missing as well needs no change.
    .filter(({ status }) => status !== 'same' && status !== 'broken');
  const done = {
    type: 'restored',
    root: open.path,
    same: found.filter(({ status }) => status === 'same').map(({ name }) => name),
    brought: absent.map(({ name }) => name),
    digests: new Map(absent.map(({ name, digest }) => [name, digest])),
    linked: missing.map((copy) => copy.path),
    unplaced: [],
    kept: [],
  } as const;
  if (dryRun || absent.length + missing.length === 0) return { ...done, isDone: !dryRun };
  const changes = await stageLocked(absent, open, options);
  const places = missing.map(({ name, kind, path: at }) => {
    const folder = path.dirname(at);
    const within = targets.find((target) => target.folder === folder)?.within;
    return { folder: folderInLock(open.path, folder), kind, add: [name], remove: [], within };
  });
  const beforeCommit = trust === true ? trustArriving(settings) : undefined;
  const { unplaced, kept } = accepted(await open.commit(changes, { places, beforeCommit, signal }));
  const failed = new Set(unplaced.map(({ folder, name }) => path.join(folder, name)));
  return { ...done, linked: done.linked.filter((at) => !failed.has(at)), unplaced, kept, isDone: true };
}

/** Stages each source once, at the locked revision, and selects the skills with the locked digests. */
async function stageLocked(
  absent: readonly LockedSkill[],
  open: OpenRoot,
  options: RestoreOptions,
): Promise<readonly PutChange[]> {
  const changes: PutChange[] = [];
  const bySource = groupBy(absent, ({ source, revision, archive }) => JSON.stringify([source, revision, archive]));
  for (const group of bySource.values()) {
    const staged = await stageGroup(group, open, options);
    // `signedBy` in the lock is not proof, because anyone can write the lock.
    if (options.settings.requireSigned) accepted(await verifySource(staged, group, options.settings));
    for (const locked of group) {
      changes.push(changeFor(locked, staged, options.existing));
      options.onProgress?.({ step: 'check', done: changes.length, total: absent.length });
    }
  }
  return changes;
}

async function stageGroup(
  group: readonly [LockedSkill, ...LockedSkill[]],
  open: OpenRoot,
  { settings, offline, signal, onProgress }: RestoreOptions,
): Promise<StagedSource> {
  const [{ source: typed, revision, archive }] = group;
  const source = accepted(readTypedSource(typed, settingsForLock(settings)));
  const stage = (expected: string | undefined): Promise<StagedSource | PackRefusal> =>
    stagePack(source, {
      settings: settingsForLock(settings),
      to: open.staging(),
      expect: { revision, archive: expected },
      only: group.map(({ name }) => name),
      offline,
      signal,
      onProgress,
    });
  const staged = await stage(archive);
  // A rebuilt archive may contain the same skills. Their own digests decide.
  const isRebuilt = isRefusal(staged) && staged.code === 'source/digest' && archive !== undefined;
  return accepted(isRebuilt ? await stage(undefined) : staged);
}

function changeFor(locked: LockedSkill, { skills, unusable }: StagedSource, existing: Existing = 'refuse'): PutChange {
  const { name, folder = '', source } = locked;
  const skill = skills.find((one) => one.folder === folder) ?? skills.find((one) => one.name === name);
  accepted(unusable.find((one) => one.folder === folder)?.refusal);
  if (skill === undefined)
    throw refused('lock/not-reproducible', `${quoted(source, 200)} no longer contains ${quoted(name)}`);
  const tree = accepted(readStagedTree(skill));
  if (tree.digest !== locked.digest)
    throw refused('lock/not-reproducible', `${quoted(name)} of ${quoted(source, 200)} does not have the locked bytes`);
  return { type: 'put', name, from: skill.path, lock: locked, existing, looks: tree.looks };
}
