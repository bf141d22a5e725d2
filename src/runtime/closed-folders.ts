/** Folders of the project that file tools do not show to a model: skills that are not loaded, and the records of runs. */
import path from 'node:path';

import { failure, isForModel, quoted, type ActionProblem, type SkillEntry } from '#core';
import { isInside, realPath } from '#platform';
import type { SkillIndex } from '#skills';

export interface ClosedFolders {
  /** Why a model must not read this real path with file tools; undefined if it may. `active` are the loaded skills. */
  refusal(
    place: { readonly absolute: string; readonly shown: string },
    active: readonly SkillEntry[],
  ): ActionProblem | undefined;
}

export interface ClosedFoldersOptions {
  readonly index: SkillIndex;
  readonly project: string;
  /** Folders of records, wherever the configuration puts them. */
  readonly records: readonly string[];
  /** Skill roots of sources that the session does not use. */
  readonly otherRoots?: readonly string[];
}

/**
 * A skill is read by loading it: instructions, rules and trust then apply. If the project is itself a folder of a skill, its author works
 * on it, and its files are ordinary files.
 */
export function openClosedFolders({ index, project, records, otherRoots = [] }: ClosedFoldersOptions): ClosedFolders {
  let known: Folders | undefined;
  const folders = (): Folders => {
    if (known !== undefined) return known;
    const real = realPath(project);
    const skills = new Map<string, SkillEntry[]>();
    for (const skill of index.all) {
      const dir = realPath(skill.dir);
      if (isInside(real, dir)) continue;
      const same = skills.get(dir);
      if (same === undefined) skills.set(dir, [skill]);
      else same.push(skill);
    }
    known = { skills, records: records.map(realPath), otherRoots: otherRoots.map(realPath) };
    return known;
  };
  return {
    refusal({ absolute, shown }, active) {
      const closed = folders();
      if (closed.records.some((folder) => isInside(absolute, folder)))
        return failure(
          'policy/denied',
          `${quoted(shown, 200)} is part of the records of runs, which models cannot read`,
        );
      if (closed.otherRoots.some((folder) => isInside(absolute, folder)))
        return failure('policy/denied', `${quoted(shown, 200)} belongs to a source of skills that is not used here`);
      const owners = findOwners(absolute, closed.skills);
      const [owner] = owners;
      if (owner === undefined || owners.some((skill) => active.some(({ id }) => id === skill.id))) return undefined;
      const file = `${quoted(shown, 200)} belongs to the skill ${quoted(owner.name)}`;
      if (isForModel(owner.state))
        return failure('skill/not-loaded', `${file}, which is not loaded`, {
          hint: 'load the skill, then read its files',
        });
      return failure('skill/not-offered', `${file}, which is hidden from the model`, {
        hint: 'the user can trust the skill, or call it by its name',
      });
    },
  };
}

interface Folders {
  /** By real path of the skill. */
  readonly skills: ReadonlyMap<string, readonly SkillEntry[]>;
  readonly records: readonly string[];
  readonly otherRoots: readonly string[];
}

/** The skills of the innermost folder around a path. */
function findOwners(absolute: string, skills: ReadonlyMap<string, readonly SkillEntry[]>): readonly SkillEntry[] {
  for (let folder = absolute; ; folder = path.dirname(folder)) {
    const found = skills.get(folder);
    if (found !== undefined) return found;
    if (path.dirname(folder) === folder) return [];
  }
}
