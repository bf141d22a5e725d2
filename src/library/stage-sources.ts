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
  isObject,
  isSkillError,
  quoted,
  SkillError,
  type Action,
  type ActionProblem,
  type Problem,
} from '#core';
import { createTree, isPresent, isSystemError, quietly } from '#platform';
import {
  findFileProblem,
  isFolderName,
  type SkillSource,
  type SourceFile,
  type SourceOptions,
  type SourceSkill,
} from './skill-source.ts';

export interface StagedSources {
  /** Roots for the registry, in the order of the sources. */
  readonly roots: readonly { readonly source: string; readonly path: string }[];
  /** Skills that a source lists and that cannot be used. */
  readonly problems: readonly (Problem & { readonly path: string })[];
  /** Writes the files of the skills that an action names, or says why they cannot be read. Rejects when `signal` is aborted. */
  prepare(action: Action, signal?: AbortSignal): Promise<ActionProblem | undefined>;
  /** Names a staged file by its source instead of the folder where it is staged. */
  shown(text: string): string;
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
  const wrong = names.find((name) => !SOURCE_NAME.test(name));
  if (wrong !== undefined)
    throw invalidInput(
      `${quoted(wrong)} cannot be the name of a source of skills`,
      'a name of lowercase letters, digits and hyphens',
    );
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw invalidInput(
      `two sources of skills have the name ${quoted(twice)}`,
      'a name for each source',
      "name them, such as memorySkills(skills, 'team')",
    );
  const base = sources.length === 0 ? '' : makeBase();
  let staged = new Map<string, StagedSkill>();
  let problems: (Problem & { readonly path: string })[] = [];
  const roots = names.map((source) => ({ source, path: path.join(base, source) }));

  const closing = new AbortController();

  const list = async (): Promise<void> => {
    const next = new Map<string, StagedSkill>();
    const found: typeof problems = [];
    for (const source of sources)
      for (const skill of await listSource(source)) {
        const wrong = findSkillProblem(skill);
        const folder = wrong === undefined ? path.join(base, source.name, skill.name) : '';
        const problem = next.has(folder) ? invalid(`${quoted(skill.name)} is listed twice`) : wrong;
        if (problem !== undefined) {
          found.push({ ...problem, path: source.name });
          continue;
        }
        if (closing.signal.aborted) return;
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
    shown: (text) => (base === '' ? text : text.replaceAll(`${base}${path.sep}`, '')),
    async prepare(action, signal) {
      const text = JSON.stringify(action);
      for (const one of staged.values()) {
        if (!text.includes(JSON.stringify(one.skill.name).slice(1, -1))) continue;
        // Other conversations may wait for the same files, so that an abort ends only this wait.
        one.written ??= writeFiles(one, closing.signal);
        const problem = await untilAborted(one.written, signal);
        if (problem === undefined) continue;
        // The next action tries again.
        delete one.written;
        return problem;
      }
      return undefined;
    },
    refresh: list,
    close() {
      closing.abort();
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
    const skills: unknown = await ask((options) => source.list(options));
    if (Array.isArray(skills)) return skills;
    throw new TypeError('it returned no list');
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

/** Rejects with the reason of the signal as soon as it is aborted. */
async function untilAborted<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return answer;
  signal.throwIfAborted();
  const settled = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const options = { once: true, signal: settled.signal };
    signal.addEventListener('abort', () => reject(signal.reason), options);
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    settled.abort();
  }
}

const ANSWER_MS = 60_000;

/** A source that does not answer is given up. */
async function ask<T>(question: (options: SourceOptions) => T | Promise<T>, closing?: AbortSignal): Promise<T> {
  const late = AbortSignal.timeout(ANSWER_MS);
  const signal = closing === undefined ? late : AbortSignal.any([late, closing]);
  try {
    return await untilAborted(Promise.resolve(question({ signal })), signal);
  } catch (error) {
    if (!late.aborted || error !== late.reason) throw error;
    throw new Error(`it did not answer within ${String(ANSWER_MS / 1_000)} seconds`, { cause: error });
  }
}

const MAX_SKILL_MD = 16 * 1024 * 1024;

function findSkillProblem(skill: unknown): Problem | undefined {
  if (!isObject(skill)) return invalid('a skill is not an object');
  const { name, skillMd } = skill;
  if (typeof name !== 'string') return invalid('a skill has no name');
  if (!isFolderName(name)) return invalid(`${quoted(name)} cannot be the name of a skill`);
  if (typeof skillMd !== 'string') return invalid(`${quoted(name)} has no text as skillMd`);
  return skillMd.length > MAX_SKILL_MD ? invalid(`the skillMd of ${quoted(name)} is larger than 16 MiB`) : undefined;
}

function invalid(message: string): Problem {
  return { code: 'source/invalid', message, hint: 'correct what list() of the source returns' };
}

async function writeFiles(
  { skill, source, folder }: StagedSkill,
  closing: AbortSignal,
): Promise<ActionProblem | undefined> {
  try {
    const files = await ask((options) => source.read(skill.name, options), closing);
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
