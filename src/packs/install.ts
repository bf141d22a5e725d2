/**
 * Installs skills: stage, inspect, apply the policy, confirm, commit. All work happens in the staging folder of the root. The commit at the
 * end changes the root atomically.
 */
import { compareText } from '../core/diagnostic.ts';
import type { PlaceKind, Unplaced } from './agents/place-skills.ts';
import { placeRequests, planPlace } from './agents/place-targets.ts';
import type { PlaceTarget, PlannedPlace } from './agents/place-targets.ts';
import type { LockFile, LockedSkill } from './lock/lock.ts';
import { openNameCheck } from './inspect/confusable-name.ts';
import { isRefusal, packRefusal } from './problems.ts';
import type { PackRefusal } from './problems.ts';
import { requirementRefusal, resolveRequirements } from './requires/resolve-requires.ts';
import type { RequiringSkill } from './requires/resolve-requires.ts';
import { sourceText } from './sources/source-text.ts';
import type { StagedSource, ResolvedSource, StageProgress } from './sources/source.ts';
import { quoted } from '../core/text/text.ts';
import { withRoot } from './root/open-root.ts';
import type { Committed, OpenRoot } from './root/open-root.ts';
import type { CommitOptions, CommitProgress } from './root/commit.ts';
import type { SkillBackup } from './root/skill-backups.ts';
import type { Existing } from './root/plan.ts';
import { VERSION } from '../version.ts';
import { stagePack, inspectSource, lockedSource, readTypedSource } from './inspect/stage-pack.ts';
import { inspectSkill } from './inspect/inspect-skill.ts';
import type { InspectOptions, InspectedSkill } from './inspect/inspect-skill.ts';
import type { PackSettings } from './pack-settings.ts';
import { verifySource } from './inspect/prove-source.ts';

export interface InstallProgress {
  readonly step: StageProgress['step'] | 'inspect' | CommitProgress['phase'];
  readonly done?: number;
  readonly total?: number;
}

export interface InstallOptions {
  readonly settings: PackSettings;
  /** The source as the user typed it. */
  readonly source: string;
  /** Names of the skills to install (default: all of the source). */
  readonly skills?: readonly string[];
  readonly lenient?: boolean;
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
  /** Gets the plan. The install continues only if it resolves to true. */
  readonly confirm: (plan: InstallPlan) => Promise<boolean>;
  readonly onProgress?: (progress: InstallProgress) => void;
  readonly onNote?: (note: string) => void;
  readonly signal?: AbortSignal;
  /** The time to record in the lock (default: now). */
  readonly at?: Date;
}

/** What an install would do, per skill. */
export interface InstallPlan {
  readonly root: string;
  /** The source as the user typed it. */
  readonly typed: string;
  readonly resolved: ResolvedSource;
  readonly skills: readonly PlannedSkill[];
  /** Files of the source that are not installed, each with the reason. */
  readonly leftOut: readonly string[];
  /** What happens in the folders of agents. */
  readonly places: readonly PlannedPlace[];
  readonly signedBy?: string;
}

export interface PlannedSkill {
  readonly skill: InspectedSkill;
  /** `same`: the installed skill has identical bytes. */
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

/** Installs all skills or none. Rejects with the abort reason; the root is then unchanged. */
export async function installSkills(options: InstallOptions): Promise<Installed | PackRefusal> {
  const { settings, signal, onNote } = options;
  const source = readTypedSource(options.source, settings);
  if (isRefusal(source)) return source;
  return await withRoot(
    settings.root,
    {
      create: true,
      ...(signal === undefined ? {} : { signal }),
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
      const plan = await planInstall({ ...staged, resolved }, root, options);
      if (isRefusal(plan)) return plan;
      return await applyPlan(plan, root, { ...options, ...(backgroundSync === undefined ? {} : { backgroundSync }) });
    },
  );
}

/** The approximate number of files that are not installed yet. */
function newFiles({ skills }: StagedSource, lock: LockFile): number {
  return skills
    .filter(({ name, digest }) => digest === undefined || lock.skills.get(name)?.digest !== digest)
    .reduce((sum, { files = {} }) => sum + Object.keys(files).length, 0);
}

/** Inspects the skills and applies the policy. Returns the plan, or the first refusal. */
async function planInstall(
  staged: StagedSource,
  root: OpenRoot,
  options: InstallOptions,
): Promise<InstallPlan | PackRefusal> {
  const { settings, signal, lenient, onProgress, skills: names = [] } = options;
  const checkName = openNameCheck([...root.lock.skills.keys()]);
  const mode = lenient === true ? 'lenient' : 'strict';
  const inspected = await inspectSource(staged, {
    settings,
    mode,
    names,
    checkName,
    ...(signal === undefined ? {} : { signal }),
    onProgress: (done, total) => onProgress?.({ step: 'inspect', done, total }),
  });
  if (isRefusal(inspected)) return inspected;
  const needed = neededSkills(inspected.wanted, staged, root.lock, { settings, mode, checkName });
  if (isRefusal(needed)) return needed;
  const all = [...inspected.wanted, ...needed];
  const added = new Set(needed);
  const refusal = all.flatMap(({ refusals }) => refusals)[0];
  if (refusal !== undefined) return refusal;
  const proof = await verifySource(staged, all, { settings, lock: root.lock, force: options.force === true });
  if (isRefusal(proof)) return proof;
  const at = options.at ?? new Date();
  const skills = all.map((skill): PlannedSkill => {
    const before = root.lock.skills.get(skill.name);
    const isNeeded = added.has(skill);
    const fresh = lockedSkill(skill, staged.resolved, { at, ...proof });
    const change = before === undefined ? 'new' : before.digest === skill.digest ? 'same' : 'replace';
    // `installedAt` is the time of the last change of the bytes.
    const lock = change === 'same' && before !== undefined ? { ...fresh, installedAt: before.installedAt } : fresh;
    return { skill, change, isNeeded, lock, ...(before === undefined ? {} : { before }) };
  });
  return {
    root: root.path,
    typed: options.source,
    resolved: staged.resolved,
    skills: skills.toSorted((a, b) => compareText(a.skill.name, b.skill.name)),
    leftOut: staged.leftOut,
    places: planPlaces(
      skills.map(({ skill }) => skill.name),
      root,
      options,
    ),
    ...(proof.signedBy === undefined ? {} : { signedBy: proof.signedBy }),
  };
}

/** Inspects the skills of the same source that the wanted skills require. Refuses if a requirement cannot be met. */
export function neededSkills(
  wanted: readonly InspectedSkill[],
  { skills }: StagedSource,
  lock: LockFile,
  options: InspectOptions,
): readonly InspectedSkill[] | PackRefusal {
  if (wanted.every(({ requires }) => requires.length === 0)) return [];
  const inspected = new Map<string, InspectedSkill>();
  const chosen = new Set(wanted.map(({ name }) => name));
  const available: RequiringSkill[] = [];
  for (const skill of skills) {
    if (chosen.has(skill.name)) continue;
    const other = inspectSkill(skill, options);
    // A skill that cannot be read is treated as unavailable.
    if (isRefusal(other)) continue;
    inspected.set(skill.name, other);
    available.push(other);
  }
  const resolution = resolveRequirements({
    wanted,
    installed: [...lock.skills.values()].map(({ name, version }) => ({
      name,
      ...(version === undefined ? {} : { version }),
      requires: [],
    })),
    available,
  });
  return requirementRefusal(resolution) ?? resolution.added.flatMap((name) => inspected.get(name) ?? []);
}

export interface LockMarks {
  readonly at: Date;
  readonly signedBy?: string;
}

/** Builds the lock entry of an inspected skill. */
export function lockedSkill(skill: InspectedSkill, resolved: ResolvedSource, { at, signedBy }: LockMarks): LockedSkill {
  const { name, version, folder, digest, files, requires } = skill;
  const { source, revision, archive } = resolved;
  return {
    name,
    ...(version === undefined ? {} : { version }),
    source,
    ...(revision === undefined ? {} : { revision }),
    ...(archive === undefined ? {} : { archive }),
    ...(folder === '' ? {} : { folder }),
    digest,
    files,
    ...(requires.length === 0 ? {} : { requires: requires.map((need) => need.name).toSorted(compareText) }),
    ...(signedBy === undefined ? {} : { signedBy }),
    installedAt: at.toISOString().replace(/\.\d+Z$/, 'Z'),
    tool: VERSION,
  };
}

async function applyPlan(
  plan: InstallPlan,
  root: OpenRoot,
  options: InstallOptions & Pick<CommitOptions, 'backgroundSync'>,
): Promise<Installed | PackRefusal> {
  const { existing = 'refuse', signal, onProgress, at, backgroundSync } = options;
  const changing = plan.skills.filter(({ change }) => change !== 'same');
  const taken = changing.find(({ change }) => change === 'replace');
  if (taken !== undefined && existing === 'refuse')
    return packRefusal('install/exists', `${quoted(taken.skill.name)} is installed in ${quoted(root.path, 200)}`);
  const done = { type: 'installed', plan, kept: [], notes: [], unplaced: [] } as const;
  if (options.dryRun === true) return { ...done, isDone: false };
  const isPlaced = plan.places.every(
    ({ add, taken, problem }) => add.length + taken.length === 0 && problem === undefined,
  );
  if (changing.length === 0 && isPlaced) return { ...done, isDone: true };
  if (!(await options.confirm(plan))) return packRefusal('install/refused', 'not confirmed: nothing was installed');
  const committed: Committed | PackRefusal = await root.commit(
    changing.map(({ skill, lock }) => ({
      type: 'put',
      name: skill.name,
      from: skill.path,
      lock,
      existing,
      looks: skill.looks,
    })),
    {
      places: placeRequests(
        options.targets ?? [],
        { add: plan.skills.map(({ skill }) => skill.name) },
        { root: root.path, kind: kindOf(options) },
      ),
      ...(signal === undefined ? {} : { signal }),
      ...(at === undefined ? {} : { at }),
      ...(backgroundSync === undefined ? {} : { backgroundSync }),
      onProgress: ({ phase, ...count }) => onProgress?.({ step: phase, ...count }),
    },
  );
  if (isRefusal(committed)) return committed;
  const { kept, notes, unplaced } = committed;
  return { ...done, isDone: true, kept, notes, unplaced };
}

function kindOf({ copy }: InstallOptions): PlaceKind {
  return copy === true ? 'copy' : 'link';
}

function planPlaces(names: readonly string[], root: OpenRoot, options: InstallOptions): readonly PlannedPlace[] {
  const { targets = [] } = options;
  return targets.map((target) => planPlace(target, names, { root: root.path, kind: kindOf(options), lock: root.lock }));
}

function carried({ offline, signal, onProgress }: InstallOptions) {
  return {
    ...(offline === undefined ? {} : { offline }),
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress }),
  };
}
