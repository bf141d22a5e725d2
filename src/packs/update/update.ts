/**
 * Updating: every source is brought anew at its ref, inspected, proven and compared with what lies here; a person sees what would change
 * and is asked; then all of it is moved in at once. One skill that cannot be updated does not stop those of other sources.
 */
import path from 'node:path';

import { compareText } from '../../core/diagnostic.ts';
import { openNameCheck } from '../inspect/confusable-name.ts';
import type { LockedSkill } from '../lock/lock.ts';
import { isRefusal, packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import type { StagedSource, PackSource } from '../sources/source.ts';
import type { UpdateMode } from './update-plan.ts';
import { quoted } from '../../core/text/text.ts';
import type { SkillBackup } from '../root/skill-backups.ts';
import { withRoot } from '../root/open-root.ts';
import type { OpenRoot } from '../root/open-root.ts';
import { looksOf } from '../root/present-files.ts';
import { readLock } from '../lock/lock-file.ts';
import { isPresent } from '../../platform/fs/paths.ts';
import { stagePack, settingsForLock, inspectSource, currentRevision, readTypedSource } from '../inspect/stage-pack.ts';
import type { StagePackOptions } from '../inspect/stage-pack.ts';
import { brokenNeeds } from './broken-needs.ts';
import type { InspectOptions, InspectedSkill } from '../inspect/inspect-skill.ts';
import { lockedSkill, neededSkills } from '../install.ts';
import type { InstallProgress } from '../install.ts';
import { absentFromSource, lockedGroups, findInSource } from '../lock/locked-skills.ts';
import type { LockedGroup } from '../lock/locked-skills.ts';
import type { PackSettings } from '../pack-settings.ts';
import { verifySource } from '../inspect/prove-source.ts';
import { updateSkill } from './update-skill.ts';
import type { ChangedSkill, SkillUpdate } from './update-skill.ts';
import { updatedFiles } from './updated-files.ts';

export interface UpdateOptions {
  readonly settings: PackSettings;
  /** Names; all of the lock where empty. */
  readonly names?: readonly string[];
  /** What becomes of local edits; `refuse`. With `force` also older and differently signed versions are taken. */
  readonly mode?: UpdateMode;
  readonly lenient?: boolean;
  readonly offline?: boolean;
  readonly dryRun?: boolean;
  /** Told what would be done; nothing is done where it says no. */
  readonly confirm: (skills: readonly ChangedSkill[]) => Promise<boolean>;
  readonly onProgress?: (progress: InstallProgress) => void;
  readonly onNote?: (note: string) => void;
  readonly signal?: AbortSignal;
  /** When it is done; now. */
  readonly at?: Date;
}

export interface Updated {
  readonly type: 'updated';
  readonly root: string;
  /** By name. */
  readonly skills: readonly SkillUpdate[];
  /** False for a dry run. */
  readonly isDone: boolean;
  /** The versions before, and where they lie now. */
  readonly kept: readonly SkillBackup[];
  readonly notes: readonly string[];
}

/** Rejects with the reason of the signal; the root is then as it was. */
export async function updateSkills(options: UpdateOptions): Promise<Updated | PackRefusal> {
  const { settings, signal, onNote } = options;
  const lock = readLock(settings.root);
  if (lock === undefined) return packRefusal('lock/missing', `${quoted(settings.root, 200)} has no skills.lock.json`);
  if (isRefusal(lock)) return lock;
  return await withRoot(
    settings.root,
    { ...(signal === undefined ? {} : { signal }), onRecovered: ({ message }) => onNote?.(message) },
    async (root) => {
      const groups = lockedGroups(root.lock, options.names ?? [], root.path);
      if ('type' in groups) return groups;
      const skills: SkillUpdate[] = [];
      for (const group of groups) skills.push(...(await updateGroup(group, root, options)));
      const broken = brokenNeeds(root, skills.filter(isChanged));
      return broken ?? (await applyPlan(skills, root, options));
    },
  );
}

export function isChanged(update: SkillUpdate): update is ChangedSkill {
  return update.status === 'update' || update.status === 'new';
}

/** All skills of one source: they are proven together, and need each other. */
async function updateGroup(
  group: LockedGroup,
  root: OpenRoot,
  options: UpdateOptions,
): Promise<readonly SkillUpdate[]> {
  const refuseAll = (refusal: PackRefusal): readonly SkillUpdate[] =>
    group.skills.map((before) => ({ status: 'refused', name: before.name, before, refusal }));
  const source = readTypedSource(group.source, settingsForLock(options.settings));
  if (isRefusal(source)) return refuseAll(source);
  const only = group.skills.map(({ name }) => name);
  if (await isUnmoved(group, source, root, options))
    return group.skills.map((before) => {
      return { status: 'current', name: before.name, before, reason: 'the source has the same revision' };
    });
  const brought = await stagePack(source, bringing(options, root, { only }));
  if (isRefusal(brought)) return refuseAll(brought);
  const { settled, moved } = sorted(group, brought, options);
  if (moved.length === 0) return settled;
  const compared = await compareGroup(moved, { brought, source, root, options });
  if (!isRefusal(compared)) return [...settled, ...compared];
  return [
    ...settled,
    ...moved.map((before): SkillUpdate => ({ status: 'refused', name: before.name, before, refusal: compared })),
  ];
}

/** The source still has the commit that all of them came from, and all of them are here: then there is nothing to bring. */
async function isUnmoved(
  { skills }: LockedGroup,
  source: PackSource,
  root: OpenRoot,
  options: UpdateOptions,
): Promise<boolean> {
  if (options.mode === 'force' || skills.some(({ name }) => !isPresent(path.join(root.path, name)))) return false;
  const revision = await currentRevision(source, bringing(options, root, {}));
  return revision !== undefined && skills.every((locked) => locked.revision === revision);
}

/** Those about which nothing more need be looked at, and the rest. */
function sorted(
  { skills }: LockedGroup,
  brought: StagedSource,
  { mode, settings: { root } }: UpdateOptions,
): { readonly settled: readonly SkillUpdate[]; readonly moved: readonly LockedSkill[] } {
  const settled: SkillUpdate[] = [];
  const moved: LockedSkill[] = [];
  for (const before of skills) {
    const { name } = before;
    const now = findInSource(before, brought.skills);
    if (now === undefined) {
      const refusal = packRefusal('source/missing', absentFromSource(before, brought.skills));
      settled.push({ status: 'refused', name, before, refusal });
    } else if (now.digest === before.digest && mode !== 'force' && !isRefusal(looksOf(path.join(root, name))))
      settled.push({ status: 'current', name, before, reason: 'the source has the same files' });
    else moved.push(before);
  }
  return { settled, moved };
}

interface Comparing {
  readonly brought: StagedSource;
  readonly source: PackSource;
  readonly root: OpenRoot;
  readonly options: UpdateOptions;
}

async function compareGroup(
  moved: readonly LockedSkill[],
  { brought, source, root, options }: Comparing,
): Promise<readonly SkillUpdate[] | PackRefusal> {
  const { settings, mode = 'refuse', signal, onProgress, at = new Date() } = options;
  const inspect: InspectOptions = {
    settings,
    mode: options.lenient === true ? 'lenient' : 'strict',
    checkName: openNameCheck([...root.lock.skills.keys()]),
    ...(signal === undefined ? {} : { signal }),
  };
  const inspected = await inspectSource(onlyMeant(brought, moved), {
    ...inspect,
    names: moved.map(({ name }) => name),
    onProgress: (done, total) => onProgress?.({ step: 'inspect', done, total }),
  });
  if (isRefusal(inspected)) return inspected;
  const needed = neededSkills(inspected.wanted, brought, root.lock, inspect);
  if (isRefusal(needed)) return needed;
  const all = [...inspected.wanted, ...needed];
  const [refusal] = all.flatMap(({ refusals }) => refusals);
  if (refusal !== undefined) return refusal;
  const proof = await verifySource(brought, all, { settings, lock: root.lock, force: mode === 'force' });
  if (isRefusal(proof)) return proof;
  const updates: SkillUpdate[] = [];
  for (const skill of all) {
    const before = moved.find(({ name }) => name === skill.name);
    const resolved = { ...brought.resolved, source: before?.source ?? moved[0]?.source ?? brought.resolved.source };
    const lock = lockedSkill(skill, resolved, { at, ...proof });
    updates.push(
      before === undefined
        ? newSkill(skill, lock)
        : await updateSkill(
            before,
            { skill, lock: before.digest === lock.digest ? { ...lock, installedAt: before.installedAt } : lock },
            {
              root,
              mode,
              inspect,
              bringBase: baseOf(source, root, options),
              ...(signal === undefined ? {} : { signal }),
            },
          ),
    );
  }
  return updates;
}

/** Of two folders with one name, the one that is installed is meant. */
function onlyMeant(brought: StagedSource, moved: readonly LockedSkill[]): StagedSource {
  const meant = new Set(moved.map((before) => findInSource(before, brought.skills)));
  const names = new Set(moved.map(({ name }) => name));
  return { ...brought, skills: brought.skills.filter((skill) => meant.has(skill) || !names.has(skill.name)) };
}

function newSkill(skill: InspectedSkill, lock: LockedSkill): SkillUpdate {
  const files = updatedFiles({ dir: skill.path, files: {} }, { dir: skill.path, files: skill.files });
  const result = { from: skill.path, looks: skill.looks };
  return { status: 'new', name: skill.name, skill, lock, files, merged: [], kept: [], lost: [], result };
}

/** Git and packages give an old version once more; of other sources only what the root kept can be had. */
function baseOf(source: PackSource, root: OpenRoot, options: UpdateOptions) {
  return async (locked: LockedSkill): Promise<string | undefined> => {
    const { revision, name } = locked;
    if (revision === undefined) return undefined;
    const brought = await stagePack(source, bringing(options, root, { expect: { revision }, only: [name] }));
    return isRefusal(brought) ? undefined : findInSource(locked, brought.skills)?.path;
  };
}

function bringing(
  { settings, offline, signal, onProgress }: UpdateOptions,
  root: OpenRoot,
  more: Pick<StagePackOptions, 'expect' | 'only'>,
): StagePackOptions {
  return {
    settings: settingsForLock(settings),
    to: root.staging(),
    ...more,
    ...(offline === undefined ? {} : { offline }),
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress }),
  };
}

async function applyPlan(
  updates: readonly SkillUpdate[],
  root: OpenRoot,
  { dryRun, confirm, signal, at, onProgress }: UpdateOptions,
): Promise<Updated | PackRefusal> {
  const skills = updates.toSorted((a, b) => compareText(a.name, b.name));
  const changed = skills.filter(isChanged);
  const done = { type: 'updated', root: root.path, skills, kept: [], notes: [] } as const;
  if (dryRun === true) return { ...done, isDone: false };
  if (changed.length === 0) return { ...done, isDone: true };
  if (!(await confirm(changed))) return packRefusal('install/refused', 'nobody said yes: nothing was updated');
  const edited = changed.find(({ name, result }) => isEditedSince(path.join(root.path, name), result.localLooks));
  if (edited !== undefined)
    return packRefusal('source/changed', `${quoted(edited.name)} was changed here since you were shown what would be`);
  const committed = await root.commit(
    changed.map(({ name, lock, result: { from, looks }, status }) => ({
      type: 'put',
      name,
      from,
      lock,
      existing: status === 'new' ? 'refuse' : 'replace',
      looks,
    })),
    {
      ...(signal === undefined ? {} : { signal }),
      ...(at === undefined ? {} : { at }),
      onProgress: ({ phase, ...count }) => onProgress?.({ step: phase, ...count }),
    },
  );
  if (isRefusal(committed)) return committed;
  return { ...done, isDone: true, kept: committed.kept, notes: committed.notes };
}

/** People take their time with an answer, and may edit meanwhile. */
function isEditedSince(dir: string, looks: string | undefined): boolean {
  if (looks === undefined) return false;
  const now = looksOf(dir);
  return isRefusal(now) || now.looks !== looks;
}
