/** What an update makes of one installed skill: the new version, or that and what was changed here, built aside. */
import path from 'node:path';

import type { LockedSkill } from '../lock/lock.ts';
import type { UpdatedFile } from './capability-diff.ts';
import { isRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { planUpdate } from './update-plan.ts';
import type { FileTable, UpdateMode, UpdatePlan } from './update-plan.ts';
import { MAX_MERGED_BYTES, buildUpdate } from './apply-update.ts';
import { baseFilesIn } from './base-files.ts';
import type { OpenRoot } from '../root/open-root.ts';
import { presentFiles } from '../root/present-files.ts';
import { isPresent } from '../../platform/fs/paths.ts';
import { inspectSkill } from '../inspect/inspect-skill.ts';
import type { InspectOptions, InspectedSkill } from '../inspect/inspect-skill.ts';
import { updatedFiles } from './updated-files.ts';

/** One skill of an update. `refused`: it stays as it is, and why. */
export type SkillUpdate =
  | { readonly status: 'current'; readonly name: string; readonly before: LockedSkill; readonly reason: string }
  | { readonly status: 'refused'; readonly name: string; readonly before: LockedSkill; readonly refusal: PackRefusal }
  | ChangedSkill;

export interface ChangedSkill {
  /** `new`: not installed so far; an updated one needs it. */
  readonly status: 'update' | 'new';
  readonly name: string;
  readonly before?: LockedSkill;
  /** The new version as its source has it. */
  readonly skill: InspectedSkill;
  readonly lock: LockedSkill;
  /** Each file as it is here, and as it will be. */
  readonly files: readonly UpdatedFile[];
  /** Files in which lines of both sides go together; files that stay as they are here; local edits that go. */
  readonly merged: readonly string[];
  readonly kept: readonly string[];
  readonly lost: readonly string[];
  readonly result: UpdateResult;
}

/** What would be put in place. */
export interface UpdateResult {
  /** Absolute, staged. */
  readonly from: string;
  readonly looks: string;
  /** What was installed looked so when the plan was made; absent where nothing was there. */
  readonly localLooks?: string;
}

export interface UpdateSkillOptions {
  readonly root: OpenRoot;
  readonly mode: UpdateMode;
  readonly inspect: InspectOptions;
  /** Brings the version that was installed once more: asked for only where lines must be merged. Its folder, where it can be had. */
  readonly bringBase: (locked: LockedSkill) => Promise<string | undefined>;
  readonly signal?: AbortSignal;
}

/** `lock`: the entry for the new version. It says what upstream has, also where local edits stay: those show as drift in `verify`. */
export async function updateSkill(
  before: LockedSkill,
  { skill, lock }: { readonly skill: InspectedSkill; readonly lock: LockedSkill },
  options: UpdateSkillOptions,
): Promise<SkillUpdate> {
  const { root, mode } = options;
  const { name } = before;
  const dir = path.join(root.path, name);
  const local = localTree(dir, mode);
  if (isRefusal(local)) return { status: 'refused', name, before, refusal: local };
  const isThere = local.looks !== undefined;
  // A folder that is gone has no edits to lose: it is brought anew.
  const plan = planUpdate({
    base: isThere ? before.files : {},
    local: local.files,
    incoming: skill.files,
    mode,
  });
  if (!plan.hasNews && plan.lost.length === 0)
    return { status: 'current', name, before, reason: 'the source has the same files' };
  const built = await resultOf(before, { plan, skill, dir }, options);
  if (isRefusal(built)) return { status: 'refused', name, before, refusal: built };
  return {
    status: 'update',
    name,
    before,
    skill,
    lock,
    files: updatedFiles({ dir, files: local.files }, { dir: built.from, files: built.files }),
    merged: built.merged,
    kept: built.kept,
    lost: plan.lost,
    result: {
      from: built.from,
      looks: built.looks,
      ...(local.looks === undefined ? {} : { localLooks: local.looks }),
    },
  };
}

/** What lies here. What cannot be read can only be replaced: it goes to the versions before, as it is. */
function localTree(
  dir: string,
  mode: UpdateMode,
): { readonly files: FileTable; readonly looks?: string } | PackRefusal {
  if (!isPresent(dir)) return { files: {} };
  const tree = presentFiles(dir);
  if (!isRefusal(tree)) return { files: tree.files, looks: tree.looks };
  return mode === 'force' ? { files: {} } : tree;
}

interface Built {
  readonly from: string;
  readonly looks: string;
  readonly files: FileTable;
  readonly merged: readonly string[];
  readonly kept: readonly string[];
}

interface Planned {
  readonly plan: UpdatePlan;
  readonly skill: InspectedSkill;
  readonly dir: string;
}

async function resultOf(
  before: LockedSkill,
  { plan, skill, dir }: Planned,
  options: UpdateSkillOptions,
): Promise<Built | PackRefusal> {
  if (plan.refusal !== undefined) return plan.refusal;
  if (plan.edited.length === 0 || plan.mode === 'force')
    return { from: skill.path, looks: skill.looks, files: skill.files, merged: [], kept: [] };
  const { root, signal, inspect } = options;
  const brought = plan.toMerge.length === 0 ? undefined : await options.bringBase(before);
  const keptBefore = [...root.versions(before.name), ...root.backups(), ...root.trash()]
    .filter(({ name }) => name === before.name)
    .map((kept) => kept.path);
  const to = path.join(root.staging(), before.name);
  const built = await buildUpdate({
    plan,
    local: dir,
    incoming: skill.path,
    base: baseFilesIn([...(brought === undefined ? [] : [brought]), ...keptBefore], { maxBytes: MAX_MERGED_BYTES }),
    to,
    ...(signal === undefined ? {} : { signal }),
  });
  if (isRefusal(built)) return built;
  // Lines that went together may mean something that neither side said.
  const judged = inspectSkill({ folder: skill.folder, path: to, name: skill.name }, { ...inspect, mode: 'lenient' });
  if (isRefusal(judged)) return judged;
  const [refusal] = judged.refusals;
  if (refusal !== undefined) return refusal;
  return { from: to, looks: judged.looks, files: judged.files, merged: built.merged, kept: built.kept };
}
