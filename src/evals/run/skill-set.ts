/** Copies the skills of an arm into one folder, so that they cannot change during the suite and no other skill is found. */
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import { compareText } from '../../core/diagnostic.ts';
import { copyTree } from '../../platform/fs/copy-tree.ts';
import { sha256 } from '../../platform/hash.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';

export interface SetSkill {
  readonly name: string;
  readonly digest: string;
}

export interface SkillSet {
  /** The only skill root of its runtimes. */
  readonly folder: string;
  /** Sorted by folder name. */
  readonly skills: readonly SetSkill[];
  /** Covers all skills of the set. */
  readonly digest: string;
}

/** Not copied: the model must not read the expectations, and a new case must not change the digest of the skill. */
const CASE_FOLDERS = ['evals', 'eval'] as const;

/** Copies each skill folder below `to` under its own name. Two folders with one name are an error. */
export async function makeSkillSet(folders: readonly string[], to: string, signal?: AbortSignal): Promise<SkillSet> {
  makeFolders(to);
  const skills: SetSkill[] = [];
  for (const folder of [...new Set(folders.map((one) => path.resolve(one)))].toSorted(compareText)) {
    const name = path.basename(folder);
    if (skills.some((skill) => skill.name === name))
      throw unusable(folder, `two skill folders have the name ${JSON.stringify(name)}`);
    const copied = await copyTree(folder, {
      to: path.join(to, name),
      permissions: 'read-only',
      leaveOut: CASE_FOLDERS,
      ...(signal === undefined ? {} : { signal }),
    });
    if (copied.type === 'refused') throw unusable(folder, `cannot copy the skill: ${copied.message}`);
    skills.push({ name, digest: copied.digest });
  }
  skills.sort((a, b) => compareText(a.name, b.name));
  return { folder: to, skills, digest: sha256(skills.map(({ name, digest }) => `${name} ${digest}\n`).join('')) };
}

function unusable(folder: string, message: string): SkillError {
  return new SkillError({
    code: 'skill/invalid',
    message,
    hint: 'pass folders that contain a SKILL.md and have different names',
    data: { path: folder },
  });
}
