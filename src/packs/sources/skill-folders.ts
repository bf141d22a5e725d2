/** Finds the skill folders in a list of paths. */
import { listParentFolders, quoted, ARCHIVE_LIMITS } from '#core';
import { whyNotSearched, type LeftOut } from './left-out.ts';

export const SKILL_FILE_NAME = 'SKILL.md';
/** Maximum number of folders above a skill, as in archives. */
const MAX_SKILL_DEPTH = ARCHIVE_LIMITS.maxDepth;

export interface SkillFolders {
  /** Sorted. An empty string means that the source itself is a skill. */
  readonly folders: readonly string[];
  /** Each SKILL.md that does not become a skill, with the reason. */
  readonly leftOut: readonly LeftOut[];
}

/** Finds `SKILL.md` in exactly this spelling. `paths` are relative to the source, with `/` as separator. */
export function findSkillFolders(paths: readonly string[]): SkillFolders {
  const found = paths
    .filter((path) => path === SKILL_FILE_NAME || path.endsWith(`/${SKILL_FILE_NAME}`))
    .map((path) => path.slice(0, -SKILL_FILE_NAME.length).replace(/\/$/, ''))
    .toSorted((a, b) => (a < b ? -1 : 1));
  const folders = new Set<string>();
  const leftOut: LeftOut[] = [];
  for (const folder of found) {
    const outer = ['', ...listParentFolders(folder)].find((parent) => parent !== folder && folders.has(parent));
    const omission = outer === undefined ? whyUnreachable(folder) : nestedSkill(folder, outer);
    if (omission === undefined) folders.add(folder);
    else leftOut.push(omission);
  }
  return { folders: [...folders], leftOut };
}

/** The SKILL.md of a folder that is not searched, or that is too deep; undefined if it is a skill. */
export function whyUnreachable(folder: string): LeftOut | undefined {
  const parts = folder === '' ? [] : folder.split('/');
  const reason =
    parts.length > MAX_SKILL_DEPTH
      ? `more than ${String(MAX_SKILL_DEPTH)} folders deep`
      : parts.map(whyNotSearched).find((why) => why !== undefined);
  return reason === undefined ? undefined : { path: `${folder}/${SKILL_FILE_NAME}`, type: 'file', reason };
}

/** A SKILL.md inside another skill is a plain file of the outer one. */
export function nestedSkill(folder: string, outer: string): LeftOut {
  const where = outer === '' ? 'the skill' : quoted(outer, 100);
  return { path: `${folder}/${SKILL_FILE_NAME}`, type: 'file', reason: `inside ${where}, a file of that skill` };
}

/** The skill folder that contains a file; undefined if none does. */
export function findSkillFolder(file: string, folders: ReadonlySet<string>): string | undefined {
  for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1))
    if (folders.has(file.slice(0, end))) return file.slice(0, end);
  return folders.has('') ? '' : undefined;
}

/** The path of a file relative to the skill folder that contains it. */
export function insideSkill(file: string, folder: string): string {
  return folder === '' ? file : file.slice(folder.length + 1);
}
