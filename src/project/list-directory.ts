import {
  actionFailed,
  compareText,
  quoted,
  type ActionFailed,
  type RelativePath,
  type Observation,
  type OfType,
  type Action,
} from '#core';
import { entriesIn, isSkipped, type FolderEntry, type IsClosed } from './folder-entries.ts';
import { fileFailed, hostFailure } from './host-failure.ts';
import { ignoredBelow } from './ignored-files.ts';
import type { ResolvedPath } from './resolve-path.ts';

export interface ListDirectoryLimits {
  readonly maxEntries?: number;
  readonly maxDepth?: number;
  readonly isClosed?: IsClosed;
}

/** Names read per entry of the result: names are sorted before the list is cut. */
const NAMES_PER_ENTRY = 10;

/** Lists a folder down to the requested depth. If there are too many entries, the deepest are left out. */
export function listDirectory(
  action: OfType<Action, 'list_dir'>,
  placed: ResolvedPath,
  { maxEntries = 1000, maxDepth = 5, isClosed = () => false }: ListDirectoryLimits = {},
): OfType<Observation, 'directory-listed'> | ActionFailed {
  const { depth = 1 } = action;
  if (!Number.isInteger(depth) || depth < 1 || depth > maxDepth) {
    const message = `invalid depth ${String(depth)}: expected 1 to ${String(maxDepth)}`;
    return actionFailed(action.type, hostFailure('input/invalid', message));
  }
  const { root, relative, shown } = placed;
  const top = entriesIn(root, relative, maxEntries * NAMES_PER_ENTRY);
  if (top.type === 'failed') {
    if (top.code !== 'file/exists') return fileFailed(action.type, shown, top);
    const message = `${quoted(shown, 200)} is a file, not a folder`;
    return actionFailed(action.type, hostFailure('file/missing', message, 'use read_file, or name a folder'));
  }
  const isIgnored = ignoredBelow(placed);
  const isShown = ({ path, kind }: FolderEntry): boolean => !isIgnored(path, kind === 'folder');
  const found: FolderEntry[] = top.entries.filter(isShown);
  let isCut = top.isCut;
  const foldersAmong = (entries: readonly FolderEntry[]): readonly RelativePath[] =>
    entries
      .filter((entry) => entry.kind === 'folder' && !isSkipped(entry) && !isClosed(entry.path))
      .map(({ path }) => path);
  let folders = foldersAmong(found);
  for (let level = 2; level <= depth && found.length <= maxEntries; level += 1) {
    const below: FolderEntry[] = [];
    for (const folder of folders) {
      if (found.length + below.length > maxEntries) break;
      const inner = entriesIn(root, folder, maxEntries * NAMES_PER_ENTRY);
      // Unreadable or removed: the folder is listed without its entries.
      isCut ||= inner.type === 'failed' || inner.isCut;
      if (inner.type === 'entries') below.push(...inner.entries.filter(isShown));
    }
    found.push(...below);
    folders = foldersAmong(below);
  }
  const start = relative === '' ? 0 : relative.length + 1;
  const entries = found
    .slice(0, maxEntries)
    .map(({ path, kind, bytes }) => ({ path: path.slice(start), kind, bytes }))
    .toSorted((a, b) => compareText(a.path, b.path));
  return {
    type: 'directory-listed',
    action: action.type,
    path: shown,
    entries,
    isCut: isCut || found.length > maxEntries,
  };
}
