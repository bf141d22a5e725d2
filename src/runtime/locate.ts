import { resolveSkill, type SkillIndex } from '#skills';
import type { Offer } from '#core';

type LocatedPath = NonNullable<ReturnType<Offer['locate']>>;

const SCHEME = 'skill://';
/** The longest possible path; bounds the number of lookups. */
const MAX_LENGTH = 4096;

/**
 * Resolves a path to a file of a skill: absolute below a skill folder, `name/path` or `skill://name/path`. The file system is not accessed.
 * A folder whose skill another one with the same id hides resolves to nothing, because the id would lead to that one.
 */
export function locateInSkills(index: SkillIndex, path: string): LocatedPath | undefined {
  if (path.length > MAX_LENGTH) return undefined;
  const text = path.trim();
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
  const { id, dir } = best;
  const isFound =
    resolveSkill(index, id)?.dir === dir ||
    index.shadowed.some((other) => other.dir === dir && other.reason === 'same-directory');
  return isFound ? { skill: id, path: absolute.slice(dir.length + 1) } : undefined;
}

/** Tries every prefix, longest first, because names may be qualified (`source/name`). */
function locateByName(index: SkillIndex, path: string): LocatedPath | undefined {
  for (let cut = path.length; cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
    const skill = resolveSkill(index, path.slice(0, cut));
    if (skill !== undefined) return { skill: skill.id, path: path.slice(cut + 1) };
  }
  return undefined;
}
