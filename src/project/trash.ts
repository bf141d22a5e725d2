import { randomBytes } from 'node:crypto';

import type { DeleteFile } from '../core/action.ts';
import { actionFailed } from '../core/observation.ts';
import type { ActionFailed, FileDeleted } from '../core/observation.ts';
import { toRelativePath } from '../core/path.ts';
import { quoted } from '../core/text/text.ts';
import { moveBeneath, writeBeneath } from '../platform/fs/confined-write.ts';
import { resolveBeneath } from '../platform/fs/resolve-beneath.ts';
import { fileFailed, hostFailure } from './host-failure.ts';
import type { PlacedPath } from './places.ts';

export interface DeleteFileOptions {
  /** When it is deleted; now. */
  readonly at?: Date;
}

/** Where deleted files lie, by place. Skills are only read. */
const TRASH: Readonly<Record<PlacedPath['place'], string | undefined>> = {
  project: '.agent/trash',
  workspace: '.trash',
  skill: undefined,
};

/**
 * Moves a file to the trash of its place, below its own path: `<trash>/<time>-<chance>/<path>`, with a record beside that folder. Whoever
 * wants it back moves it back. Folders are refused: what is in them is deleted file by file.
 */
export function deleteFile(
  action: DeleteFile,
  placed: PlacedPath,
  { at = new Date() }: DeleteFileOptions = {},
): FileDeleted | ActionFailed {
  const { root, relative, shown } = placed;
  if (relative === '') return fileFailed(action.type, shown, { code: 'file/directory' });
  const found = resolveBeneath(root, relative, [root]);
  if (found.type === 'resolved' && !found.isThere) return fileFailed(action.type, shown, { code: 'file/missing' });
  const trash = trashOf(placed);
  // Before anything lies there: what is deleted may be what must never be in a repository.
  if (trash === undefined || !put(root, `${trash}/.gitignore`, '*\n', { isNew: true })) {
    const message = `the ${placed.place} has no trash that can be used; ${quoted(shown, 200)} was not deleted`;
    return actionFailed(action.type, hostFailure('file/unwritable', message));
  }
  const base = `${trash}/${timeText(at)}-${randomBytes(4).toString('hex')}`;
  const target = toRelativePath(`${base}/${relative}`);
  if (target.type === 'refused') return actionFailed(action.type, target.failure);
  const moved = moveBeneath(root, relative, target.path);
  if (moved.type === 'failed') return fileFailed(action.type, shown, moved);
  // Without the record the folder still tells when and from where: a full disk does not undo the deletion.
  put(root, `${base}.json`, `${JSON.stringify({ from: shown, deletedAt: at.toISOString() })}\n`);
  const scheme = placed.place === 'workspace' ? 'workspace://' : '';
  return { type: 'file-deleted', action: action.type, path: shown, trash: `${scheme}${target.path}` };
}

/** Links on the way to it are resolved like those of any other path, and may not lead outside. */
function trashOf({ root, place }: PlacedPath): string | undefined {
  const reading = toRelativePath(TRASH[place] ?? '');
  if (reading.type === 'refused') return undefined;
  const resolved = resolveBeneath(root, reading.path, [root]);
  return resolved.type === 'resolved' ? resolved.path : undefined;
}

function put(root: string, file: string, text: string, { isNew = false } = {}): boolean {
  const reading = toRelativePath(file);
  if (reading.type === 'refused') return false;
  const mayReplace = (digest: string | undefined): boolean => !isNew || digest === undefined;
  const written = writeBeneath(root, reading.path, Buffer.from(text, 'utf8'), { mayReplace });
  return written.type === 'written' || (isNew && written.code === 'file/changed');
}

/** `20260131T235959Z`. */
function timeText(at: Date): string {
  return at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '');
}
