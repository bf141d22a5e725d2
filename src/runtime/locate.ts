import path from 'node:path';

import { folderPattern, isProblem, toRelativePath, type Offer } from '#core';
import { isInside, isPresent, realPath } from '#platform';
import { resolveSkill, type SkillIndex } from '#skills';

type LocatedPath = NonNullable<ReturnType<Offer['locate']>>;

const SCHEME = 'skill://';
/** The longest possible path; bounds the number of lookups. */
const MAX_LENGTH = 4096;

/**
 * Resolves a path to a file of a skill: absolute below a skill folder, `name/path` or `skill://name/path`. The file system is not accessed.
 * A folder whose skill another one with the same id hides resolves to nothing, because the id would lead to that one.
 */
export function locateInSkills(index: SkillIndex, file: string): LocatedPath | undefined {
  if (file.length > MAX_LENGTH) return undefined;
  const text = file.trim();
  if (text.startsWith(SCHEME)) return locateByName(index, text.slice(SCHEME.length));
  const absolute = text.replaceAll('\\', '/');
  // Skills can be nested; the innermost folder wins.
  let best: SkillIndex['all'][number] | undefined;
  for (const entry of index.all) {
    const { dir } = entry;
    if (dir.length <= (best?.dir.length ?? 0) || !absolute.startsWith(dir)) continue;
    const rest = absolute.slice(dir.length);
    if (rest === '' || rest.startsWith('/')) best = entry;
  }
  if (best === undefined) return locateByName(index, text);
  return isFound(index, best) ? { skill: best.id, path: absolute.slice(best.dir.length + 1) } : undefined;
}

/** The skill whose folder a command names first; of nested skills, the innermost. */
export function locateInCommand(index: SkillIndex, command: string): string | undefined {
  const named = index.all.flatMap((entry) => {
    const at = command.search(folderPattern(entry.dir, command) ?? NOTHING);
    return at === -1 ? [] : [{ entry, at }];
  });
  const [first] = named.toSorted((one, other) => one.at - other.at || other.entry.dir.length - one.entry.dir.length);
  return first !== undefined && isFound(index, first.entry) ? first.entry.id : undefined;
}

const NOTHING = /(?!)/;

/** Whether the id of a skill leads to its folder, not to another with the same id. */
function isFound(index: SkillIndex, { id, dir }: SkillIndex['all'][number]): boolean {
  return (
    resolveSkill(index, id)?.dir === dir ||
    index.shadowed.some((other) => other.dir === dir && other.reason === 'same-directory')
  );
}

/** Tries every prefix, longest first, because names may be qualified (`source/name`). */
function locateByName(index: SkillIndex, file: string): LocatedPath | undefined {
  for (let cut = file.length; cut > 0; cut = file.lastIndexOf('/', cut - 1)) {
    const skill = resolveSkill(index, file.slice(0, cut));
    if (skill !== undefined) return { skill: skill.id, path: file.slice(cut + 1) };
  }
  return undefined;
}

/** Whether a relative path is in the project, and not in the skill that its start names: both may be the same folder. */
export function isProjectFile(index: SkillIndex, project: string, file: string): boolean {
  const relative = toRelativePath(file);
  if (isProblem(relative)) return false;
  const absolute = path.join(project, relative);
  if (!isPresent(absolute)) return false;
  const named = locateInSkills(index, file)?.skill;
  const dir = named === undefined ? undefined : resolveSkill(index, named)?.dir;
  return dir === undefined || !isInside(realPath(absolute), realPath(dir));
}
