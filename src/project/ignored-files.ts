import { parentFolder, ignoredBy, parseIgnore, toRelativePath, type RelativePath } from '#core';
import { readResolved } from './read-file.ts';
import type { ResolvedPath } from './resolve-path.ts';

type IgnoreRule = ReturnType<typeof parseIgnore>[number];

const MAX_BYTES = 256 * 1024;

/** Whether git ignores a path, relative to the root: by a rule for it, or for a folder around it. */
export type IsIgnored = (path: RelativePath, isFolder: boolean) => boolean;

/** Reads each `.gitignore` of a project once, when a path below its folder is asked about. */
export function openIgnoredFiles({ root, place }: Pick<ResolvedPath, 'root' | 'place'>): IsIgnored {
  if (place !== 'project') return () => false;
  const rules = new Map<string, readonly IgnoreRule[]>();
  const folders = new Map<string, boolean>();
  const rulesIn = (folder: string): readonly IgnoreRule[] => {
    const known = rules.get(folder);
    if (known !== undefined) return known;
    const above = folder === '' ? [] : rulesIn(parentFolder(folder));
    const all = [...above, ...ownRules(root, folder)];
    rules.set(folder, all);
    return all;
  };
  const isIgnoredFolder = (folder: string): boolean => {
    if (folder === '') return false;
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const parent = parentFolder(folder);
    const isIgnored = isIgnoredFolder(parent) || ignoredBy(rulesIn(parent), folder, true) !== undefined;
    folders.set(folder, isIgnored);
    return isIgnored;
  };
  return (path, isFolder) => {
    if (isFolder) return isIgnoredFolder(path);
    const parent = parentFolder(path);
    return isIgnoredFolder(parent) || ignoredBy(rulesIn(parent), path, false) !== undefined;
  };
}

/** What a listing or search of a folder leaves out. Inside a folder that is itself ignored, everything is shown: it was named. */
export function ignoredBelow(placed: ResolvedPath): IsIgnored {
  const isIgnored = openIgnoredFiles(placed);
  const { relative } = placed;
  return relative !== '' && isIgnored(relative, true) ? () => false : isIgnored;
}

function ownRules(root: string, folder: string): readonly IgnoreRule[] {
  const file = folder === '' ? '.gitignore' : `${folder}/.gitignore`;
  const reading = toRelativePath(file);
  if (reading.type === 'refused') return [];
  const read = readResolved({ root, relative: reading.path, place: 'project' }, MAX_BYTES);
  return read.type === 'read' ? parseIgnore(read.bytes.toString('utf8'), { folder, file }) : [];
}
