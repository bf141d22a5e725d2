/**
 * Installing: source, staging, inspection, policy, question, commit. Everything happens in the staging folder of the root; the root itself
 * changes in the one step at the end, or not at all.
 */
import { compareText } from '../core/diagnostic.ts';
import type { LockFile, LockedSkill } from './lock/lock.ts';
import { openNameCheck } from './inspect/confusable-name.ts';
import { isRefusal, packRefusal } from './problems.ts';
import type { PackRefusal } from './problems.ts';
import { requirementRefusal, resolveRequirements } from './requires/resolve-requires.ts';
import type { RequiringSkill } from './requires/resolve-requires.ts';
import { sourceText } from './sources/source-text.ts';
import type { StagedSource, ResolvedSource, StageProgress } from './sources/source.ts';
import { openScan } from './scan/scan.ts';
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
  /** As a person types it. */
  readonly source: string;
  /** Names of skills of the source; all where empty. */
  readonly skills?: readonly string[];
  readonly lenient?: boolean;
  /** What to do with what stands there: refuse. */
  readonly existing?: Existing;
  /** Take knowingly what is older, or signed by nobody any more. */
  readonly force?: boolean;
  readonly offline?: boolean;
  readonly dryRun?: boolean;
  /** Told what would be done; nothing is done where it says no. */
  readonly confirm: (plan: InstallPlan) => Promise<boolean>;
  readonly onProgress?: (progress: InstallProgress) => void;
  readonly onNote?: (note: string) => void;
  readonly signal?: AbortSignal;
  /** When it is done; now. */
  readonly at?: Date;
}

/** What an install would do, skill by skill. */
export interface InstallPlan {
  readonly root: string;
  /** The source as it was typed. */
  readonly typed: string;
  readonly resolved: ResolvedSource;
  readonly skills: readonly PlannedSkill[];
  /** What was left behind in the source, and why. */
  readonly leftOut: readonly string[];
  /** The id of the key that signed the source. */
  readonly signedBy?: string;
}

export interface PlannedSkill {
  readonly skill: InspectedSkill;
  /** `same`: these very bytes are installed already. */
  readonly change: 'new' | 'replace' | 'same';
  /** Nobody named it: another one needs it. */
  readonly isNeeded: boolean;
  readonly lock: LockedSkill;
  readonly before?: LockedSkill;
}

export interface Installed {
  readonly type: 'installed';
  readonly plan: InstallPlan;
  /** False for a dry run. */
  readonly isDone: boolean;
  readonly kept: readonly SkillBackup[];
  readonly notes: readonly string[];
}

/** All of the skills or none. Rejects with the reason of the signal; the root is then as it was. */
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

/** About how many files there are that are not installed yet. */
function newFiles({ skills }: StagedSource, lock: LockFile): number {
  return skills
    .filter(({ name, digest }) => digest === undefined || lock.skills.get(name)?.digest !== digest)
    .reduce((sum, { files = {} }) => sum + Object.keys(files).length, 0);
}

/** Inspection and policy: what would be done, or the first reason not to. */
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
    // The date says when the bytes came.
    const lock = change === 'same' && before !== undefined ? { ...fresh, installedAt: before.installedAt } : fresh;
    return { skill, change, isNeeded, lock, ...(before === undefined ? {} : { before }) };
  });
  return {
    root: root.path,
    typed: options.source,
    resolved: staged.resolved,
    skills: skills.toSorted((a, b) => compareText(a.skill.name, b.skill.name)),
    leftOut: staged.leftOut,
    ...(proof.signedBy === undefined ? {} : { signedBy: proof.signedBy }),
  };
}

/** What the wanted ones need and the same source has; a gap is refused. */
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
  const scan = options.scan ?? openScan();
  for (const skill of skills) {
    if (chosen.has(skill.name)) continue;
    const other = inspectSkill(skill, { ...options, scan });
    // One that cannot be read is not there.
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

/** The entry of the lock for a skill as it was inspected. */
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
  const done = { type: 'installed', plan, kept: [], notes: [] } as const;
  if (options.dryRun === true) return { ...done, isDone: false };
  if (changing.length === 0) return { ...done, isDone: true };
  if (!(await options.confirm(plan))) return packRefusal('install/refused', 'nobody said yes: nothing was installed');
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
      ...(signal === undefined ? {} : { signal }),
      ...(at === undefined ? {} : { at }),
      ...(backgroundSync === undefined ? {} : { backgroundSync }),
      onProgress: ({ phase, ...count }) => onProgress?.({ step: phase, ...count }),
    },
  );
  if (isRefusal(committed)) return committed;
  return { ...done, isDone: true, kept: committed.kept, notes: committed.notes };
}

function carried({ offline, signal, onProgress }: InstallOptions) {
  return {
    ...(offline === undefined ? {} : { offline }),
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress }),
  };
}
