/** Explains why skills fire or not in the agents of this machine. */
import path from 'node:path';

import type { Surroundings } from '#core';
import { openAgentFolders } from '#packs';
import { buildSearchIndex } from '#skills';
import { AGENTS } from './agents/agents.ts';
import type { Agent, AgentSkill } from './agents/agent.ts';
import { examineAgent, type AgentView, type ExaminedAgent, type SkillView } from './agent-view.ts';
import { namedFolders } from './find-skills.ts';
import type { SkillFile } from './skill-file.ts';

interface WhyOptions {
  readonly surroundings: Surroundings;
  /** Ids; empty for the agents that are in use here. */
  readonly agents?: readonly string[];
  readonly request?: string;
  readonly skill?: string;
  readonly contextWindow?: number;
}

interface RankedSkill {
  readonly name: string;
  readonly score: number;
  /** What each agent shows of it, by the agent's id. */
  readonly shown: Readonly<Record<string, SkillView['shown']>>;
}

export interface Why {
  readonly agents: readonly AgentView[];
  /** Best first; only with a request. */
  readonly ranking?: readonly RankedSkill[];
  /** One row per agent; only with a skill. */
  readonly skill?: readonly SkillAdvice[];
}

interface SkillAdvice {
  readonly agent: string;
  readonly skill?: SkillView;
  /** What to do, if anything. */
  readonly advice: readonly string[];
  /** Descriptions that would have to be shortened so that this one is shown in full. */
  readonly shorten?: { readonly to: number; readonly skills: readonly string[] };
}

const MAX_RANKED = 10;
/** Lengths that the advice tries, in characters; below the last a description says too little. */
const SHORT_LENGTHS = [200, 100, 60] as const;

/** The agents whose rules are known. */
export const AGENT_IDS: readonly string[] = AGENTS.map(({ id }) => id);

/** Those of them that are in use here. */
function agentsInUse(surroundings: Surroundings): readonly Agent[] {
  const used = openAgentFolders(surroundings).used();
  return AGENTS.filter(({ id }) => used.has(id));
}

export async function explainSkills(options: WhyOptions): Promise<Why> {
  const { surroundings, request, skill, contextWindow } = options;
  const named = new Set(options.agents);
  const chosen = named.size === 0 ? agentsInUse(surroundings) : AGENTS.filter(({ id }) => named.has(id));
  const files = new Map<string, SkillFile>();
  const examined: ExaminedAgent[] = [];
  for (const agent of chosen) examined.push(await examineAgent(agent, { surroundings, files, contextWindow }));
  return {
    agents: examined.map(({ view }) => view),
    ranking: request === undefined ? undefined : rank(request, examined),
    ...(skill === undefined
      ? {}
      : { skill: chosen.map((agent, at) => advise(agent, examined[at], { examined, skill, surroundings })) }),
  };
}

function rank(request: string, examined: readonly ExaminedAgent[]): readonly RankedSkill[] {
  const byName = new Map<string, AgentSkill>();
  for (const { skills } of examined)
    for (const skill of skills) if (!byName.has(skill.name)) byName.set(skill.name, skill);
  const documents = [...byName.values()].map(({ name, description }) => ({ name, description }));
  return buildSearchIndex(documents)
    .search(request, MAX_RANKED)
    .flatMap(({ position, score }) => {
      const name = documents[position]?.name;
      if (name === undefined) return [];
      const shown = examined.map(
        ({ view }) => [view.agent, view.skills.find((one) => one.name === name)?.shown ?? 'none'] as const,
      );
      return [{ name, score, shown: Object.fromEntries(shown) }];
    });
}

interface AdviceContext {
  readonly examined: readonly ExaminedAgent[];
  readonly skill: string;
  readonly surroundings: Surroundings;
}

function advise(
  agent: Agent,
  own: ExaminedAgent | undefined,
  { examined, skill, surroundings }: AdviceContext,
): SkillAdvice {
  const candidates = own?.view.skills.filter((one) => isCalled(one, skill)) ?? [];
  const found = candidates.find(({ shown }) => shown !== 'none') ?? candidates[0];
  if (own === undefined || found === undefined) {
    const elsewhere = examined.flatMap(({ view }) => view.skills).find((one) => isCalled(one, skill));
    const reads = [...new Set(namedFolders(agent, surroundings))].join(', ');
    return {
      agent: agent.id,
      advice:
        elsewhere === undefined
          ? [`no folder that ${agent.id} reads has it: ${reads}`]
          : [
              `${path.dirname(elsewhere.path)} is in a folder that ${agent.id} does not read`,
              `install it for this agent: skillwright install ${path.dirname(elsewhere.path)} --agent ${agent.id}`,
            ],
    };
  }
  if (found.reason?.code !== 'budget')
    return { agent: agent.id, skill: found, advice: found.reason === undefined ? [] : [found.reason.fix] };
  const shorten = descriptionsToShorten(own, found);
  const before = own.view.skills.indexOf(found);
  return {
    agent: agent.id,
    skill: found,
    advice: [
      `${count(before, 'skill')} before it in the list`,
      shorten === undefined
        ? `remove ${count(skillsToRemove(own, found), 'skill')} from its folders: shorter descriptions are not enough`
        : `shorten ${count(shorten.skills.length, 'description')} to ${String(shorten.to)} characters`,
    ],
    shorten,
  };
}

function count(number: number, what: string): string {
  return `${String(number)} ${what}${number === 1 ? '' : 's'}`;
}

function isCalled({ name, path: file }: SkillView, wanted: string): boolean {
  return name === wanted || path.basename(path.dirname(file)) === wanted;
}

/** The fewest of the longest descriptions that must shrink; undefined if even all of them are not enough. */
function descriptionsToShorten(own: ExaminedAgent, wanted: SkillView): SkillAdvice['shorten'] {
  for (const to of SHORT_LENGTHS) {
    const long = longestFirst(own.skills).filter(({ description }) => description.length > to);
    const least = fewest(long.length, (number) => {
      const cut = new Set(long.slice(0, number));
      const shorten = (text: string): string => text.slice(0, to);
      return isFull(
        own,
        own.skills.map((skill) => (cut.has(skill) ? { ...skill, description: shorten(skill.description) } : skill)),
        wanted,
      );
    });
    if (least !== undefined) return { to, skills: long.slice(0, least).map(({ name }) => name) };
  }
  return undefined;
}

/** How many other skills have to go, those with the longest descriptions first. */
function skillsToRemove(own: ExaminedAgent, wanted: SkillView): number {
  const others = longestFirst(own.skills).filter(({ path: file }) => file !== wanted.path);
  const isEnough = (number: number): boolean => {
    const gone = new Set(others.slice(0, number));
    return isFull(
      own,
      own.skills.filter((skill) => !gone.has(skill)),
      wanted,
    );
  };
  return fewest(others.length, isEnough) ?? others.length;
}

function longestFirst(skills: readonly AgentSkill[]): readonly AgentSkill[] {
  return skills.toSorted((a, b) => b.description.length - a.description.length);
}

function isFull({ list }: ExaminedAgent, skills: readonly AgentSkill[], { path: file }: SkillView): boolean {
  return list(skills).entries.some(({ skill, shown }) => skill.path === file && shown === 'full');
}

/** The least number up to `most` that is enough; undefined if none is. A larger number never helps less. */
function fewest(most: number, isEnough: (number: number) => boolean): number | undefined {
  if (!isEnough(most)) return undefined;
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
