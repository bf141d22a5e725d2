import { lstatSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { quoted, SkillError } from '#core';
import { copyTree, isSystemError, removeTree } from '#platform';
import { SKILL_LINKS, ioFailed, isRoot, makeInside, makeTemporary, type Base } from './layout.ts';
import { listOwnFolders } from './own-folders.ts';
import { addedLinks, discard, isRenamed, type Snapshot } from './snapshots.ts';

export interface StageOptions {
  readonly base: Base;
  /** The workspace. */
  readonly root: string;
  /** `mount`: creates a mount point for the executor. `copy`: copies the files, for executors that cannot mount. */
  readonly mode: 'mount' | 'copy';
  readonly signal?: AbortSignal;
}

/** Puts a snapshot at `skills/<name>` of a workspace, replacing an earlier one. */
export async function stageSnapshot(snapshot: Snapshot, options: StageOptions): Promise<void> {
  const target = path.join(options.root, 'skills', snapshot.name);
  try {
    if (options.mode === 'mount') await makeMountPoint(target, options);
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

/** Copies instead of hard-linking: a script that writes to its own files must not change the snapshot. */
async function copyInPlace(snapshot: Snapshot, target: string, { base, signal }: StageOptions): Promise<void> {
  const temporary = makeTemporary(base);
  try {
    const copy = path.join(temporary, snapshot.name);
    const leaveOut = addedLinks(snapshot.path);
    const options = { to: copy, permissions: 'writable', leaveOut, links: SKILL_LINKS, signal } as const;
    const copied = await copyTree(snapshot.path, options);
    if (copied.type === 'refused' || copied.digest !== snapshot.digest) throw corrupted(snapshot);
    for (const name of listOwnFolders(copy)) {
      await removeTree(path.join(copy, name));
      symlinkSync(SKILL_LINKS[name], path.join(copy, name));
    }
    if (isRenamed(copy, target)) return;
    await discard(base, target);
    if (!isRenamed(copy, target)) throw corrupted(snapshot);
  } finally {
    await removeTree(temporary);
  }
}

function corrupted({ name, path: folder }: Snapshot): SkillError {
  return new SkillError({
    code: 'skill/invalid',
    message: `the copy of the skill ${quoted(name)} differs from its snapshot`,
    hint: 'another program writes to the workspace folder; make sure that only you can write there',
    data: { path: folder },
  });
}
