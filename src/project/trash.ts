import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import path from 'node:path';

import {
  actionFailed,
  quoted,
  toRelativePath,
  type ActionFailed,
  type ActionProblem,
  type RelativePath,
  type Action,
  type OfType,
  type Observation,
  isProblem,
} from '#core';
import { moveBeneath, resolveBeneath, sha256, writeBeneath } from '#platform';
import { fileFailed, hostFailure } from './host-failure.ts';
import { readResolved } from './read-file.ts';
import type { ResolvedPath } from './resolve-path.ts';

export interface DeleteFileOptions {
  readonly at?: Date;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** The trash folder by root. Skills are read-only. */
const TRASH: Readonly<Record<ResolvedPath['place'], string | undefined>> = {
  project: '.agent/trash',
  workspace: '.trash',
  skill: undefined,
};

/**
 * Moves a file to the trash of its root, `<trash>/<time>-<random>/<path>`, and writes a record beside that folder. To restore the file,
 * move it back. Folders are refused: delete their files one by one.
 */
export function deleteFile(
  action: OfType<Action, 'delete_file'>,
  placed: ResolvedPath,
  { at = new Date() }: DeleteFileOptions = {},
): OfType<Observation, 'file-deleted'> | ActionFailed {
  const { root, relative, shown } = placed;
  if (relative === '') return fileFailed(action.type, shown, { code: 'file/directory' });
  const found = resolveBeneath(root, relative, [root]);
  if (found.type === 'resolved' && !found.isThere) return fileFailed(action.type, shown, { code: 'file/missing' });
  const target = prepareTrashPath(placed, at);
  if ('code' in target) return actionFailed(action.type, target);
  const read = readResolved(placed, MAX_BYTES);
  const moved = moveBeneath(root, relative, target.path);
  if (moved.type === 'failed') return fileFailed(action.type, shown, moved);
  // The record is optional, because the folder name has the time and the path: a full disk does not undo the deletion.
  put(root, `${target.base}.json`, `${JSON.stringify({ from: shown, deletedAt: at.toISOString() })}\n`);
  const scheme = placed.place === 'workspace' ? 'workspace://' : '';
  const digest = read.type === 'read' ? { digest: `sha256:${sha256(read.bytes)}` } : {};
  const stats = lstatSync(path.join(root, target.path), { throwIfNoEntry: false });
  const specialBits = (stats?.mode ?? 0) & 0o7000;
  const known =
    stats === undefined || scheme !== ''
      ? {}
      : { bytes: stats.size, mode: stats.mode & 0o777, ...(specialBits === 0 ? {} : { specialBits }) };
  return {
    type: 'file-deleted',
    action: action.type,
    path: shown,
    trash: `${scheme}${target.path}`,
    ...digest,
    ...known,
  };
}

/** Keeps a copy of content that is about to be replaced, at the same kind of place. Returns its path relative to the project. */
export function keepReplaced(placed: ResolvedPath, bytes: Uint8Array): RelativePath | ActionProblem {
  const target = prepareTrashPath(placed, new Date());
  if ('code' in target) return target;
  const written = writeBeneath(placed.root, target.path, bytes, { mode: 0o600 });
  return written.type === 'written'
    ? target.path
    : hostFailure(written.code, `the earlier content of ${quoted(placed.shown, 200)} could not be kept in the trash`);
}

function prepareTrashPath(
  placed: ResolvedPath,
  at: Date,
): { readonly base: string; readonly path: RelativePath } | ActionProblem {
  const { root, relative, shown, place } = placed;
  const trash = resolveTrash(placed);
  // Written first: a deleted file may be a secret that must never be committed.
  if (trash === undefined || !put(root, `${trash}/.gitignore`, '*\n', { isNew: true }))
    return hostFailure(
      'file/unwritable',
      `the ${place} has no usable trash folder; ${quoted(shown, 200)} was not changed`,
    );
  const base = `${trash}/${timeText(at)}-${randomBytes(4).toString('hex')}`;
  const target = toRelativePath(`${base}/${relative}`);
  return isProblem(target) ? target : { base, path: target };
}

/** A link to the trash is not followed: it could lead into `.git`. */
function resolveTrash({ root, place }: ResolvedPath): string | undefined {
  const reading = toRelativePath(TRASH[place] ?? '');
  if (isProblem(reading)) return undefined;
  const resolved = resolveBeneath(root, reading, [root]);
  return resolved.type === 'resolved' && resolved.path === reading ? resolved.path : undefined;
}

function put(root: string, file: string, text: string, { isNew = false } = {}): boolean {
  const reading = toRelativePath(file);
  if (isProblem(reading)) return false;
  const mayReplace = (digest: string | undefined): boolean => !isNew || digest === undefined;
  const written = writeBeneath(root, reading, Buffer.from(text, 'utf8'), { mayReplace });
  return written.type === 'written' || (isNew && written.code === 'file/changed');
}

/** `20260131T235959Z`. */
function timeText(at: Date): string {
  return at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '');
}
