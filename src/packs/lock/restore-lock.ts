/** `install --frozen`: installs exactly what the lock says, or nothing. */
import path from 'node:path';

import { compareText, quoted } from '#core';
import { findAgentBase } from '../agents/agents.ts';
import { checkPlaces, type CheckedPlace } from '../agents/lock-places.ts';
import type { FolderChange, Unplaced } from '../agents/place-skills.ts';
import { folderInLock, type PlaceTarget } from '../agents/place-targets.ts';
import { readLock, type LockedSkill } from './lock-file.ts';
import { isRefusal, packRefusal, type PackRefusal } from '../problems.ts';
import type { StagedSource } from '../sources/source.ts';
import { withRoot, type OpenRoot } from '../root/open-root.ts';
import { mayReplace, type Existing, type PutChange } from '../root/plan.ts';
import type { SkillBackup } from '../root/skill-backups.ts';
import { fingerprintFolder, presentFiles } from '../root/present-files.ts';
import { stagePack, settingsForLock, readTypedSource } from '../inspect/stage-pack.ts';
import type { InstallProgress } from '../install.ts';
import type { BeforeCommit } from '../root/commit.ts';
import type { PackSettings } from '../pack-settings.ts';
import { verifySource } from '../inspect/verdicts.ts';
import { verifySkill } from '../verify-root.ts';

export interface RestoreOptions {
  readonly settings: PackSettings;
  /** Folders of the lock that the user named; others are used only if they belong to a known agent. */
  readonly targets?: readonly PlaceTarget[];
  /** What to do with a skill that does not match the lock (default: refuse). */
  readonly existing?: Existing;
  readonly offline?: boolean;
  readonly dryRun?: boolean;
  /** Called with the staged skills right before they are installed. */
  readonly beforeCommit?: BeforeCommit;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: InstallProgress) => void;
  readonly onNote?: (note: string) => void;
}

export interface Restored {
  readonly type: 'restored';
  readonly root: string;
  /** Names of skills that already match the lock. */
  readonly same: readonly string[];
  /** Names of skills that were installed, or would be in a dry run. */
  readonly brought: readonly string[];
  /** Links and copies for agents that were missing and are back, or would be; absolute paths. */
  readonly linked: readonly string[];
  /** Links and copies that could not be made. */
  readonly unplaced: readonly Unplaced[];
  /** Replaced skills that were kept. */
  readonly kept: readonly SkillBackup[];
  readonly isDone: boolean;
}

/** Refuses to overwrite local edits without `existing`: a folder that differs from its lock entry is reported. */
export async function restoreLock(options: RestoreOptions): Promise<Restored | PackRefusal> {
  const { settings, signal, onNote } = options;
  const { root } = settings;
  const lock = readLock(root);
  if (lock === undefined) return packRefusal('lock/missing', `${quoted(root, 200)} has no skills.lock.json`);
  if (isRefusal(lock)) return lock;
  return await withRoot(root, { signal, onRecovered: ({ message }) => onNote?.(message) }, (open) =>
    restoreInto(open, options),
  );
}

async function restoreInto(open: OpenRoot, options: RestoreOptions): Promise<Restored | PackRefusal> {
  const all = [...open.lock.skills.values()].toSorted((a, b) => compareText(a.name, b.name));
  const found = all.map((locked) => verifySkill(path.join(open.path, locked.name), locked));
  const { existing = 'refuse' } = options;
  const edited = found.find(({ status }) => status === 'drift' || status === 'unreadable');
  if (edited !== undefined && !mayReplace(existing))
    return packRefusal('lock/drift', `${quoted(edited.name)} does not match the lock; it may have been edited`);
  const wanted = found.flatMap(({ status, locked }) => (status === 'same' || locked === undefined ? [] : [locked]));
  const base = findAgentBase(open.path, options.settings.surroundings);
  const missing = all.flatMap((locked) => checkPlaces(locked, open.path, base)).filter(isNotInPlace);
  const done = {
    type: 'restored',
    root: open.path,
    same: found.filter(({ status }) => status === 'same').map(({ name }) => name),
    brought: wanted.map(({ name }) => name),
    linked: missing.map((place) => place.path),
    unplaced: [],
    kept: [],
  } as const;
  if (options.dryRun === true || wanted.length + missing.length === 0)
    return { ...done, isDone: options.dryRun !== true };
  const changes = await stageLocked(wanted, open, options);
  if (isRefusal(changes)) return changes;
  const places = missing.map(({ name, kind, path: at }): FolderChange => {
    const folder = path.dirname(at);
    const within = options.targets?.find((target) => target.folder === folder)?.within;
    const change = { folder: folderInLock(open.path, folder), kind, add: [name], remove: [] };
    return within === undefined ? change : { ...change, within };
  });
  const committed = await open.commit(changes, {
    places,
    beforeCommit: options.beforeCommit,
    signal: options.signal,
  });
  if (isRefusal(committed)) return committed;
  const { unplaced, kept } = committed;
  const failed = new Set(unplaced.map(({ folder, name }) => path.join(folder, name)));
  return { ...done, linked: done.linked.filter((at) => !failed.has(at)), unplaced, kept, isDone: true };
}

/** A link to a skill that is missing as well needs no change. */
function isNotInPlace({ status }: CheckedPlace): boolean {
  return status !== 'same' && status !== 'broken';
}

/** Stages each source once, at the locked revision, and selects the skills with the locked digests. */
async function stageLocked(
  wanted: readonly LockedSkill[],
  open: OpenRoot,
  options: RestoreOptions,
): Promise<readonly PutChange[] | PackRefusal> {
  const changes: PutChange[] = [];
  for (const group of bySource(wanted)) {
    const [first] = group;
    if (first === undefined) continue;
    const staged = await stageGroup(first, group, open, options);
    if (isRefusal(staged)) return staged;
    const unproven = await signatureProblem(staged, group, options);
    if (unproven !== undefined) return unproven;
    for (const locked of group) {
      const change = changeFor(locked, staged, options.existing);
      if (isRefusal(change)) return change;
      changes.push(change);
      options.onProgress?.({ step: 'check', done: changes.length, total: wanted.length });
    }
  }
  return changes;
}

async function stageGroup(
  { source: typed, revision, archive }: LockedSkill,
  group: readonly LockedSkill[],
  open: OpenRoot,
  { settings, offline, signal, onProgress }: RestoreOptions,
): Promise<StagedSource | PackRefusal> {
  const source = readTypedSource(typed, settingsForLock(settings));
  if (isRefusal(source)) return source;
  const stage = (expect: { readonly archive?: string }): Promise<StagedSource | PackRefusal> =>
    stagePack(source, {
      settings: settingsForLock(settings),
      to: open.staging(),
      expect: { revision, ...expect },
      only: group.map(({ name }) => name),
      offline,
      signal,
      onProgress,
    });
  const staged = await stage(archive === undefined ? {} : { archive });
  // A rebuilt archive may contain the same skills. Their own digests decide.
  return isRefusal(staged) && staged.code === 'source/digest' && archive !== undefined ? await stage({}) : staged;
}

/** Verifies signatures if they are required. `signedBy` in the lock is not proof, because anyone can write the lock. */
async function signatureProblem(
  staged: StagedSource,
  group: readonly LockedSkill[],
  { settings }: RestoreOptions,
): Promise<PackRefusal | undefined> {
  if (!settings.requireSigned) return undefined;
  const proof = await verifySource(staged, group, settings);
  return isRefusal(proof) ? proof : undefined;
}

/** Finds the skill with the locked bytes. */
function changeFor(
  locked: LockedSkill,
  { skills, unusable }: StagedSource,
  existing: Existing = 'refuse',
): PutChange | PackRefusal {
  const { name, folder = '', source } = locked;
  const refused = unusable.find((one) => one.folder === folder);
  if (refused !== undefined) return refused.refusal;
  const skill = skills.find((one) => one.folder === folder) ?? skills.find((one) => one.name === name);
  if (skill === undefined)
    return packRefusal('lock/not-reproducible', `${quoted(source, 200)} no longer contains ${quoted(name)}`);
  const tree =
    skill.digest === undefined ? presentFiles(skill.path) : { ...fingerprintFolder(skill.path), digest: skill.digest };
  if (isRefusal(tree)) return tree;
  if (!('looks' in tree) || tree.digest !== locked.digest)
    return packRefusal(
      'lock/not-reproducible',
      `${quoted(name)} of ${quoted(source, 200)} does not have the locked bytes`,
    );
  return { type: 'put', name, from: skill.path, lock: locked, existing, looks: tree.looks };
}

function bySource(skills: readonly LockedSkill[]): readonly (readonly LockedSkill[])[] {
  const groups = new Map<string, LockedSkill[]>();
  for (const skill of skills) {
    const key = JSON.stringify([skill.source, skill.revision, skill.archive]);
    groups.set(key, [...(groups.get(key) ?? []), skill]);
  }
  return [...groups.values()];
}
