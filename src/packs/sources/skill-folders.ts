/** Which folders of a source are skills, by the names of its files alone. */
import { foldersOf } from '../../core/path.ts';
import { whyLeftOut } from './left-out.ts';

export const SKILL_FILE_NAME = 'SKILL.md';
/** Folders above a skill, at most. */
export const MAX_SKILL_DEPTH = 6;

export interface SkillFolders {
  /** Sorted; the empty text where the source itself is a skill. */
  readonly folders: readonly string[];
  /** A skill's files that lie inside another skill, which has them as plain files. */
  readonly nested: readonly string[];
}

/** Whether skills are looked for in a folder of that name: not in what tools keep, nor in what package managers staged. */
export function isLookedInto(name: string): boolean {
  return whyLeftOut(name, 'folder') === undefined && name !== 'node_modules';
}

/** Finds `SKILL.md`, in exactly this spelling. `paths` are files below the source, `/` between their parts. */
export function findSkillFolders(paths: readonly string[]): SkillFolders {
  const found = paths
    .filter((path) => path === SKILL_FILE_NAME || path.endsWith(`/${SKILL_FILE_NAME}`))
    .map((path) => path.slice(0, -SKILL_FILE_NAME.length).replace(/\/$/, ''))
    .filter((folder) => isReachable(folder))
    .toSorted((a, b) => (a < b ? -1 : 1));
  const folders = new Set<string>();
  const nested: string[] = [];
  for (const folder of found) {
    if (['', ...foldersOf(folder)].some((parent) => parent !== folder && folders.has(parent))) nested.push(folder);
    else folders.add(folder);
  }
  return { folders: [...folders], nested };
}

function isReachable(folder: string): boolean {
  const parts = folder === '' ? [] : folder.split('/');
  return parts.length <= MAX_SKILL_DEPTH && parts.every(isLookedInto);
}
