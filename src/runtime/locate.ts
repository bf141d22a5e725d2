import { resolveSkill } from '../registry/resolve-skill.ts';
import type { SkillIndex } from '../registry/index-skills.ts';
import type { LocatedPath } from '../core/tool.ts';

const SCHEME = 'skill://';
/** No path of a file is longer; what is would be looked up at each of its slashes. */
const MAX_LENGTH = 4096;

/**
 * Which file of which skill a path means: an absolute one below a skill's folder, `name/path` or `skill://name/path`. Names only:
 * what is really there is judged where it is opened.
 */
export function locateInSkills(index: SkillIndex, path: string): LocatedPath | undefined {
  if (path.length > MAX_LENGTH) return undefined;
  const given = path.trim();
  if (given.startsWith(SCHEME)) return locateByName(index, given.slice(SCHEME.length));
  const absolute = given.replaceAll('\\', '/');
  // The innermost folder: a skill may lie inside another.
  let best: LocatedPath | undefined;
  let length = 0;
  for (const { id, dir } of index.all) {
    if (dir.length <= length || !absolute.startsWith(dir)) continue;
    const rest = absolute.slice(dir.length);
    if (rest !== '' && !rest.startsWith('/')) continue;
    best = { skill: id, path: rest.slice(1) };
    length = dir.length;
  }
  return best ?? locateByName(index, given);
}

/** Every cut is tried, the longest name first: names may be qualified (`source/name`). */
function locateByName(index: SkillIndex, path: string): LocatedPath | undefined {
  for (let cut = path.length; cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
    const skill = resolveSkill(index, path.slice(0, cut));
    if (skill !== undefined) return { skill: skill.id, path: path.slice(cut + 1) };
  }
  return undefined;
}
