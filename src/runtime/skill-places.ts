/** The names by which rules know files of skills: `skill://name/path`, `name/path`, and their place in the project. */
import path from 'node:path';

import { isProblem, toRelativePath, type Action, type SkillEntry } from '#core';
import { isInside, realPath, withForwardSlashes } from '#platform';
import type { FileSubject } from '#policy';
import { listDocuments } from './skill-actions.ts';

type NamedSkill = Pick<SkillEntry, 'name' | 'dir'>;

/** Names a file or folder of a skill. What links lead to has names too. */
function placeInSkill(skill: NamedSkill, asked: string, project: string | undefined): FileSubject {
  const read = toRelativePath(asked);
  const relative = isProblem(read) ? '' : read;
  const dir = realPath(skill.dir);
  const absolute = realPath(path.join(dir, relative));
  const linked = isInside(absolute, dir) ? path.relative(dir, absolute) : relative;
  const also = [...new Set([relative, linked])].flatMap((file) => listNames(skill, dir, file, project));
  return { shown: `skill://${skill.name}/${relative}`, absolute, also };
}

function listNames({ name }: NamedSkill, dir: string, relative: string, project: string | undefined) {
  const file = withForwardSlashes(relative);
  const root = project === undefined ? undefined : realPath(project);
  const absolute = path.join(dir, relative);
  return [
    `skill://${name}/${file}`,
    file === '' ? name : `${name}/${file}`,
    ...(root !== undefined && isInside(absolute, root) ? [withForwardSlashes(path.relative(root, absolute))] : []),
  ];
}

/** The files of a skill that an action reads, or the folder that it lists. */
export function listResourcePlaces(
  action: Action,
  skill: SkillEntry,
  project: string | undefined,
): readonly FileSubject[] | undefined {
  const paths = listPaths(action, skill);
  return paths?.map((asked) => placeInSkill(skill, asked, project));
}

function listPaths(action: Action, skill: SkillEntry): readonly string[] | undefined {
  switch (action.type) {
    case 'read_resource':
      return [action.path];
    case 'list_resources':
      return [action.folder ?? ''];
    case 'load_skill':
    case 'select_documents':
      return action.documents === '*' ? listDocuments(skill) : action.documents;
    default:
      return undefined;
  }
}

/**
 * Says for a real path whether it is a file of a loaded skill, and its names then. If the project is itself a folder of the skill, its
 * author works on it, and its files are ordinary files.
 */
export function openSkillPlaces(
  active: readonly NamedSkill[],
  project: string | undefined,
): (file: { readonly absolute: string; readonly isInProject: boolean }) => Pick<FileSubject, 'also' | 'isOfSkill'> {
  const root = project === undefined ? undefined : realPath(project);
  const skills = active.map((skill) => ({ skill, dir: realPath(skill.dir) }));
  return ({ absolute, isInProject }) => {
    const own = skills.find(
      ({ dir }) => isInside(absolute, dir) && !(isInProject && root !== undefined && isInside(root, dir)),
    );
    if (own === undefined) return {};
    return { isOfSkill: true, also: listNames(own.skill, own.dir, path.relative(own.dir, absolute), project) };
  };
}
