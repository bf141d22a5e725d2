/**
 * Updates installed skills: stages, inspects and verifies each source, compares it with the installed files, asks for confirmation and
 * commits all changes at once. A skill that cannot be updated does not block skills of other sources.
 */
import path from 'node:path';

import { compareText, problemError, quoted } from '#core';
import { isPresent } from '#platform';
import { openNameCheck } from '../inspect/confusable-name.ts';
import type { InspectOptions } from '../inspect/inspect-options.ts';
import type { InspectedSkill } from '../inspect/inspect-skill.ts';
import {
  currentRevision,
  readTypedSource,
  settingsForLock,
  stagePack,
  type StagePackOptions,
} from '../inspect/stage-pack.ts';
import { sourceVerdicts } from '../inspect/verdicts.ts';
import type { FetchIntoRootOptions } from '../install/options.ts';
import { lockedSkill } from '../install/plan-install.ts';
import { requireLock, type LockedSkill } from '../lock/lock-file.ts';
import {
  absentFromSource,
  findInSource,
  lockedGroups,
  readSkillHead,
  type LockedGroup,
} from '../lock/locked-skills.ts';
import { accepted, asRefusal, isRefusal, orRefusal, packRefusal, refused, type PackRefusal } from '../problems.ts';
import { readRequirements, resolveRequirements } from '../requires/requires.ts';
import { inRoot, type ChangeOutcome, type OpenRoot } from '../root/open-root.ts';
import { fingerprintFolder } from '../root/present-files.ts';
import type { PackSource, StagedSource } from '../sources/source.ts';
import { openTrustCheck, trustArriving } from '../trust-confirmed.ts';
import { changedFiles, countChanges } from './capability-diff.ts';
import type { UpdateMode } from './update-plan.ts';
import { refusedUpdate, updateSkill, updatedFiles, type ChangedSkill, type SkillUpdate } from './update-skill.ts';

export interface UpdateOptions extends FetchIntoRootOptions {
  /** Names of skills; empty means all skills of the lock. */
  readonly names?: readonly string[];
  /** How to treat local edits (default: `refuse`). `force` also accepts older and differently signed versions. */
  readonly mode?: UpdateMode;
  /** Refuses versions that violate the specification (default: `format.mode` of the configuration). */
  readonly strict?: boolean;
  /** Receives the planned changes; nothing is changed if it resolves to false. */
  readonly confirm: (skills: readonly ChangedSkill[]) => Promise<boolean>;
}

export interface Updated extends ChangeOutcome {
  readonly type: 'updated';
  readonly root: string;
  /** Sorted by name. */
  readonly skills: readonly SkillUpdate[];
  /** Those of `skills` that change. */
  readonly changed: readonly ChangedSkill[];
}

/** Rejects with the reason of the signal, without changes to the root. */
export async function updateSkills(options: UpdateOptions): Promise<Updated | PackRefusal> {
  const locked = orRefusal(() => requireLock(options.settings.root));
  if (isRefusal(locked)) return locked;
  return await inRoot(options, async (root) => {
    const skills: SkillUpdate[] = [];
    for (const group of lockedGroups(root.lock, options.names ?? [], root.path))
      skills.push(...(await updateGroup(group, root, options)));
    refuseBrokenRequirements(root, skills.filter(isChanged));
    return await applyPlan(skills, root, options);
  });
}

function isChanged(update: SkillUpdate): update is ChangedSkill {
  return update.status === 'update' || update.status === 'new';
}

/** Updates the skills of one source together, because they share a signature and can require each other. */
async function updateGroup(
  group: LockedGroup,
  root: OpenRoot,
  options: UpdateOptions,
): Promise<readonly SkillUpdate[]> {
  const refuseAll = (refusal: PackRefusal): readonly SkillUpdate[] =>
    group.skills.map((before) => refusedUpdate(before, refusal));
  const source = readTypedSource(group.source, settingsForLock(options.settings));
  if (isRefusal(source)) return refuseAll(source);
  const only = group.skills.map(({ name }) => name);
  if (await hasSameRevision(group, source, root, options))
    return group.skills.map((before) => ({
      status: 'current',
      name: before.name,
      before,
      reason: 'the source has the same revision',
    }));
  const staged = await stagePack(source, stageOptions(options, root, { only }));
  if (isRefusal(staged)) return refuseAll(staged);
  const { settled, moved } = partitionSkills(group, staged, options);
  if (moved.length === 0) return settled;
  try {
    return [...settled, ...(await compareGroup(moved, { staged, source, root, options }))];
  } catch (error) {
    const refusal = asRefusal(error);
    return [...settled, ...moved.map((before) => refusedUpdate(before, refusal))];
  }
}

/** Whether the source still has the locked revision and all skills are installed, so that nothing needs to be staged. */
async function hasSameRevision(
  { skills }: LockedGroup,
  source: PackSource,
  root: OpenRoot,
  options: UpdateOptions,
): Promise<boolean> {
  if (options.mode === 'force' || skills.some(({ name }) => !isPresent(path.join(root.path, name)))) return false;
  const revision = await currentRevision(source, stageOptions(options, root, {}));
  return revision !== undefined && skills.every((locked) => locked.revision === revision);
}

/** Separates skills that are current or missing in the source from those to compare. */
function partitionSkills(
  { skills }: LockedGroup,
  staged: StagedSource,
  { mode, settings: { root } }: UpdateOptions,
): { readonly settled: readonly SkillUpdate[]; readonly moved: readonly LockedSkill[] } {
  const settled: SkillUpdate[] = [];
  const moved: LockedSkill[] = [];
  for (const before of skills) {
    const { name } = before;
    const now = findInSource(before, staged.skills);
    const unusable = staged.unusable.find((skill) => skill.name === name || skill.folder === before.folder);
    if (now === undefined && unusable !== undefined) settled.push(refusedUpdate(before, unusable.refusal));
    else if (now === undefined)
      settled.push(refusedUpdate(before, packRefusal('source/missing', absentFromSource(before, staged.skills))));
    else if (now.digest === before.digest && mode !== 'force' && !isRefusal(fingerprintFolder(path.join(root, name))))
      settled.push({ status: 'current', name, before, reason: 'the source has the same files' });
    else moved.push(before);
  }
  return { settled, moved };
}

interface CompareOptions {
  readonly staged: StagedSource;
  readonly source: PackSource;
  readonly root: OpenRoot;
  readonly options: UpdateOptions;
}

async function compareGroup(
  moved: readonly LockedSkill[],
  { staged, source, root, options }: CompareOptions,
): Promise<readonly SkillUpdate[]> {
  const { settings, mode = 'refuse', signal, onProgress, at = new Date() } = options;
  const inspect: InspectOptions = {
    settings,
    mode: options.strict === undefined ? settings.mode : options.strict ? 'strict' : 'lenient',
    checkName: openNameCheck([...root.lock.skills.keys()]),
    signal,
  };
  const verdicts = accepted(
    await sourceVerdicts(preferInstalledFolders(staged, moved), {
      ...inspect,
      names: moved.map(({ name }) => name),
      lock: root.lock,
      force: mode === 'force',
      onProgress: (done, total) => onProgress?.({ step: 'inspect', done, total }),
    }),
  );
  const isTrusted = openTrustCheck(settings.surroundings.home);
  const updates = moved.flatMap((before): readonly SkillUpdate[] => {
    const found = verdicts.refused.find((skill) => skill.name === before.name);
    return found === undefined ? [] : [refusedUpdate(before, found.refusal)];
  });
  for (const skill of [...verdicts.ready, ...verdicts.needed]) {
    const before = moved.find(({ name }) => name === skill.name);
    const resolved = { ...staged.resolved, source: before?.source ?? moved[0]?.source ?? staged.resolved.source };
    const lock = lockedSkill(skill, resolved, at);
    updates.push(
      before === undefined
        ? newSkill(
            skill,
            lock,
            moved.every((locked) => isTrusted(path.join(root.path, locked.name), locked.digest, locked)),
          )
        : await updateSkill(
            before,
            { skill, lock: before.digest === lock.digest ? { ...lock, installedAt: before.installedAt } : lock },
            { root, mode, inspect, stageBase: openBaseStager(source, root, options), isTrusted, signal },
          ),
    );
  }
  return updates;
}

/** Of several folders with the same name, keeps the one that is installed. */
function preferInstalledFolders(staged: StagedSource, moved: readonly LockedSkill[]): StagedSource {
  const installed = new Set(moved.map((before) => findInSource(before, staged.skills)));
  const names = new Set(moved.map(({ name }) => name));
  return { ...staged, skills: staged.skills.filter((skill) => installed.has(skill) || !names.has(skill.name)) };
}

function newSkill(skill: InspectedSkill, lock: LockedSkill, isTrusted: boolean): SkillUpdate {
  const files = updatedFiles({ dir: skill.path, files: {} }, { dir: skill.path, files: skill.files });
  const result = { from: skill.path, looks: skill.looks };
  const changes = countChanges(changedFiles(files));
  const none = { merged: [], kept: [], lost: [] };
  return { status: 'new', name: skill.name, skill, lock, files, changes, ...none, isTrusted, result };
}

/** Git and npm sources provide old revisions again, for installs whose original is not kept in the root. */
function openBaseStager(source: PackSource, root: OpenRoot, options: UpdateOptions) {
  return async (locked: LockedSkill): Promise<string | undefined> => {
    const { revision, name } = locked;
    if (revision === undefined) return undefined;
    const staged = await stagePack(source, stageOptions(options, root, { expect: { revision }, only: [name] }));
    return isRefusal(staged) ? undefined : findInSource(locked, staged.skills)?.path;
  };
}

function stageOptions(
  { settings, offline, signal, onProgress }: UpdateOptions,
  root: OpenRoot,
  more: Pick<StagePackOptions, 'expect' | 'only'>,
): StagePackOptions {
  return { settings: settingsForLock(settings), to: root.staging(), ...more, offline, signal, onProgress };
}

async function applyPlan(
  updates: readonly SkillUpdate[],
  root: OpenRoot,
  { settings, dryRun, confirm, trust, signal, at, onProgress }: UpdateOptions,
): Promise<Updated> {
  const skills = updates.toSorted((a, b) => compareText(a.name, b.name));
  const changed = skills.filter(isChanged);
  const done = { type: 'updated', root: root.path, skills, changed, kept: [], notes: [], unplaced: [] } as const;
  if (dryRun === true) return { ...done, isDone: false };
  if (changed.length === 0) return { ...done, isDone: true };
  if ((await confirm(changed)) !== true) throw refused('install/refused', 'not confirmed: nothing was updated');
  const edited = changed.find(({ name, result }) => isEditedSince(path.join(root.path, name), result.localLooks));
  if (edited !== undefined)
    throw refused('source/changed', `${quoted(edited.name)} changed here after the update was planned`);
  const trusted = new Set(changed.filter(({ isTrusted }) => isTrusted).map(({ name }) => name));
  const committed = await root.commit(
    changed.map(({ name, lock, skill, result: { from, looks }, status }) => ({
      type: 'put',
      name,
      from,
      original: skill.path,
      lock,
      existing: status === 'new' ? 'refuse' : 'replace',
      looks,
    })),
    {
      signal,
      at,
      beforeCommit:
        trust === true
          ? (arriving) => trustArriving(settings)(arriving.filter(({ name }) => trusted.has(name)))
          : undefined,
      onProgress: ({ phase, ...count }) => onProgress?.({ step: phase, ...count }),
    },
  );
  // Only a newly required skill can meet a folder that is not ours, and the flags of install do not exist here.
  if (isRefusal(committed) && committed.code === 'install/foreign')
    throw problemError({ ...committed, hint: 'move the folder away and update again' });
  const { kept, notes, unplaced } = accepted(committed);
  return { ...done, isDone: true, kept, notes, unplaced };
}

/** The user can edit files while the confirmation is pending. */
function isEditedSince(dir: string, looks: string | undefined): boolean {
  if (looks === undefined) return false;
  const now = fingerprintFolder(dir);
  return isRefusal(now) || now.looks !== looks;
}

/** Refuses if an installed skill requires a version that the update replaces. The lock has no version ranges, so they are read from SKILL.md. */
function refuseBrokenRequirements(root: OpenRoot, changed: readonly ChangedSkill[]): void {
  const names = new Set(changed.map(({ name }) => name));
  const unchanged = [...root.lock.skills.values()].filter(
    ({ name, requires = [] }) => !names.has(name) && requires.some((required) => names.has(required)),
  );
  const { refusal } = resolveRequirements({
    requested: changed.map(({ name, skill: { version } }) => ({ name, version, requires: [] })),
    installed: unchanged.map(({ name }) => {
      const head = readSkillHead(path.join(root.path, name), name);
      const requirements = head === undefined ? [] : readRequirements(head).requirements;
      return { name, requires: requirements.filter((required) => names.has(required.name)) };
    }),
    available: [],
  });
  accepted(refusal);
}
