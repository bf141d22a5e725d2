import { failure, nearest, quoted, toRelativePath } from '#core';
import { withForwardSlashes } from '#platform';
import { listFiles } from './files.ts';
import { failed, fileFailure, inSkill, type Failed, type SkillLocation } from './skill-directory.ts';

export type FoundScript =
  /** `path` is absolute. */
  { readonly type: 'found'; readonly path: string; readonly isExecutable: boolean } | Failed;

const FOLDER = 'scripts/';

/** Resolves a script of a skill, with or without the prefix `scripts/`. It gets the checks of a resource, but is not read. */
export function findScript(skill: SkillLocation, script: string): FoundScript {
  const asked = toRelativePath(script);
  if (asked.type === 'refused') return failed(asked.failure);
  const full = asked.path.startsWith(FOLDER) ? asked : toRelativePath(`${FOLDER}${asked.path}`);
  if (full.type === 'refused') return failed(full.failure);
  return inSkill(skill, (directory) => {
    const found = directory.resolve(full.path);
    if (found.type === 'found') {
      const path = withForwardSlashes(`${skill.dir}/${full.path}`);
      return { type: 'found', path, isExecutable: found.isExecutable };
    }
    if (found.code !== 'file/missing') return fileFailure(skill, full.path, found);
    const scripts = listFiles(directory)
      .files.filter(({ kind }) => kind === 'script')
      .map(({ path }) => path);
    const message = `the skill ${quoted(skill.name)} has no script ${quoted(script, 200)}`;
    return failed(failure('script/unknown', message, { nearest: nearest(full.path, scripts) }));
  });
}
