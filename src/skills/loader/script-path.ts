import { failure, nearest, quoted, scriptPath, toRelativePath, isProblem } from '#core';
import { withForwardSlashes } from '#platform';
import { listFiles } from './files.ts';
import { failed, fileFailure, inSkill, type Failed, type SkillLocation } from './skill-directory.ts';

export type FoundScript =
  /** `path` is absolute. */
  { readonly type: 'found'; readonly path: string; readonly isExecutable: boolean } | Failed;

/**
 * Resolves a script of a skill, with or without the prefix `scripts/`; with `anywhere`, any file by its path. It gets the checks of a
 * resource, but is not read.
 */
export function findScript(skill: SkillLocation, script: string, anywhere?: true): FoundScript {
  const full = toRelativePath(scriptPath({ script, anywhere }));
  if (isProblem(full)) return failed(full);
  return inSkill(skill, (directory) => {
    const found = directory.resolve(full);
    if (found.type === 'found') {
      const path = withForwardSlashes(`${skill.dir}/${full}`);
      return { type: 'found', path, isExecutable: found.isExecutable };
    }
    if (found.code !== 'file/missing') return fileFailure(skill, full, found);
    const scripts = listFiles(directory)
      .files.filter(({ kind }) => anywhere === true || kind === 'script')
      .map(({ path }) => path);
    const message = `the skill ${quoted(skill.name)} has no script ${quoted(script, 200)}`;
    const near = nearest(full, scripts, 5);
    return failed(failure('script/unknown', message, { nearest: near.length > 0 ? near : scripts.slice(0, 5) }));
  });
}
