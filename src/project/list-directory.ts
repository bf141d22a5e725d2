import type { ListDirectory } from '../core/action.ts';
import { compareText } from '../core/diagnostic.ts';
import { actionFailed } from '../core/observation.ts';
import type { ActionFailed, DirectoryListed } from '../core/observation.ts';
import type { RelativePath } from '../core/path.ts';
import { quoted } from '../core/text/text.ts';
import { entriesIn, isPassedOver } from './folder-entries.ts';
import type { FolderEntry } from './folder-entries.ts';
import { fileFailed, hostFailure } from './host-failure.ts';
import type { PlacedPath } from './places.ts';

export interface ListDirectoryLimits {
  /** 1,000. */
  readonly maxEntries?: number;
  /** Folders in folders that can be asked for; 5. */
  readonly maxDepth?: number;
}

/** Names looked at in one folder for each entry that may be listed: they are sorted before some are left out. */
const NAMES_PER_ENTRY = 10;

/** What lies in a folder, and in the folders in it as deep as was asked. Where there is too much, what lies deepest is left out. */
export function listDirectory(
  action: ListDirectory,
  placed: PlacedPath,
  { maxEntries = 1000, maxDepth = 5 }: ListDirectoryLimits = {},
): DirectoryListed | ActionFailed {
  const { depth = 1 } = action;
  if (!Number.isInteger(depth) || depth < 1 || depth > maxDepth) {
    const message = `${String(depth)} is no depth between 1 and ${String(maxDepth)}`;
    return actionFailed(action.type, hostFailure('input/invalid', message));
  }
  const { root, relative, shown } = placed;
  const top = entriesIn(root, relative, maxEntries * NAMES_PER_ENTRY);
  if (top.type === 'failed') {
    if (top.code !== 'file/exists') return fileFailed(action.type, shown, top);
    const message = `${quoted(shown, 200)} is a file and not a folder`;
    return actionFailed(action.type, hostFailure('file/missing', message, 'read it, or name a folder'));
  }
  const found: FolderEntry[] = [...top.entries];
  let isCut = top.isCut;
  let folders = foldersAmong(top.entries);
  for (let level = 2; level <= depth && found.length <= maxEntries; level += 1) {
    const below: FolderEntry[] = [];
    for (const folder of folders) {
      if (found.length + below.length > maxEntries) break;
      const inner = entriesIn(root, folder, maxEntries * NAMES_PER_ENTRY);
      // Not to be read, or gone again: it is listed itself, and what is in it is not.
      isCut ||= inner.type === 'failed' || inner.isCut;
      if (inner.type === 'entries') below.push(...inner.entries);
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

function foldersAmong(entries: readonly FolderEntry[]): readonly RelativePath[] {
  return entries.filter((entry) => entry.kind === 'folder' && !isPassedOver(entry)).map(({ path }) => path);
}
