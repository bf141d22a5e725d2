/** The skills of an arm, copied once to a folder of their own: what is evaluated cannot change meanwhile, and nothing else is found. */
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
  /** The one root of its runtimes. */
  readonly folder: string;
  /** By name of the folder, sorted. */
  readonly skills: readonly SetSkill[];
  /** Of all of them together. */
  readonly digest: string;
}

/** Folders of a skill with its cases: who can read what is expected is not evaluated, and a new case is no new skill. */
const CASE_FOLDERS = ['evals', 'eval'] as const;

/** Copies skill folders below `to`, each under its own name. Two of one name are an error: which one counted would be chance. */
export async function makeSkillSet(folders: readonly string[], to: string, signal?: AbortSignal): Promise<SkillSet> {
  makeFolders(to);
  const skills: SetSkill[] = [];
  for (const folder of [...new Set(folders.map((one) => path.resolve(one)))].toSorted(compareText)) {
    const name = path.basename(folder);
    if (skills.some((skill) => skill.name === name))
      throw unusable(folder, `there are two skills in folders named ${JSON.stringify(name)}`);
    const copied = await copyTree(folder, {
      to: path.join(to, name),
      permissions: 'read-only',
      leaveOut: CASE_FOLDERS,
      ...(signal === undefined ? {} : { signal }),
    });
    if (copied.type === 'refused') throw unusable(folder, `the skill cannot be copied: ${copied.message}`);
    skills.push({ name, digest: copied.digest });
  }
  skills.sort((a, b) => compareText(a.name, b.name));
  return { folder: to, skills, digest: sha256(skills.map(({ name, digest }) => `${name} ${digest}\n`).join('')) };
}

function unusable(folder: string, message: string): SkillError {
  return new SkillError({
    code: 'skill/invalid',
    message,
    hint: 'give folders with a SKILL.md, each with a name of its own',
    data: { path: folder },
  });
}
