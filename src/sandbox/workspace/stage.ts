import { lstatSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import { quoted } from '../../core/text/text.ts';
import { copyTree } from '../../platform/fs/copy-tree.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { SKILL_LINKS, ioFailed, isRoot, makeInside, makeTemporary } from './layout.ts';
import type { Base } from './layout.ts';
import { addedLinks, discard, isMoved, withSignal } from './snapshots.ts';
import type { Snapshot } from './snapshots.ts';

export interface StageOptions {
  readonly base: Base;
  /** Of the workspace. */
  readonly root: string;
  /** `mount`: an empty folder, over which the executor shows the snapshot. `copy`: the files themselves, where nothing can be mounted. */
  readonly manner: 'mount' | 'copy';
  readonly signal?: AbortSignal;
}

/** Puts a skill at `skills/<name>` of a workspace; what is there of the same name makes room. The name is one of a snapshot: checked. */
export async function stageSnapshot(snapshot: Snapshot, options: StageOptions): Promise<void> {
  const target = path.join(options.root, 'skills', snapshot.name);
  try {
    if (options.manner === 'mount') await makeMountPoint(target, options);
    else await copyInPlace(snapshot, target, options);
  } catch (error) {
    if (isSystemError(error)) throw ioFailed(target, error);
    throw error;
  }
}

async function makeMountPoint(target: string, { base }: StageOptions): Promise<void> {
  const mode = isRoot() ? 0o755 : 0o700;
  if (makeInside(path.dirname(target), path.basename(target), { mode, owner: undefined })) return;
  if (lstatSync(target).isDirectory()) return;
  await discard(base, target);
  makeInside(path.dirname(target), path.basename(target), { mode, owner: undefined });
}

/** A copy and no hard link: a script that writes to its own files must not write into the snapshot. */
async function copyInPlace(snapshot: Snapshot, target: string, { base, signal }: StageOptions): Promise<void> {
  const temporary = makeTemporary(base);
  try {
    const made = path.join(temporary, snapshot.name);
    const leaveOut = addedLinks(snapshot.path);
    const options = { to: made, permissions: 'read-only', leaveOut, links: SKILL_LINKS } as const;
    const copied = await copyTree(snapshot.path, withSignal(options, signal));
    if (copied.type === 'refused' || copied.digest !== snapshot.digest) throw spoiled(snapshot);
    if (isMoved(made, target)) return;
    await discard(base, target);
    if (!isMoved(made, target)) throw spoiled(snapshot);
  } finally {
    await removeTree(temporary);
  }
}

function spoiled({ name, path: folder }: Snapshot): SkillError {
  return new SkillError({
    code: 'skill/invalid',
    message: `the copy of the skill ${quoted(name)} is not what was copied`,
    hint: 'somebody writes to the folder of workspaces; give it to yourself alone',
    data: { path: folder },
  });
}
