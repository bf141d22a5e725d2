/** Finds the file that `exec SKILL SCRIPT` names: any file of the skill, by its path or by its name alone. */
import path from 'node:path';

import { invalidInput, nearest, printable, quoted, type Action, type OfType, type SkillEntry } from '#core';
import { isInside, realPath, tryRealPath } from '#platform';
import { listSkillFiles } from '#skills';

/**
 * A path below `scripts/` may omit that folder, and takes precedence; then a path in the skill folder; then a name that only one file has.
 * Paths that leave the skill are passed on, for the runtime to refuse. Throws `input/invalid` with the candidates.
 */
export function locateScript(
  { name, dir }: SkillEntry,
  typed: string,
): Pick<OfType<Action, 'run_script'>, 'script' | 'anywhere'> {
  const bare = typed.replace(/^(?:\.\/+)+/, '');
  if (bare.startsWith('/') || bare.split('/').includes('..')) return { script: typed };
  const { files, isCut } = listSkillFiles(dir);
  const paths = files.map((file) => file.path);
  const isThere = new Set(paths);
  const inScripts = bare.startsWith('scripts/') ? bare : `scripts/${bare}`;
  const inSkill = bare === typed ? [inScripts, bare] : [bare, inScripts];
  const exact = inSkill.find((at) => isThere.has(at));
  const named = exact === undefined ? paths.filter((at) => at.endsWith(`/${bare}`)) : [exact];
  const [only, ...more] = named;
  const outside = inSkill.find((at) => !isInside(tryRealPath(path.join(dir, at)) ?? realPath(dir), realPath(dir)));
  if (only === undefined && outside !== undefined)
    throw invalidInput(
      `${quoted(outside, 200)} of the skill ${quoted(name)} is a link that leads out of the skill`,
      'a file of the skill',
      'put the file itself into the skill',
    );
  if (only === undefined && isCut) return { script: bare, anywhere: true };
  if (only === undefined) {
    const toBaseName = (at: string): string => at.slice(at.lastIndexOf('/') + 1);
    const near = new Set(nearest(bare, [...new Set(paths.flatMap((at) => [at, toBaseName(at)]))], 5));
    const similar = paths.filter((at) => near.has(at) || near.has(toBaseName(at)));
    const known = similar.length > 0 ? similar : paths.filter((at) => at !== 'SKILL.md').slice(0, 5);
    throw invalidInput(
      `the skill ${quoted(name)} has no file ${quoted(typed, 200)}`,
      'a file of the skill',
      known.length === 0 ? 'the skill has no other file than SKILL.md' : `did you mean ${listed(known)}?`,
    );
  }
  if (more.length > 0)
    throw invalidInput(
      `the skill ${quoted(name)} has ${String(named.length)} files named ${quoted(typed, 200)}`,
      'the path of one file',
      `name one by its path: ${listed(named)}`,
    );
  return only.startsWith('scripts/') ? { script: only } : { script: only, anywhere: true };
}

const SHOWN = 10;

function listed(paths: readonly string[]): string {
  const more = paths.length - SHOWN;
  const shown = paths.slice(0, SHOWN).map((at) => printable(at));
  return `${shown.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}
