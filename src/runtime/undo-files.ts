/** Restores the project files that a run wrote, edited or deleted. */
import type { Observation } from '../core/observation.ts';
import type { RelativePath } from '../core/path.ts';
import { moveBeneath, writeBeneath } from '../platform/fs/confined-write.ts';
import { sha256 } from '../platform/hash.ts';
import { isNeverWritten } from '../policy/protected-names.ts';
import { readResolved } from '../project/read-file.ts';
import { resolvePath } from '../project/resolve-path.ts';
import type { ResolvedPath } from '../project/resolve-path.ts';
import { deleteFile } from '../project/trash.ts';

/** What happened to one file over a whole run. */
export interface FileChange {
  /** Relative to the project. */
  readonly path: string;
  /** The content before the run, and where it is kept; absent for a file that the run created. */
  readonly before?: { readonly digest: string; readonly kept: string };
  /** Digest of the content after the run; absent for a file that the run deleted. */
  readonly after?: string;
}

export interface UndoneFile {
  readonly path: string;
  /** `removed`: the run had created it. `conflict`: it was left alone. */
  readonly result: 'restored' | 'removed' | 'unchanged' | 'conflict';
  /** Why a file was left alone, and what to do. */
  readonly reason?: string;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** The changes of project files, in the order in which a run first touched them. */
export function fileChanges(observations: Iterable<Observation>): readonly FileChange[] {
  const changes = new Map<string, FileChange>();
  for (const observation of observations) {
    const change = changeOf(observation);
    if (change === undefined) continue;
    const first = changes.get(change.path);
    const before = first === undefined ? change.before : first.before;
    const { path, after } = change;
    changes.set(path, { path, ...(before && { before }), ...(after === undefined ? {} : { after }) });
  }
  return [...changes.values()];
}

function changeOf(observation: Observation): FileChange | undefined {
  if (observation.type === 'file-written' && !observation.path.includes('://')) {
    const { path, digest, replaced, kept } = observation;
    const before = replaced === undefined || kept === undefined ? undefined : { digest: replaced, kept };
    return { path, after: digest, ...(before && { before }) };
  }
  if (observation.type === 'file-deleted' && !observation.path.includes('://')) {
    const { path, digest, trash } = observation;
    return { path, ...(digest === undefined ? {} : { before: { digest, kept: trash } }) };
  }
  return undefined;
}

/**
 * Restores each file that still has the content that the run left. Other files are left alone. It can be repeated: a file that is
 * already restored is `unchanged`.
 */
export function undoFiles(project: string, changes: readonly FileChange[]): readonly UndoneFile[] {
  return changes.map((change) => ({ path: change.path, ...undoFile(project, change) }));
}

type Undone = Omit<UndoneFile, 'path'>;

function undoFile(project: string, { path, before, after }: FileChange): Undone {
  const placed = resolvePath(path, { project, skills: [] }, 'write');
  if (placed.type === 'refused') return conflict(placed.failure.message);
  if (placed.relative === '' || isNeverWritten(placed.relative)) return conflict('tools never write this file');
  const current = digestOf(placed);
  if (typeof current === 'object') return conflict(current.reason);
  if (current === before?.digest) return { result: 'unchanged' };
  const where = before === undefined ? '' : `; the earlier content is in ${before.kept}`;
  if (current !== after) return conflict(`it changed after the run${where}`);
  if (before === undefined) {
    const removed = deleteFile({ type: 'delete_file', path }, placed);
    return removed.type === 'failed' ? conflict(removed.message) : { result: 'removed' };
  }
  return restore(placed, placed.relative, before, current);
}

function restore(
  { root }: ResolvedPath,
  relative: RelativePath,
  { digest, kept }: NonNullable<FileChange['before']>,
  current: string | undefined,
): Undone {
  const place = resolvePath(kept, { project: root, skills: [] }, 'read');
  const read = place.type === 'resolved' ? readResolved(place, MAX_BYTES) : undefined;
  if (place.type !== 'resolved' || place.relative === '' || read?.type !== 'read')
    return conflict(`the kept copy ${kept} cannot be read`);
  if (`sha256:${sha256(read.bytes)}` !== digest) return conflict(`the kept copy ${kept} has changed`);
  // A deleted file is moved back, with its permissions.
  const done =
    current === undefined
      ? moveBeneath(root, place.relative, relative)
      : writeBeneath(root, relative, read.bytes, { mayReplace: (found) => `sha256:${found ?? ''}` === current });
  return done.type === 'failed' ? conflict(`it cannot be written (${done.code})`) : { result: 'restored' };
}

/** Undefined if there is no such file. */
function digestOf(placed: ResolvedPath): string | undefined | { readonly reason: string } {
  const read = readResolved(placed, MAX_BYTES);
  if (read.type === 'read') return `sha256:${sha256(read.bytes)}`;
  return read.code === 'file/missing' ? undefined : { reason: `it cannot be read (${read.code})` };
}

function conflict(reason: string): Undone {
  return { result: 'conflict', reason };
}
