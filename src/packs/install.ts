/**
 * Installs skills: stage, inspect, apply the policy, confirm, commit. All work happens in the staging folder of the root. The commit at the
 * end changes the root atomically.
 */
import path from 'node:path';

import { compareText, quoted } from '#core';
import type { PlacementKind, Unplaced } from './agents/place-skills.ts';
import { placeRequests, planPlace, type PlaceTarget, type PlannedPlace } from './agents/place-targets.ts';
import type { LockFile, LockedSkill } from './lock/lock-file.ts';
import { openNameCheck } from './inspect/confusable-name.ts';
import { isRefusal, packRefusal, type PackRefusal } from './problems.ts';
import { sourceText } from './sources/source-text.ts';
import type { ResolvedSource, StageProgress, StagedSource } from './sources/source.ts';
import { withRoot, type Committed, type OpenRoot } from './root/open-root.ts';
import type { BeforeCommit, CommitOptions, CommitProgress } from './root/commit.ts';
import type { SkillBackup } from './root/skill-backups.ts';
import { mayReplace, type Existing, type PutChange } from './root/plan.ts';
import { VERSION } from '../version.ts';
import { lockedSource, readTypedSource, stagePack } from './inspect/stage-pack.ts';
import type { InspectedSkill } from './inspect/inspect-skill.ts';
import type { PackSettings } from './pack-settings.ts';
import { sourceVerdicts, type RefusedSkill, type SourceVerdicts } from './inspect/verdicts.ts';
import { differenceFrom } from './agents/copies.ts';
import { verifySkill } from './verify-root.ts';

export interface InstallProgress {
  readonly step: StageProgress['step'] | 'inspect' | CommitProgress['phase'];
  readonly done?: number;
  readonly total?: number;
}

export interface InstallOptions {
  readonly settings: PackSettings;
  /** The source as the user typed it. */
  readonly source: string;
  /** Names of the skills to install, or their folders in the source (default: all of the source). */
  readonly skills?: readonly string[];
  /** Refuses skills that violate the specification (default: `format.mode` of the configuration). */
  readonly strict?: boolean;
  /** What to do if a skill of the same name exists (default: refuse). */
  readonly existing?: Existing;
  /** Accepts older versions and versions that are no longer signed. */
  readonly force?: boolean;
  readonly offline?: boolean;
  readonly dryRun?: boolean;
  /** Folders of agents in which the skills become visible. */
  readonly targets?: readonly PlaceTarget[];
  /** Copies the skills into these folders instead of linking them. */
  readonly copy?: boolean;
  /**
   * Asked what to install, and for which agents, if `skills` names none. Gets every skill that can be installed and those that cannot.
   * Undefined installs nothing.
   */
  readonly choose?: (offer: SkillOffer) => Promise<SkillChoice | undefined>;
  /** Takes over what another installer made: folders of the root and of agents that have the files of the skill. */
  readonly takeOver?: boolean;
  /** Gets the plan. The install continues only if it resolves to true. */
  readonly confirm: (plan: InstallPlan) => Promise<boolean>;
  /** Called with the staged skills after the confirmation, right before they are installed. */
  readonly beforeCommit?: BeforeCommit;
  /** Gets the plan if every skill is refused. */
  readonly onRefused?: (plan: InstallPlan) => void;
  readonly onProgress?: (progress: InstallProgress) => void;
  readonly onNote?: (note: string) => void;
  readonly signal?: AbortSignal;
  /** The time to record in the lock (default: now). */
  readonly at?: Date;
}

export interface SkillOffer {
  readonly ready: readonly InspectedSkill[];
  readonly refused: readonly RefusedSkill[];
}

export interface SkillChoice {
  /** Folders of offered skills. */
  readonly folders: readonly string[];
  /** Replaces `targets`. */
  readonly targets?: readonly PlaceTarget[];
}

/** What an install would do, with a verdict per skill. */
export interface InstallPlan {
  readonly root: string;
  /** The source as the user typed it. */
  readonly typed: string;
  readonly resolved: ResolvedSource;
  /** Skills that go in, and those that are installed with the same bytes. */
  readonly skills: readonly PlannedSkill[];
  /** Skills that do not go in, each with the reason. Sorted by name. */
  readonly refused: readonly RefusedSkill[];
  /** Choices that were made for the user, such as one of two skills with the same name. */
  readonly notes: readonly string[];
  /** Files of the source that are not installed, each with the reason. */
  readonly leftOut: readonly string[];
  /** What happens in the folders of agents. */
  readonly places: readonly PlannedPlace[];
  readonly signedBy?: string;
}

export interface PlannedSkill {
  /** `warnings`: it violates the specification, has scan findings that do not stop an install, or a similar name. */
  readonly verdict: 'ready' | 'warnings';
  readonly skill: InspectedSkill;
  /** `same`: the lock has identical bytes, and the folder has them or was edited; with `existing`, edits are replaced. */
  readonly change: 'new' | 'replace' | 'same';
  /** The user did not name it; another skill requires it. */
  readonly isNeeded: boolean;
  readonly lock: LockedSkill;
  readonly before?: LockedSkill;
}

export interface Installed {
  readonly type: 'installed';
  readonly plan: InstallPlan;
  readonly isDone: boolean;
  readonly kept: readonly SkillBackup[];
  readonly notes: readonly string[];
  /** Links and copies for agents that could not be made. The skills are installed. */
  readonly unplaced: readonly Unplaced[];
}

/**
 * Installs every skill that is not refused, all in one commit. Refuses if the source cannot be used as a whole or none of its skills can be
 * installed. Rejects with the abort reason; the root is then unchanged.
 */
export async function installSkills(options: InstallOptions): Promise<Installed | PackRefusal> {
  const { settings, signal, onNote } = options;
  const source = readTypedSource(options.source, settings);
  if (isRefusal(source)) return source;
  return await withRoot(
    settings.root,
    {
      create: true,
      signal,
      onRecovered: ({ message }) => onNote?.(message),
    },
    async (root) => {
      const { skills: only = [] } = options;
      const staged = await stagePack(source, {
        settings,
        to: root.staging(),
        ...carried(options),
        ...(only.length === 0 ? {} : { only }),
      });
      if (isRefusal(staged)) return staged;
      const resolved = { ...staged.resolved, source: sourceText(lockedSource(source, settings)) };
      const backgroundSync = options.dryRun === true ? undefined : root.startSync(newFiles(staged, root.lock));
      const chosen = await inspectAndChoose(staged, root, options);
      if (isRefusal(chosen)) return chosen;
      const plan = planInstall({ ...staged, resolved }, root, chosen);
      const nothing = nothingToInstall(plan);
      if (nothing !== undefined) {
        options.onRefused?.(plan);
        return nothing;
      }
      return await applyPlan(plan, root, {
        ...chosen.options,
        backgroundSync,
      });
    },
  );
}

/** The approximate number of files that are not installed yet. */
function newFiles({ skills }: StagedSource, lock: LockFile): number {
  return skills
    .filter(({ name, digest }) => digest === undefined || lock.skills.get(name)?.digest !== digest)
    .reduce((sum, { files = {} }) => sum + Object.keys(files).length, 0);
}

interface ChosenSkills {
  readonly type: 'chosen';
  readonly verdicts: SourceVerdicts;
  readonly options: InstallOptions;
}

/** Inspects the skills, applies the policy and asks which of the skills to install. */
async function inspectAndChoose(
  staged: StagedSource,
  root: OpenRoot,
  options: InstallOptions,
): Promise<ChosenSkills | PackRefusal> {
  const { settings, signal, strict, onProgress, choose, skills: names = [] } = options;
  const inspect = {
    settings,
    mode: strict === undefined ? settings.mode : strict ? 'strict' : 'lenient',
    checkName: openNameCheck([...root.lock.skills.keys()]),
    lock: root.lock,
    force: options.force === true,
    signal,
    onProgress: (done: number, total: number) => onProgress?.({ step: 'inspect', done, total }),
  } as const;
  const all = await sourceVerdicts(staged, { ...inspect, names });
  if (isRefusal(all)) return all;
  if (choose === undefined || names.length > 0 || all.ready.length === 0)
    return { type: 'chosen', verdicts: all, options };
  const choice = await choose(all);
  if (choice === undefined || choice.folders.length === 0)
    return {
      ...packRefusal('install/refused', 'no skill was selected: nothing was installed'),
      hint: 'select skills with the space bar, or name them: skillwright install SOURCE SKILL',
    };
  const { folders, targets } = choice;
  const isAll = folders.length === all.ready.length;
  const verdicts = isAll ? all : await sourceVerdicts(staged, { ...inspect, names: namesIn(all, folders) });
  if (isRefusal(verdicts)) return verdicts;
  return { type: 'chosen', verdicts, options: targets === undefined ? options : { ...options, targets } };
}

function namesIn({ ready }: SourceVerdicts, folders: readonly string[]): readonly string[] {
  return ready.filter(({ folder }) => folders.includes(folder)).map(({ name }) => name);
}

function planInstall(staged: StagedSource, root: OpenRoot, { verdicts, options }: ChosenSkills): InstallPlan {
  const { skills: names = [], existing = 'refuse' } = options;
  const edited: string[] = [];
  const at = options.at ?? new Date();
  const plan = (skill: InspectedSkill, isNeeded: boolean): PlannedSkill => {
    const before = root.lock.skills.get(skill.name);
    const fresh = lockedSkill(skill, staged.resolved, at);
    const isLocked = before?.digest === skill.digest;
    const status = isLocked ? verifySkill(path.join(root.path, before.name), before).status : 'drift';
    const isKept = status === 'same' || (isLocked && status !== 'missing' && !mayReplace(existing));
    if (isKept && status !== 'same')
      edited.push(`${quoted(skill.name)} was edited and stays as it is (see verify and --force)`);
    const change = before === undefined || status === 'missing' ? 'new' : isKept ? 'same' : 'replace';
    // `installedAt` is the time of the last change of the bytes.
    const lock = isLocked ? { ...fresh, installedAt: before.installedAt } : fresh;
    const verdict = hasWarnings(skill) ? 'warnings' : 'ready';
    return { verdict, skill, change, isNeeded, lock, before };
  };
  const planned = [
    ...verdicts.ready.map((skill) => plan(skill, false)),
    ...verdicts.needed.map((skill) => plan(skill, true)),
  ];
  const impossible = root.refusals(planned.filter(isChanging).map((each) => putChange(each, root, options)));
  const blocked = planned.flatMap(({ skill }): readonly RefusedSkill[] => {
    const refusal = impossible.get(skill.name);
    const { name, folder } = skill;
    const isNamed = names.includes(name) || names.includes(folder);
    return refusal === undefined ? [] : [{ verdict: 'refused', name, folder, isNamed, refusal, skill }];
  });
  const refused = [...verdicts.refused, ...blocked].toSorted(
    (a, b) => compareText(a.name, b.name) || compareText(a.folder, b.folder),
  );
  const skills = planned.filter(({ skill }) => !impossible.has(skill.name));
  return {
    root: root.path,
    typed: options.source,
    resolved: staged.resolved,
    skills: skills.toSorted((a, b) => compareText(a.skill.name, b.skill.name)),
    refused,
    notes: [...verdicts.notes, ...edited],
    leftOut: staged.leftOut,
    places: planPlaces(
      skills.map(({ skill }) => skill.name),
      root,
      options,
    ),
    ...commonSigner(skills),
  };
}

function nothingToInstall({ skills, refused }: InstallPlan): PackRefusal | undefined {
  const [first] = refused;
  if (first === undefined || skills.length > 0) return undefined;
  const { refusal } = first;
  if (refused.length === 1) return refusal;
  const message = `none of the ${String(refused.length)} skills can be installed; the first: ${refusal.message}`;
  return { ...refusal, message };
}

function hasWarnings({ diagnostics, scan, notes }: InspectedSkill): boolean {
  return notes.length + scan.warnings.length > 0 || diagnostics.some(({ severity }) => severity !== 'info');
}

function isChanging({ change }: PlannedSkill): boolean {
  return change !== 'same';
}

function putChange(
  { skill: { name, path: from, looks, files }, lock, before }: PlannedSkill,
  root: OpenRoot,
  { existing = 'refuse', takeOver = false }: InstallOptions,
): PutChange {
  const isForeign = takeOver && before === undefined;
  const isSame = isForeign && differenceFrom(path.join(root.path, name), files)?.length === 0;
  return { type: 'put', name, from, lock, existing: isSame ? 'replace' : existing, looks };
}

/** The key that signed all skills, if one did. */
function commonSigner(skills: readonly PlannedSkill[]): Pick<InstallPlan, 'signedBy'> {
  const signedBy = skills[0]?.skill.signedBy;
  return signedBy !== undefined && skills.every(({ skill }) => skill.signedBy === signedBy) ? { signedBy } : {};
}

/** Builds the lock entry of an inspected skill. */
export function lockedSkill(skill: InspectedSkill, resolved: ResolvedSource, at: Date): LockedSkill {
  const { name, version, folder, digest, files, requires, signedBy } = skill;
  const { source, revision, archive } = resolved;
  return {
    name,
    version,
    source,
    revision,
    archive,
    ...(folder === '' ? {} : { folder }),
    digest,
    files,
    ...(requires.length === 0 ? {} : { requires: requires.map((need) => need.name).toSorted(compareText) }),
    signedBy,
    installedAt: at.toISOString().replace(/\.\d+Z$/, 'Z'),
    tool: VERSION,
  };
}

async function applyPlan(
  plan: InstallPlan,
  root: OpenRoot,
  options: InstallOptions & Pick<CommitOptions, 'backgroundSync'>,
): Promise<Installed | PackRefusal> {
  const { signal, onProgress, at, backgroundSync, beforeCommit } = options;
  const changing = plan.skills.filter(isChanging);
  const done = { type: 'installed', plan, kept: [], notes: [], unplaced: [] } as const;
  if (options.dryRun === true) return { ...done, isDone: false };
  const isPlaced = plan.places.every(
    ({ add, taken, problem }) => add.length + taken.length === 0 && problem === undefined,
  );
  if (changing.length === 0 && isPlaced) return { ...done, isDone: true };
  if ((await options.confirm(plan)) !== true)
    return packRefusal('install/refused', 'not confirmed: nothing was installed');
  const committed: Committed | PackRefusal = await root.commit(
    changing.map((planned) => putChange(planned, root, options)),
    {
      places: placeRequests(
        options.targets ?? [],
        { add: plan.skills.map(({ skill }) => skill.name) },
        { root: root.path, kind: chooseKind(options), takeOver: options.takeOver ?? false },
      ),
      signal,
      at,
      backgroundSync,
      beforeCommit,
      onProgress: ({ phase, ...count }) => onProgress?.({ step: phase, ...count }),
    },
  );
  if (isRefusal(committed)) return committed;
  const { kept, notes, unplaced } = committed;
  return { ...done, isDone: true, kept, notes, unplaced };
}

function chooseKind({ copy }: InstallOptions): PlacementKind {
  return copy === true ? 'copy' : 'link';
}

function planPlaces(names: readonly string[], root: OpenRoot, options: InstallOptions): readonly PlannedPlace[] {
  const { targets = [] } = options;
  const context = { root: root.path, kind: chooseKind(options), lock: root.lock, takeOver: options.takeOver ?? false };
  return targets.map((target) => planPlace(target, names, context));
}

function carried({ offline, signal, onProgress }: InstallOptions) {
  return {
    offline,
    signal,
    onProgress,
  };
}
