/** Folders of skills, as people name them: one skill, or a folder with skills in it. */
import path from 'node:path';

import { isPresent } from '../../platform/fs/paths.ts';
import { foldersIn, skillNameAt, suiteOf } from '../cases/suite.ts';

/** Groups of skills in a folder of skills, and no deeper. */
const MAX_DEPTH = 2;

/** The folders with a SKILL.md: the folder itself, or those in it. */
export function skillFoldersIn(folder: string, depth = MAX_DEPTH): readonly string[] {
  if (isPresent(path.join(folder, 'SKILL.md'))) return [folder];
  if (depth === 0) return [];
  return foldersIn(folder).flatMap((name) => skillFoldersIn(path.join(folder, name), depth - 1));
}

/** The skills that a path of the command line brings with it: of a case file the one around it. */
export function skillFoldersAt(place: string): readonly string[] {
  const around = suiteOf(path.join(place, 'cases.yaml'), place).skill ?? suiteOf(place, path.dirname(place)).skill;
  return around === undefined ? skillFoldersIn(place) : [around.dir];
}

/** Whether a folder holds the skill of this name. */
export function isSkillNamed(folder: string, name: string): boolean {
  return (skillNameAt(folder) ?? path.basename(folder)) === name;
}
