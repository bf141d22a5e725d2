import { resolveSkill, type SkillIndex } from '#skills';
import { folderPattern, type Offer } from '#core';

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
function locateByName(index: SkillIndex, path: string): LocatedPath | undefined {
  for (let cut = path.length; cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
    const skill = resolveSkill(index, path.slice(0, cut));
    if (skill !== undefined) return { skill: skill.id, path: path.slice(cut + 1) };
  }
  return undefined;
}
