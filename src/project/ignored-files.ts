import { parentFolder, openIgnores, toRelativePath, type RelativePath, isProblem } from '#core';
import { readResolved } from './read-file.ts';
import type { ResolvedPath } from './resolve-path.ts';

const MAX_BYTES = 256 * 1024;

/** Whether git ignores a path, relative to the root: by a rule for it, or for a folder around it. */
export type IsIgnored = (path: RelativePath, isFolder: boolean) => boolean;

/** Reads each `.gitignore` of a project once, when a path below its folder is asked about. */
export function openIgnoredFiles({ root, place }: Pick<ResolvedPath, 'root' | 'place'>): IsIgnored {
  if (place !== 'project') return () => false;
  const findRule = openIgnores({ names: ['.gitignore'], read: (file) => readIgnore(root, file) });
  const folders = new Map<string, boolean>();
  const isIgnoredFolder = (folder: string): boolean => {
    if (folder === '') return false;
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const isIgnored = isIgnoredFolder(parentFolder(folder)) || findRule(folder, true) !== undefined;
    folders.set(folder, isIgnored);
    return isIgnored;
  };
  return (path, isFolder) => {
    if (isFolder) return isIgnoredFolder(path);
    return isIgnoredFolder(parentFolder(path)) || findRule(path, false) !== undefined;
  };
}

/** What a listing or search of a folder leaves out. Inside a folder that is itself ignored, everything is shown: it was named. */
export function ignoredBelow(placed: ResolvedPath): IsIgnored {
  const { relative, place } = placed;
  // At the top of a workspace these are bookkeeping of the sandbox: programs write into folders below.
  if (place === 'workspace') return (path) => path.startsWith('.');
  const isIgnored = openIgnoredFiles(placed);
  return relative !== '' && isIgnored(relative, true) ? () => false : isIgnored;
}

function readIgnore(root: string, file: string): string | undefined {
  const reading = toRelativePath(file);
  if (isProblem(reading)) return undefined;
  const read = readResolved({ root, relative: reading, place: 'project' }, MAX_BYTES);
  return read.type === 'read' ? read.bytes.toString('utf8') : undefined;
}
