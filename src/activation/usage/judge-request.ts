/** What the skills of a project have to do with a request: which one it clearly needs, and which share a word with it. */
import { statSync } from 'node:fs';

import type { Surroundings } from '#core';
import { buildSearchIndex, type SearchIndex } from '#skills';
import { examineAgent, type AgentView } from '../agent-view.ts';
import type { Agent } from '../agents/agent.ts';
import { chooseHints } from '../hints/choose-hints.ts';
import type { SkillFile } from '../skill-file.ts';

export interface Judgement {
  /** The skill that ranks first with confidence. */
  readonly needed?: string;
  /** Skills with nothing in common with the request. */
  readonly isUnrelated: (skill: string) => boolean;
}

interface Judged {
  readonly view: AgentView;
  readonly index: SearchIndex;
  /** Their names, as in the index. */
  readonly names: readonly string[];
  /** When each SKILL.md was written: an earlier request could not load it, or had another description. */
  readonly since: ReadonlyMap<string, number>;
}

/** Sessions of other projects have other skills; the oldest are read again. */
const MAX_PROJECTS = 100;
/** Longer requests are mostly pasted text. */
const MAX_REQUEST_LENGTH = 4096;

export type Judge = ReturnType<typeof openJudge>;

export function openJudge(surroundings: Surroundings) {
  const files = new Map<string, SkillFile>();
  const projects = new Map<string, Judged>();
  const view = async (agent: Agent, cwd: string): Promise<Judged> => {
    const key = `${agent.id} ${cwd}`;
    const known = projects.get(key);
    if (known !== undefined) return known;
    const examined = await examineAgent(agent, { surroundings: { ...surroundings, cwd }, files });
    const skills = examined.skills.map(({ name, description }) => ({ name, description }));
    const since = new Map(
      examined.skills.map(({ name, path }) => [name, statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity]),
    );
    const names = skills.map(({ name }) => name);
    const judged = { view: examined.view, names, index: buildSearchIndex(skills), since };
    const [oldest] = projects.keys();
    if (projects.size >= MAX_PROJECTS && oldest !== undefined) projects.delete(oldest);
    projects.set(key, judged);
    return judged;
  };
  return {
    view,
    async judge(
      agent: Agent,
      { text, cwd, at }: { readonly text: string; readonly cwd: string; readonly at: number },
    ): Promise<Judgement> {
      const { names, index, since } = await view(agent, cwd);
      const request = text.slice(0, MAX_REQUEST_LENGTH);
      const isKnown = (name: string): boolean => (since.get(name) ?? Infinity) <= at;
      const hits = new Set(index.search(request, Math.max(1, names.length)).map(({ position }) => names[position]));
      const [first] = chooseHints({ request, index });
      const needed = first && names[first.position];
      return {
        ...(needed !== undefined && isKnown(needed) ? { needed } : {}),
        isUnrelated: (name) => isKnown(name) && !hits.has(name),
      };
    },
  };
}
