/** Copies the skills of an arm into one folder, so that they cannot change during the suite and no other skill is found. */
import path from 'node:path';

import { compareText, SkillError } from '#core';
import { findOwnCaseFiles } from '../cases/own-case-files.ts';
import { CASE_FOLDERS } from '../cases/suite.ts';
import { copyTree, makeFolders, sha256 } from '#platform';

interface SetSkill {
  readonly name: string;
  readonly digest: string;
  readonly source: string;
}

export interface SkillSet {
  readonly folder: string;
  /** The only skill roots of its runtimes, one per source. */
  readonly roots: readonly { readonly source: string; readonly path: string }[];
  /** Sorted by folder name. */
  readonly skills: readonly SetSkill[];
  readonly digest: string;
}

export interface SkillSetOptions {
  readonly to: string;
  /** The source of a skill folder, which its copy keeps. */
  readonly sourceOf?: ((folder: string) => string | undefined) | undefined;
  readonly signal?: AbortSignal;
}

/** The source of a folder that is in no root. */
const NO_ROOT = 'option';
const PRECEDENCE = [NO_ROOT, 'project', 'user', 'builtin'];

/** Copies each skill folder under its own name, below a folder per source if there are several. Two folders with one name are an error. */
export async function makeSkillSet(
  folders: readonly string[],
  { to, sourceOf, signal }: SkillSetOptions,
): Promise<SkillSet> {
  makeFolders(to);
  const skills: SetSkill[] = [];
  const source = (folder: string): string => sourceOf?.(folder) ?? NO_ROOT;
  const sources = [...new Set(folders.map((one) => source(path.resolve(one))))].toSorted(
    (a, b) => PRECEDENCE.indexOf(a) - PRECEDENCE.indexOf(b) || compareText(a, b),
  );
  const findRoot = (name: string): string => (sources.length > 1 ? path.join(to, name) : to);
  for (const name of sources) makeFolders(findRoot(name));
  for (const folder of [...new Set(folders.map((one) => path.resolve(one)))].toSorted(compareText)) {
    const name = path.basename(folder);
    if (skills.some((skill) => skill.name === name))
      throw unusable(folder, `two skill folders have the name ${JSON.stringify(name)}`);
    const ownCases = findOwnCaseFiles(folder);
    const copied = await copyTree(folder, {
      to: path.join(findRoot(source(folder)), name),
      permissions: 'read-only',
      // The model must not read the expectations, and a new case must not change the digest of the skill.
      leaveOut: CASE_FOLDERS,
      skip: (file) => ownCases.has(file),
      signal,
    });
    if (copied.type === 'refused') throw unusable(folder, `cannot copy the skill: ${copied.message}`);
    skills.push({ name, digest: copied.digest, source: source(folder) });
  }
  skills.sort((a, b) => compareText(a.name, b.name));
  return {
    folder: to,
    roots: sources.map((name) => ({ source: name, path: findRoot(name) })),
    skills,
    digest: sha256(skills.map(({ name, digest }) => `${name} ${digest}\n`).join('')),
  };
}

function unusable(folder: string, message: string): SkillError {
  return new SkillError({
    code: 'skill/invalid',
    message,
    hint: 'pass folders that contain a SKILL.md and have different names',
    data: { path: folder },
  });
}
