/** Updates one installed skill: stages the new version, merged with local edits if requested. */
import path from 'node:path';
import { isUtf8 } from 'node:buffer';

import { toRelativePath, compareText, isProblem } from '#core';
import { isPresent, openConfined, readTreeDigest, sha256 } from '#platform';
import type { LockedFile, LockedSkill } from '../lock/lock-file.ts';
import { changedFiles, countChanges, type FileSide, type UpdatedFile } from './capability-diff.ts';
import { isRefusal, orRefusal, type PackRefusal } from '../problems.ts';
import { readStagedPlugin } from '../sources/skill-folders.ts';
import { planUpdate, type FileTable, type UpdateMode, type UpdatePlan } from './update-plan.ts';
import { buildUpdate, conflictsIn, type FileConflict } from './apply-update.ts';
import type { OpenRoot } from '../root/open-root.ts';
import { MAX_MERGED_BYTES, type OriginalTexts } from '../root/originals.ts';
import { presentFiles, type TreeLooks } from '../root/present-files.ts';
import type { InspectOptions } from '../inspect/inspect-options.ts';
import { inspectSkill, type InspectedSkill } from '../inspect/inspect-skill.ts';
import type { IsTrusted } from '../trust-confirmed.ts';

/** The result for one skill. A `refused` skill stays unchanged. */
export type SkillUpdate =
  | { readonly status: 'current'; readonly name: string; readonly before: LockedSkill; readonly reason: string }
  | {
      readonly status: 'refused';
      readonly name: string;
      readonly before: LockedSkill;
      readonly refusal: PackRefusal;
      /** The changes that cannot be merged; empty if there is another reason. */
      readonly conflicts: readonly FileConflict[];
    }
  | ChangedSkill;

export interface ChangedSkill {
  /** `new`: not installed yet, but required by an updated skill. */
  readonly status: 'update' | 'new';
  readonly name: string;
  readonly before?: LockedSkill;
  /** The new version in the source. */
  readonly skill: InspectedSkill;
  readonly lock: LockedSkill;
  /** The files before and after the update. */
  readonly files: readonly UpdatedFile[];
  readonly changes: ReturnType<typeof countChanges>;
  readonly merged: readonly string[];
  readonly kept: readonly string[];
  /** Paths of local edits that `force` discards. */
  readonly lost: readonly string[];
  /**
   * Whether the user trusted what the new version replaces. An update carries trust over and never creates it: the edits in a cloned
   * project are in the folder before and after the update, so no diff shows them.
   */
  readonly isTrusted: boolean;
  readonly result: UpdateResult;
}

/** The folder that replaces the installed one. */
interface UpdateResult {
  /** The absolute path of the staged folder. */
  readonly from: string;
  readonly looks: TreeLooks;
  /** The stat fingerprint of the installed folder during planning; absent if there was none. */
  readonly localLooks?: string;
}

export function refusedUpdate(before: LockedSkill, refusal: PackRefusal): SkillUpdate {
  return { status: 'refused', name: before.name, before, refusal, conflicts: conflictsIn(refusal) };
}

export interface UpdateSkillOptions {
  readonly root: OpenRoot;
  readonly mode: UpdateMode;
  readonly inspect: InspectOptions;
  /** Stages the installed version again for a merge. Returns its folder, or undefined if it is no longer available. */
  readonly stageBase: (locked: LockedSkill) => Promise<string | undefined>;
  /** Whether the user trusts a version of the skill that this folder has or had, from the source of the lock. */
  readonly isTrusted: IsTrusted;
  readonly signal?: AbortSignal;
}

/** `lock` is the entry for the new version. It describes the source even if local edits stay; `verify` reports those as drift. */
export async function updateSkill(
  before: LockedSkill,
  { skill, lock }: { readonly skill: InspectedSkill; readonly lock: LockedSkill },
  options: UpdateSkillOptions,
): Promise<SkillUpdate> {
  const { root, mode } = options;
  const { name } = before;
  const dir = path.join(root.path, name);
  const local = localTree(dir, before, mode);
  if (isRefusal(local)) return refusedUpdate(before, local);
  const isThere = local.looks !== undefined;
  // A missing folder has no edits to lose, so it is installed again.
  const plan = planUpdate({ base: isThere ? before.files : {}, local: local.files, incoming: skill.files, mode });
  if (!plan.hasNews && plan.lost.length === 0)
    return { status: 'current', name, before, reason: 'the source has the same files' };
  const built = await stageResult(before, { plan, skill, dir }, options);
  if (isRefusal(built)) return refusedUpdate(before, built);
  const present = await readTreeDigest(dir);
  const files = updatedFiles({ dir, files: local.files }, { dir: built.from, files: built.files });
  return {
    status: 'update',
    name,
    before,
    skill,
    lock,
    files,
    changes: countChanges(changedFiles(files)),
    merged: plan.toMerge,
    kept: plan.kept,
    lost: plan.lost,
    isTrusted:
      options.isTrusted(dir, present.type === 'digest' ? present.digest : undefined, before) ||
      // Nothing of the local files is left: the new version follows the one that was installed.
      (built.from === skill.path && options.isTrusted(dir, before.digest, before)),
    result: { from: built.from, looks: built.looks, localLooks: local.looks },
  };
}

/** Reads the installed files. `force` replaces an unreadable folder, which is kept as a backup. */
function localTree(
  dir: string,
  { files }: LockedSkill,
  mode: UpdateMode,
): { readonly files: FileTable; readonly looks?: string } | PackRefusal {
  if (!isPresent(dir)) return { files: {} };
  const tree = presentFiles(dir, { locked: files });
  if (!isRefusal(tree)) return { files: tree.files, looks: tree.looks };
  return mode === 'force' ? { files: {} } : tree;
}

interface StagedResult extends Pick<UpdateResult, 'from' | 'looks'> {
  readonly files: FileTable;
}

interface PlannedSkill {
  readonly plan: UpdatePlan;
  readonly skill: InspectedSkill;
  readonly dir: string;
}

async function stageResult(
  before: LockedSkill,
  { plan, skill, dir }: PlannedSkill,
  options: UpdateSkillOptions,
): Promise<StagedResult | PackRefusal> {
  if (plan.refusal !== undefined) return plan.refusal;
  if (plan.edited.length === 0 || plan.mode === 'force')
    return { from: skill.path, looks: skill.looks, files: skill.files };
  const { root, signal, inspect } = options;
  const originals = plan.toMerge.length === 0 ? new Map<string, string>() : await root.originals(before);
  const isKept = plan.files.every(({ take, base }) => take !== 'merge' || originals.has(base?.sha256 ?? ''));
  const base = isKept ? undefined : await options.stageBase(before);
  const backups = (['previous', 'backups', 'trash'] as const).flatMap((part) => root.backups(part, before.name));
  const to = path.join(root.staging(), before.name);
  const built = await buildUpdate({
    plan,
    local: dir,
    incoming: skill.path,
    base: baseFileReader([...(base === undefined ? [] : [base]), ...backups.map((kept) => kept.path)], {
      maxBytes: MAX_MERGED_BYTES,
      originals,
    }),
    to,
    signal,
  });
  if (isRefusal(built)) return built;
  // Merged lines can contain something that neither side had, so the result is inspected again.
  const plugin = skill.plugin === undefined ? undefined : orRefusal(() => readStagedPlugin(to).plugin);
  if (plugin !== undefined && isRefusal(plugin)) return plugin;
  const merged = { folder: skill.folder, path: to, name: skill.name, plugin };
  const inspected = inspectSkill(merged, { ...inspect, mode: 'lenient' });
  if (isRefusal(inspected)) return inspected;
  const [refusal] = inspected.refusals;
  if (refusal !== undefined) return refusal;
  return { from: to, looks: inspected.looks, files: built.files };
}

/**
 * Reads files as they were installed: from the kept originals, or from folders that may still have them. Only bytes that match the digest
 * of the lock are returned.
 */
export function baseFileReader(
  folders: readonly string[],
  { maxBytes, originals }: { readonly maxBytes: number; readonly originals?: OriginalTexts },
): (path: string, file: LockedFile) => Uint8Array | undefined {
  return (filePath, file) => {
    const relative = toRelativePath(filePath);
    if (isProblem(relative) || file.bytes > maxBytes) return undefined;
    const kept = originals?.get(file.sha256);
    if (kept !== undefined && sha256(kept) === file.sha256) return Buffer.from(kept);
    for (const folder of folders) {
      const opened = openConfined(folder);
      if (opened.type === 'failed') continue;
      try {
        const read = opened.directory.read(relative, { maxBytes, followLinks: false });
        if (read.type === 'read' && sha256(read.bytes) === file.sha256) return read.bytes;
      } finally {
        opened.directory.close();
      }
    }
    return undefined;
  };
}

export interface TreeSide {
  readonly dir: string;
  readonly files: FileTable;
}

/** Larger files are listed without their text. */
const MAX_SHOWN_BYTES = 1024 * 1024;
/** The limit for all texts of one side. */
const MAX_SIDE_BYTES = 32 * 1024 * 1024;

/** Returns the files of both sides, sorted by path. */
export function updatedFiles(before: TreeSide, after: TreeSide): readonly UpdatedFile[] {
  const [old, now] = [fileSides(before), fileSides(after)];
  return [...new Set([...old.keys(), ...now.keys()])].sort(compareText).map((path): UpdatedFile => {
    const [was, is] = [old.get(path), now.get(path)];
    return { path, before: was, after: is };
  });
}

function fileSides({ dir, files }: TreeSide): ReadonlyMap<string, FileSide> {
  const sides = new Map<string, FileSide>();
  const opened = openConfined(dir);
  let room = MAX_SIDE_BYTES;
  try {
    for (const [path, { sha256, bytes, executable }] of Object.entries(files)) {
      const isShown = opened.type === 'open' && bytes <= Math.min(MAX_SHOWN_BYTES, room);
      const text = isShown ? readFileText(opened.directory, path) : undefined;
      room -= text === undefined ? 0 : bytes;
      sides.set(path, { sha256, isExecutable: executable === true, text });
    }
  } finally {
    if (opened.type === 'open') opened.directory.close();
  }
  return sides;
}

type Directory = Extract<ReturnType<typeof openConfined>, { type: 'open' }>['directory'];

/** Returns undefined for binary files. Does not follow links. */
function readFileText(directory: Directory, path: string): string | undefined {
  const relative = toRelativePath(path);
  if (isProblem(relative)) return undefined;
  const read = directory.read(relative, { maxBytes: MAX_SHOWN_BYTES, followLinks: false });
  if (read.type !== 'read' || read.bytes.includes(0) || !isUtf8(read.bytes)) return undefined;
  return read.bytes.toString('utf8');
}
