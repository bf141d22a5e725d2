/** Finds the skill folders in a list of paths. */
import { foldersOf } from '../../core/path.ts';
import { whyNotSearched } from './left-out.ts';

export const SKILL_FILE_NAME = 'SKILL.md';
/** Maximum number of folders above a skill. */
export const MAX_SKILL_DEPTH = 6;

export interface SkillFolders {
  /** Sorted. An empty string means that the source itself is a skill. */
  readonly folders: readonly string[];
  /** Skills inside another skill. They are plain files of the outer one. */
  readonly nested: readonly string[];
}

/** Finds `SKILL.md` in exactly this spelling. `paths` are relative to the source, with `/` as separator. */
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
  return parts.length <= MAX_SKILL_DEPTH && parts.every((part) => whyNotSearched(part) === undefined);
}

/** The skill folder that contains a file; undefined if none does. */
export function skillFolderOf(file: string, folders: ReadonlySet<string>): string | undefined {
  for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1))
    if (folders.has(file.slice(0, end))) return file.slice(0, end);
  return folders.has('') ? '' : undefined;
}

/** The path of a file relative to the skill folder that contains it. */
export function insideSkill(file: string, folder: string): string {
  return folder === '' ? file : file.slice(folder.length + 1);
}
