/**
 * Installs skills: stage, inspect, apply the policy, confirm, commit. All work happens in the staging folder of the root. The commit at the
 * end changes the root atomically.
 */
import path from 'node:path';

import { compareText, problemError, quoted, type SkillError } from '#core';
import { differenceFrom } from './agents/copies.ts';
import {
  detectedTargets,
  planTarget,
  requestChanges,
  type AgentTarget,
  type PlannedTarget,
} from './agents/place-targets.ts';
import { openNameCheck } from './inspect/confusable-name.ts';
import type { InspectedSkill } from './inspect/inspect-skill.ts';
import { lockedSource, readTypedSource, stagePack } from './inspect/stage-pack.ts';
import { sourceVerdicts, type RefusedSkill, type SourceVerdicts } from './inspect/verdicts.ts';
import { lockTime, type LockFile, type LockedSkill } from './lock/lock-file.ts';
import { pluginSettings, type PackSettings } from './pack-settings.ts';
import { accepted, isRefusal, refused, type PackRefusal } from './problems.ts';
import type { CommitProgress } from './root/commit.ts';
import { inRoot, type ChangeOutcome, type OpenRoot, type RootOptions } from './root/open-root.ts';
import { mayReplace, type Existing, type PutChange } from './root/plan.ts';
import type { BackgroundSync } from './root/sync.ts';
import { listElsewhere } from './sources/marketplace.ts';
import { sourceText } from './sources/source-text.ts';
import type { PackSource, ResolvedSource, StageProgress, StagedSource } from './sources/source.ts';
import { trustArriving } from './trust-confirmed.ts';
import { verifySkill } from './verify-root.ts';
import { VERSION } from '../version.ts';

export interface InstallProgress {
  readonly step: StageProgress['step'] | 'inspect' | CommitProgress['phase'];
  readonly done?: number;
  readonly total?: number;
}

/** What the functions that fetch skills into a root have in common. */
export interface FetchIntoRootOptions extends RootOptions {
  readonly settings: PackSettings;
  readonly offline?: boolean;
  readonly dryRun?: boolean;
  /** Trusts the skills of a project right before they are moved in, so that a crash does not lose the user's consent. */
  readonly trust?: boolean;
  readonly onProgress?: (progress: InstallProgress) => void;
  /** The time to record in the lock (default: now). */
  readonly at?: Date;
}

export interface InstallOptions extends FetchIntoRootOptions {
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
  readonly targets?: readonly AgentTarget[];
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
  /** Gets the plan if every skill is refused. */
  readonly onRefused?: (plan: InstallPlan) => void;
}

export interface SkillOffer {
  readonly ready: readonly InspectedSkill[];
  readonly refused: readonly RefusedSkill[];
  /** Folders of the agents in use here. A folder that cannot get links is reported when its agent is named. */
  readonly targets: readonly AgentTarget[];
}

export interface SkillChoice {
  /** Folders of offered skills. */
  readonly folders: readonly string[];
  /** Replaces `targets`. */
  readonly targets?: readonly AgentTarget[];
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
  readonly places: readonly PlannedTarget[];
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

export interface Installed extends ChangeOutcome {
  readonly type: 'installed';
  readonly plan: InstallPlan;
}

/**
 * Installs every skill that is not refused, all in one commit. Refuses if the source cannot be used as a whole or none of its skills can be
 * installed. Rejects with the abort reason; the root is then unchanged.
 */
export async function installSkills(options: InstallOptions): Promise<Installed | PackRefusal> {
  const { settings, dryRun, onRefused } = options;
  const typed = readTypedSource(options.source, settings);
  if (isRefusal(typed)) return typed;
  const install = async (root: OpenRoot): Promise<Installed | WholePlugin> => {
    const { staged, source, names } = await stageNamed(typed, root, options);
    if (isWholePlugin(staged, names, options)) return { type: 'plugin', source: sourceText(source) };
    const asked = { ...options, skills: names };
    const resolved = { ...staged.resolved, source: sourceText(lockedSource(source, settings)) };
    const backgroundSync = dryRun === true ? undefined : root.startSync(newFiles(staged, root.lock));
    const { verdicts, targets } = await inspectAndChoose(staged, root, asked);
    const plan = planInstall({ ...staged, resolved }, root, { verdicts, options: { ...asked, targets } });
    const nothing = nothingToInstall(plan);
    if (nothing === undefined) return await applyPlan(plan, root, { ...asked, targets }, backgroundSync);
    onRefused?.(plan);
    throw problemError(nothing);
  };
  const done = await inRoot(options, install, { create: true });
  if (isRefusal(done) || done.type === 'installed') return done;
  return await installSkills({ ...options, source: done.source, skills: [], settings: pluginSettings(settings) });
}

interface WholePlugin {
  readonly type: 'plugin';
  readonly source: string;
}

/** An Agent Plugin is installed as a whole, unless the user names skills, agents or a root: those take skills. */
function isWholePlugin({ isPlugin }: StagedSource, names: readonly string[], options: InstallOptions): boolean {
  const { settings, targets = [], copy = false } = options;
  return isPlugin === true && names.length === 0 && targets.length === 0 && !copy && settings.pluginRoot !== undefined;
}

interface NamedSource {
  readonly staged: StagedSource;
  readonly source: PackSource;
  readonly names: readonly string[];
}

/** A name that is not a skill of the source may be a plugin that its marketplace lists. Throws a refusal. */
async function stageNamed(typed: PackSource, root: OpenRoot, options: InstallOptions): Promise<NamedSource> {
  const { settings, skills: names = [], offline, signal, onProgress } = options;
  const only = names.length === 0 ? undefined : names;
  const stage = (source: PackSource): Promise<StagedSource | PackRefusal> =>
    stagePack(source, { settings, to: root.staging(), only, withPlugins: true, offline, signal, onProgress });
  const staged = accepted(await stage(typed));
  const { skills, unusable, marketplaces: { lists = [], problem } = {} } = staged;
  const found = [...skills, ...unusable];
  const [name, ...others] = names.filter((one) => found.every((skill) => skill.name !== one && skill.folder !== one));
  const isMarketplace = typed.type === 'folder' || typed.type === 'git';
  const listed = lists.flatMap(({ plugins, renames }) => [...plugins.map((plugin) => plugin.name), ...renames.keys()]);
  if (name === undefined || !isMarketplace || !listed.includes(name)) {
    if (found.length === 0) throw onlyPlugins(options.source, listed);
    if (name !== undefined && lists.length === 0) accepted(problem);
    return { staged, source: typed, names };
  }
  if (others.length > 0 || names.length > 1)
    throw refused('pack/unknown-skill', `${quoted(name)} is a plugin: install one plugin at a time`);
  const source = { type: 'plugin', name, marketplace: typed } as const;
  return { staged: accepted(await stage(source)), source, names: [] };
}

function noteElsewhere({ marketplaces }: StagedSource): readonly string[] {
  const count = marketplaces === undefined ? 0 : listElsewhere(marketplaces).length;
  const what = count === 1 ? 'a plugin in another repository' : `${String(count)} plugins in other repositories`;
  return count === 0 ? [] : [`the marketplace lists ${what}; install one by its name`];
}

const MAX_NAMED = 20;

function onlyPlugins(typed: string, names: readonly string[]): SkillError {
  const more = names.length > MAX_NAMED ? ` and ${String(names.length - MAX_NAMED)} more` : '';
  const listed = names.slice(0, MAX_NAMED).map((name) => quoted(name, 64));
  return refused('pack/no-skill', `${quoted(typed, 200)} has no skills itself; it lists ${listed.join(', ')}${more}`, {
    hint: 'name a plugin: skillwright install SOURCE PLUGIN',
  });
}

/** The approximate number of files that are not installed yet. */
function newFiles({ skills }: StagedSource, lock: LockFile): number {
  return skills
    .filter(({ name, digest }) => digest === undefined || lock.skills.get(name)?.digest !== digest)
    .reduce((sum, { files = {} }) => sum + Object.keys(files).length, 0);
}

interface ChosenSkills {
  readonly verdicts: SourceVerdicts;
  readonly targets: InstallOptions['targets'];
}

async function inspectAndChoose(staged: StagedSource, root: OpenRoot, options: InstallOptions): Promise<ChosenSkills> {
  const { settings, signal, strict, force = false, onProgress, choose, targets, skills: names = [] } = options;
  const inspect = {
    settings,
    mode: strict === undefined ? settings.mode : strict ? 'strict' : 'lenient',
    checkName: openNameCheck([...root.lock.skills.keys()]),
    lock: root.lock,
    force,
    signal,
    onProgress: (done: number, total: number) => onProgress?.({ step: 'inspect', done, total }),
  } as const;
  const all = accepted(await sourceVerdicts(staged, { ...inspect, names }));
  if (choose === undefined || names.length > 0 || all.ready.length === 0) return { verdicts: all, targets };
  const choice = await choose({ ...all, targets: detectedTargets(settings) });
  if (choice === undefined || choice.folders.length === 0)
    throw refused('install/refused', 'no skill was selected: nothing was installed', {
      hint: 'select skills with the space bar, or name them: skillwright install SOURCE SKILL',
    });
  const { folders } = choice;
  const chosen = all.ready.filter(({ folder }) => folders.includes(folder)).map(({ name }) => name);
  const isAll = folders.length === all.ready.length;
  const verdicts = isAll ? all : accepted(await sourceVerdicts(staged, { ...inspect, names: chosen }));
  return { verdicts, targets: choice.targets ?? targets };
}

function planInstall(
  staged: StagedSource,
  root: OpenRoot,
  { verdicts, options }: { readonly verdicts: SourceVerdicts; readonly options: InstallOptions },
): InstallPlan {
  const { skills: names = [], existing = 'refuse', at = new Date() } = options;
  const edited: string[] = [];
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
    return { verdict: hasWarnings(skill) ? 'warnings' : 'ready', skill, change, isNeeded, lock, before };
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
  const skills = planned.filter(({ skill }) => !impossible.has(skill.name));
  const ready = skills.map(({ skill }) => skill.name);
  const { targets = [], copy, takeOver = false } = options;
  const context = { root: root.path, kind: copy === true ? 'copy' : 'link', lock: root.lock, takeOver } as const;
  return {
    root: root.path,
    typed: options.source,
    resolved: staged.resolved,
    skills: skills.toSorted((a, b) => compareText(a.skill.name, b.skill.name)),
    refused: [...verdicts.refused, ...blocked].toSorted(
      (a, b) => compareText(a.name, b.name) || compareText(a.folder, b.folder),
    ),
    notes: [...verdicts.notes, ...edited, ...(names.length === 0 ? noteElsewhere(staged) : [])],
    leftOut: staged.leftOut,
    places: targets.map((target) => planTarget(target, ready, context)),
    ...commonSigner(skills),
  };
}

function nothingToInstall({ skills, refused: [first, ...others] }: InstallPlan): PackRefusal | undefined {
  if (first === undefined || skills.length > 0) return undefined;
  const { refusal } = first;
  if (others.length === 0) return refusal;
  const message = `none of the ${String(others.length + 1)} skills can be installed; the first: ${refusal.message}`;
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

export function lockedSkill(
  skill: InspectedSkill,
  { source, revision, archive }: ResolvedSource,
  at: Date,
): LockedSkill {
  const { name, version, folder, digest, files, requires, signedBy, scan } = skill;
  return {
    name,
    version,
    source,
    revision,
    archive,
    folder: folder === '' ? undefined : folder,
    digest,
    files,
    requires: requires.length === 0 ? undefined : requires.map((need) => need.name).toSorted(compareText),
    signedBy,
    accepted: scan.accepted.length === 0 ? undefined : scan.accepted,
    installedAt: lockTime(at),
    tool: VERSION,
  };
}

async function applyPlan(
  plan: InstallPlan,
  root: OpenRoot,
  options: InstallOptions,
  backgroundSync: BackgroundSync | undefined,
): Promise<Installed> {
  const { settings, targets = [], copy, takeOver = false, trust, signal, onProgress, at } = options;
  const changing = plan.skills.filter(isChanging);
  const done = { type: 'installed', plan, kept: [], notes: [], unplaced: [] } as const;
  if (options.dryRun === true) return { ...done, isDone: false };
  const isPlaced = plan.places.every(
    ({ add, taken, problem }) => add.length + taken.length === 0 && problem === undefined,
  );
  if (changing.length === 0 && isPlaced) return { ...done, isDone: true };
  if ((await options.confirm(plan)) !== true) throw refused('install/refused', 'not confirmed: nothing was installed');
  const add = plan.skills.map(({ skill }) => skill.name);
  const { kept, notes, unplaced } = accepted(
    await root.commit(
      changing.map((planned) => putChange(planned, root, options)),
      {
        places: requestChanges(targets, { add }, { root: root.path, kind: copy === true ? 'copy' : 'link', takeOver }),
        signal,
        at,
        backgroundSync,
        beforeCommit: trust === true ? trustArriving(settings) : undefined,
        onProgress: ({ phase, ...count }) => onProgress?.({ step: phase, ...count }),
      },
    ),
  );
  return { ...done, isDone: true, kept, notes, unplaced };
}
