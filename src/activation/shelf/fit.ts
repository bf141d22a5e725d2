/** Fits the list of an agent: the skills that stay are shown in full, the others go to the shelf. */
import path from 'node:path';

import { invalidInput, nearest, quoted, type Surroundings } from '#core';
import { accepted, openAgentFolders, openShelf } from '#packs';
import { realEntry, realPath } from '#platform';
import { buildSearchIndex } from '#skills';
import { AGENTS } from '../agents/agents.ts';
import type { Agent, AgentSkill, Catalog } from '../agents/agent.ts';
import { examineAgent } from '../agent-view.ts';
import { readFolders } from '../find-skills.ts';
import { readUsage } from '../usage/usage.ts';
import { readEntries, type FitSkill } from './agent-entries.ts';
import { chooseSkills } from './choose-skills.ts';
import { FIND_SKILL, FIND_SKILL_DESCRIPTION, FIND_SKILL_TEXT } from './find-skill.ts';
import { projectWords } from './project-words.ts';

interface FitOptions {
  readonly surroundings: Surroundings;
  readonly agent: string;
  /** Names of skills that stay. */
  readonly pins: readonly string[];
  readonly contextWindow?: number | undefined;
  readonly signal?: AbortSignal;
  readonly onNote?: (note: string) => void;
}

export interface FitPlan {
  readonly agent: string;
  readonly shelf: string;
  /** Skills that the agent lists, and how many of them are shown in full: now, and after the fit. */
  readonly before: Shown;
  readonly after: Shown;
  /** Names, the most important first. */
  readonly stay: readonly string[];
  /** Names of the skills on the shelf, now or after the fit. */
  readonly shelve: readonly string[];
  /** What cannot be moved. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
  /** Other agents in use that no longer list some of the skills. */
  readonly hiddenFrom: readonly { readonly agent: string; readonly skills: readonly string[] }[];
  readonly isChange: boolean;
}

interface Shown {
  readonly skills: number;
  readonly full: number;
}

interface PlannedFit {
  readonly plan: FitPlan;
  /** Makes the change. Throws a refusal. */
  readonly apply: () => Promise<FitPlan>;
}

/** Throws `input/invalid` for a pin that is no skill of the agent, and refusals. */
export async function planFit(options: FitOptions): Promise<PlannedFit> {
  const { surroundings, contextWindow } = options;
  const agent = findAgent(options.agent);
  const shelf = await open(options);
  const last = shelf.last(agent.id);
  const { skills: all, list } = await examineAgent(agent, { surroundings, ...(contextWindow && { contextWindow }) });
  const isOurs = ({ path: file }: AgentSkill): boolean =>
    last?.made.some((made) => made.path === realEntry(path.dirname(file))) ?? false;
  const listed = all.filter((skill) => !isOurs(skill));
  const { own, others } = await readEntries(agent, { surroundings, listed, moved: last?.moves ?? [] });
  const moved = new Set(last?.moves.map(({ from }) => from));
  const isMoved = (entry: string): boolean => moved.has(realEntry(entry));
  const allEntries = own.flatMap(({ entries }) => entries);
  const left = shelf.leaves(
    agent.id,
    allEntries.filter((entry) => !isMoved(entry)),
  );
  const pins = [...new Set([...(last?.pins ?? []), ...options.pins])];
  refuseUnknown(options.pins, [...own.map(({ skill }) => skill), ...others]);
  const staying = new Set(left.map((one) => one.path));
  const isFree = ({ skill, entries }: FitSkill): boolean =>
    !entries.some((entry) => staying.has(realEntry(entry))) && !pins.some((pin) => isCalled(skill, pin));
  const free = orderSkills(own.filter(isFree), surroundings, await countUses(options));
  const fixed = [...others, ...own.filter((one) => !isFree(one)).map(({ skill }) => skill)];
  const choose = (base: readonly AgentSkill[]): ReadonlySet<AgentSkill> =>
    chooseSkills({ candidates: free.map(({ skill }) => skill), fixed: base, list });

  const isAllFull = choose(fixed).size === free.length;
  const hasFinder = [...fixed, ...free.map(({ skill }) => skill)].some(({ name }) => name === FIND_SKILL);
  const finder = isAllFull || hasFinder ? undefined : finderBeside(free[0]?.skill);
  const base = finder === undefined ? fixed : [...fixed, finder];
  const chosen = choose(base);
  const out = free.filter(({ skill }) => !chosen.has(skill));
  const entries = out.flatMap((one) => one.entries);
  const stay = [...base, ...chosen];
  const plan: FitPlan = {
    agent: agent.id,
    shelf: shelf.path,
    before: countShown(list(all)),
    after: countShown(list(stay)),
    stay: stay.map(({ name }) => name),
    shelve: out.map(({ skill }) => skill.name),
    left,
    hiddenFrom: findHidden(agent, entries, surroundings),
    isChange: !isSameSet(entries.map(realEntry), allEntries.filter(isMoved).map(realEntry)),
  };
  return {
    plan,
    async apply() {
      const add = finder && { path: realEntry(path.dirname(finder.path)), text: FIND_SKILL_TEXT };
      const done = accepted(await shelf.fit({ agent: agent.id, entries, pins, at: new Date(), ...(add && { add }) }));
      return { ...plan, left: [...left, ...done.left] };
    },
  };
}

/** Restores the agent's folders as they were before its last fit. Throws a refusal. */
export async function undoFit(options: Omit<FitOptions, 'pins'>) {
  const shelf = await open(options);
  return accepted(await shelf.undo(findAgent(options.agent).id));
}

function open({ surroundings, signal, onNote }: Omit<FitOptions, 'pins'>) {
  return openShelf({ surroundings, ...(signal && { signal }), ...(onNote && { onNote }) });
}

function findAgent(id: string): Agent {
  const agent = AGENTS.find((one) => one.id === id);
  if (agent === undefined) throw invalidInput(`unknown agent: ${quoted(id)}`, AGENTS.map((one) => one.id).join(', '));
  return agent;
}

function isCalled({ name, path: file }: AgentSkill, wanted: string): boolean {
  return name === wanted || path.basename(path.dirname(file)) === wanted;
}

function refuseUnknown(pins: readonly string[], skills: readonly AgentSkill[]): void {
  const unknown = pins.find((pin) => !skills.some((skill) => isCalled(skill, pin)));
  if (unknown === undefined) return;
  const near = nearest(
    unknown,
    skills.map(({ path: file }) => path.basename(path.dirname(file))),
  );
  const hint =
    near.length === 0 ? 'skillwright why --json names the skills of the agent' : `did you mean ${near.join(', ')}?`;
  throw invalidInput(`the agent has no skill ${quoted(unknown)}`, 'the name of a skill', hint);
}

const USED_MS = 30 * 86_400_000;

/** How often the agent loaded each skill in this project lately, by name. */
async function countUses({ surroundings, agent, signal }: FitOptions): Promise<ReadonlyMap<string, number>> {
  const { skills } = await readUsage({
    surroundings,
    agents: [agent],
    since: Date.now() - USED_MS,
    project: surroundings.cwd,
    price: () => undefined,
    signal: signal ?? new AbortController().signal,
  });
  return new Map(skills.map(({ name, fired, started }) => [name, fired + started]));
}

/** Skills that are used most in the project, those that match it best, then the others; short descriptions first. */
function orderSkills(
  skills: readonly FitSkill[],
  { cwd, home }: Surroundings,
  uses: ReadonlyMap<string, number>,
): readonly FitSkill[] {
  const isProject = home === undefined || realPath(cwd) !== realPath(home);
  const words = isProject ? projectWords(cwd) : '';
  const documents = skills.map(({ skill: { name, description } }) => ({ name, description }));
  const hits = words === '' ? [] : buildSearchIndex(documents).search(words, MAX_MATCHING);
  const ranks = new Map(hits.map(({ position }, rank) => [skills[position], rank]));
  const rank = (one: FitSkill): number => ranks.get(one) ?? MAX_MATCHING;
  const used = ({ skill: { name, path: file } }: FitSkill): number =>
    uses.get(name) ?? uses.get(path.basename(path.dirname(file))) ?? 0;
  return skills.toSorted(
    (a, b) =>
      used(b) - used(a) ||
      rank(a) - rank(b) ||
      a.skill.description.length - b.skill.description.length ||
      (a.skill.name < b.skill.name ? -1 : 1),
  );
}

/** Beyond these, a project's words match any skill. */
const MAX_MATCHING = 10;

function finderBeside(skill: AgentSkill | undefined): AgentSkill | undefined {
  if (skill === undefined) return undefined;
  const file = path.join(skill.folder, FIND_SKILL, 'SKILL.md');
  return { name: FIND_SKILL, description: FIND_SKILL_DESCRIPTION, path: file, scope: 'user', folder: skill.folder };
}

function countShown({ entries }: Catalog): Shown {
  return { skills: entries.length, full: entries.filter(({ shown }) => shown === 'full').length };
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === a.length;
}

/** A skill stays visible to another agent if one of its entries stays; links of other folders are led to the shelf. */
function findHidden(agent: Agent, entries: readonly string[], surroundings: Surroundings): FitPlan['hiddenFrom'] {
  const gone = new Set(entries.map(realEntry));
  const used = openAgentFolders(surroundings).used();
  return AGENTS.filter(({ id }) => id !== agent.id && used.has(id)).flatMap((other) => {
    const byReal = new Map<string, string[]>();
    for (const entry of readFolders(other, surroundings).flatMap(({ files }) =>
      files.map((file) => path.dirname(file)),
    ))
      byReal.set(realPath(entry), [...(byReal.get(realPath(entry)) ?? []), entry]);
    const hidden = [...byReal].filter(([, own]) => own.every((entry) => gone.has(realEntry(entry))));
    const skills = hidden.map(([real]) => path.basename(real)).toSorted();
    return skills.length === 0 ? [] : [{ agent: other.id, skills }];
  });
}
