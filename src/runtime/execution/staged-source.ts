import path from 'node:path';

import { isValidName, toSlug, type SkillEntry } from '#core';
import { sha256 } from '#platform';

const DIGITS = 8;

/**
 * A skill as the workspace stages it. A declared name that cannot be a folder, such as `My Skill`, gives way to the name of its folder with
 * digits that no other skill has, so that two skills never share a folder.
 */
export function stagedSource({ name, dir }: Pick<SkillEntry, 'name' | 'dir'>): {
  readonly name: string;
  readonly dir: string;
} {
  if (isValidName(name)) return { name, dir };
  const slug = toSlug(path.basename(dir), DIGITS + 1) ?? toSlug(name, DIGITS + 1) ?? 'skill';
  return { name: `${slug}-${sha256(JSON.stringify([name, dir])).slice(0, DIGITS)}`, dir };
}
