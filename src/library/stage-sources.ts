/**
 * Skills of sources as folders, so that everything that reads, checks, hashes and runs skills is the same for them. SKILL.md is written when
 * the library opens; the other files before the first action that names the skill.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {
  failure,
  invalidInput,
  isSkillError,
  quoted,
  SkillError,
  type Action,
  type ActionProblem,
  type Problem,
} from '#core';
import { createTree, isPresent, isSystemError, quietly } from '#platform';
import { findFileProblem, isFolderName, type SkillSource, type SourceFile, type SourceSkill } from './skill-source.ts';

export interface StagedSources {
  /** Roots for the registry, in the order of the sources. */
  readonly roots: readonly { readonly source: string; readonly path: string }[];
  /** Skills that a source lists and that cannot be used. */
  readonly problems: readonly (Problem & { readonly path: string })[];
  /** Writes the files of the skills that an action names, or says why they cannot be read. */
  prepare(action: Action): Promise<ActionProblem | undefined>;
  /** Lists again, and forgets the files of skills that changed. */
  refresh(): Promise<void>;
  close(): void;
}

interface StagedSkill {
  readonly skill: SourceSkill;
  readonly source: SkillSource;
  readonly folder: string;
  /** Absent until the files are needed. */
  written?: Promise<ActionProblem | undefined>;
}

const SOURCE_NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

export async function stageSources(sources: readonly SkillSource[]): Promise<StagedSources> {
  const names = sources.map(({ name }) => name);
  const wrong = names.find((name, index) => !SOURCE_NAME.test(name) || names.indexOf(name) !== index);
  if (wrong !== undefined)
    throw invalidInput(
      `${quoted(wrong)} cannot be the name of a source of skills`,
      'a name of lowercase letters, digits and hyphens that occurs once',
    );
  const base = sources.length === 0 ? '' : makeBase();
  let staged = new Map<string, StagedSkill>();
  let problems: (Problem & { readonly path: string })[] = [];
  const roots = names.map((source) => ({ source, path: path.join(base, source) }));

  const list = async (): Promise<void> => {
    const next = new Map<string, StagedSkill>();
    const found: typeof problems = [];
    for (const source of sources)
      for (const skill of await listSource(source)) {
        const folder = path.join(base, source.name, isFolderName(skill.name) ? skill.name : '');
        const problem = findSkillProblem(skill, next.has(folder));
        if (problem !== undefined) {
          found.push({ ...problem, path: source.name });
          continue;
        }
        const before = staged.get(folder);
        const isSame = before?.skill.skillMd === skill.skillMd && before.skill.version === skill.version;
        if (!isSame) replace(folder, skill.skillMd, []);
        next.set(folder, isSame ? before : { skill, source, folder });
      }
    for (const folder of staged.keys()) if (!next.has(folder)) rmSync(folder, { recursive: true, force: true });
    staged = next;
    problems = found;
  };

  await list();
  return {
    roots,
    get problems() {
      return problems;
    },
    async prepare(action) {
      const text = JSON.stringify(action);
      for (const one of staged.values()) {
        if (!text.includes(JSON.stringify(one.skill.name).slice(1, -1))) continue;
        one.written ??= writeFiles(one);
        const problem = await one.written;
        if (problem === undefined) continue;
        // The next action tries again.
        delete one.written;
        return problem;
      }
      return undefined;
    },
    refresh: list,
    close() {
      if (base !== '') quietly(() => rmSync(base, { recursive: true, force: true }));
    },
  };
}

function makeBase(): string {
  const parent = os.tmpdir();
  try {
    return mkdtempSync(path.join(parent, 'skillwright-library-'));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new SkillError({
      code: 'io/failed',
      message: `cannot create a folder for skills of sources in ${quoted(parent, 200)}: ${error.code}`,
      hint: 'set TMPDIR to a folder that this process may write',
      data: { path: parent, cause: error.code },
      cause: error,
    });
  }
}

async function listSource(source: SkillSource): Promise<readonly SourceSkill[]> {
  try {
    return await source.list();
  } catch (error) {
    if (isSkillError(error)) throw error;
    throw new SkillError({
      code: 'io/failed',
      message: `the source ${quoted(source.name)} did not list its skills: ${reasonText(error)}`,
      hint: 'correct list() of the source, or open the library again later',
      data: { path: source.name, cause: reasonText(error) },
      cause: error,
    });
  }
}

function findSkillProblem({ name, skillMd }: SourceSkill, isTaken: boolean): Problem | undefined {
  const hint = 'correct what list() of the source returns';
  if (typeof name !== 'string') return { code: 'source/invalid', message: 'a skill has no name', hint };
  if (!isFolderName(name))
    return { code: 'source/invalid', message: `${quoted(name)} cannot be the name of a skill`, hint };
  if (typeof skillMd !== 'string')
    return { code: 'source/invalid', message: `${quoted(name)} has no text as skillMd`, hint };
  return isTaken ? { code: 'source/invalid', message: `${quoted(name)} is listed twice`, hint } : undefined;
}

async function writeFiles({ skill, source, folder }: StagedSkill): Promise<ActionProblem | undefined> {
  try {
    const files = await source.read(skill.name);
    const problem = findFileProblem(files);
    if (problem !== undefined) return unreadable(skill.name, problem.message);
    if (files.length > 0) replace(folder, skill.skillMd, files);
    return undefined;
  } catch (error) {
    return unreadable(skill.name, reasonText(error));
  }
}

function unreadable(name: string, why: string): ActionProblem {
  return failure('file/unreadable', `the files of the skill ${quoted(name)} cannot be read: ${quoted(why, 300)}`, {
    hint: 'try again later, or continue without this skill',
  });
}

/** The whole folder at once, so that no action sees half of a skill. */
function replace(folder: string, skillMd: string, files: readonly SourceFile[]): void {
  if (isPresent(folder)) rmSync(folder, { recursive: true, force: true });
  createTree(folder, [
    { path: 'SKILL.md', text: skillMd, isExecutable: false },
    ...files.map(({ path: name, content, executable = false }) => ({
      path: name,
      text: content,
      isExecutable: executable,
    })),
  ]);
}

function reasonText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
