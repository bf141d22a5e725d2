/**
 * Activates skills before the first turn: those that the caller requires, those with matching `paths`, and those that a search
 * proposes.
 */
import path from 'node:path';

import {
  cleanText,
  compileGlob,
  isForModel,
  printable,
  type ActionProblem,
  type SkillEntry,
  type RunEvent,
  type OfType,
  type Observation,
} from '#core';
import { resolveSkill, type SkillIndex } from '#skills';
import type { Run, Session } from '#runtime';
import { BODIES_A_TURN } from './selection.ts';

type SkillLoaded = OfType<Observation, 'skill-loaded'>;

export const ACTIVATIONS = ['model', 'shortlist', 'forced'] as const;
export type Activation = (typeof ACTIVATIONS)[number];

const SHORTLISTED = 3;

export interface Activated {
  readonly type: 'activated';
  readonly loaded: readonly SkillLoaded[];
}

/** Loads all required skills or none, then the skills with `paths` that match the given files, where the policy allows them. */
export async function activateSkills(
  run: Run,
  required: readonly string[],
  files: readonly string[],
): Promise<Activated | ActionProblem> {
  const { session } = run;
  const loaded = await session.declare(required.map((skill) => ({ skill })));
  if ('type' in loaded) return loaded;
  for (const { skill } of loaded) run.record({ type: 'activation', skill: skill.id, reason: 'required' });
  const triggered: SkillLoaded[] = [];
  for (const skill of skillsForPaths(session.index, files).slice(0, BODIES_A_TURN)) {
    if (loaded.some((one) => one.skill.id === skill.id)) continue;
    const observation = await session.perform(
      { type: 'load_skill', skill: skill.id, preload: true },
      { askedBy: 'program' },
    );
    if (observation.type !== 'skill-loaded') continue;
    run.record({ type: 'activation', skill: skill.id, reason: 'path' });
    triggered.push(observation);
  }
  return { type: 'activated', loaded: [...loaded, ...triggered] };
}

/** Returns the skills that a model may load and that have a `paths` pattern matching one of the files. */
export function skillsForPaths(index: SkillIndex, files: readonly string[]): readonly SkillEntry[] {
  if (files.length === 0) return [];
  const names = files.map((file) =>
    file
      .split(path.sep)
      .join('/')
      .replace(/^(?:\.?\/)+/, ''),
  );
  return index.skills.filter(({ state, controls: { paths = [] } }) => {
    if (paths.length === 0 || !isForModel(state)) return false;
    const globs = paths.map((pattern) => compileGlob(pattern));
    // A pattern without a folder matches the file name in any folder.
    return names.some((name) => globs.some((glob) => glob.matches(name) || glob.matches(path.posix.basename(name))));
  });
}

/** Proposes the skills for files that were touched in a turn, each skill once. The model decides whether to load them. */
export function pathRemarks(
  run: Run,
  touched: readonly string[],
  proposed: Map<string, OfType<RunEvent, 'activation'>['reason']>,
): readonly string[] {
  if (touched.length === 0) return [];
  const { session } = run;
  const isKnown = (id: string): boolean =>
    proposed.has(id) || session.state.loaded.some(({ skill }) => skill.id === id);
  const skills = skillsForPaths(session.index, touched).filter(({ id }) => !isKnown(id));
  for (const { id } of skills) {
    proposed.set(id, 'path');
    run.record({ type: 'activation', skill: id, reason: 'path' });
  }
  const { loadTool } = session.vocabulary;
  return skills.map(
    ({ name }) => `The skill ${printable(name)} is made for such files; load it with ${loadTool} if it helps.`,
  );
}

/** Renders loaded instructions like the load tool of the vocabulary does. */
export function loadedText({ vocabulary, offer }: Session, loaded: readonly SkillLoaded[]): string {
  const row = vocabulary.tools.find(({ name }) => name === vocabulary.loadTool);
  if (row === undefined || loaded.length === 0) return '';
  return loaded
    .map((one) => row.toResult([one], offer))
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join('\n\n');
}

/** Searches the best skills for a request that are not loaded yet, and records that they were proposed. */
export async function shortlist(
  run: Run,
  search: (query: string, n: number) => Promise<readonly { readonly name: string; readonly source: string }[]>,
  request: string,
  reason: Extract<OfType<RunEvent, 'activation'>['reason'], 'shortlist' | 'forced'>,
): Promise<readonly SkillEntry[]> {
  const { session } = run;
  const found = await search(request.slice(0, QUERY_CHARACTERS), SHORTLISTED);
  const skills = found
    .flatMap(({ name, source }) => resolveSkill(session.index, name, source) ?? [])
    .filter(({ id, state }) => isForModel(state) && !session.state.loaded.some(({ skill }) => skill.id === id));
  for (const { id } of skills) run.record({ type: 'activation', skill: id, reason });
  return skills;
}

const QUERY_CHARACTERS = 1_000;
const DESCRIPTION_CHARACTERS = 200;

export function shortlistText(skills: readonly SkillEntry[]): string {
  return [
    'Skills that may fit, best first:',
    ...skills.map(({ name, description }) => {
      const line = cleanText(description).replaceAll(/\s+/g, ' ').slice(0, DESCRIPTION_CHARACTERS);
      return `- ${printable(name)}: ${line}`;
    }),
  ].join('\n');
}
