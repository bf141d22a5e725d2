/** Finds the agents that a user named. */
import { nearest, quoted } from '#core';
import { packRefusal, type PackRefusal } from '../problems.ts';
import { AGENTS, type Agent } from './agent-table.ts';
import type { DetectedAgent } from './agents.ts';

/** The value of `--agent` that stands for every detected agent. */
export const ALL_AGENTS = 'all';

/** Looks up ids. `all` stands for the detected agents. Refuses unknown ids. */
export function readAgents(
  ids: readonly string[],
  detected: () => readonly DetectedAgent[],
): readonly Agent[] | PackRefusal {
  const chosen = new Set<Agent>();
  for (const id of ids) {
    if (id === ALL_AGENTS) {
      const found = detected();
      if (found.length === 0)
        return {
          ...packRefusal('install/agent', 'no agent was detected for --agent all'),
          hint: `name one: --agent claude-code; known agents: ${AGENTS.map((agent) => agent.id).join(', ')}`,
        };
      for (const { agent } of found) chosen.add(agent);
      continue;
    }
    const agent = AGENTS.find((known) => known.id === id);
    if (agent === undefined) return unknownAgent(id);
    chosen.add(agent);
  }
  return [...chosen];
}

function unknownAgent(id: string): PackRefusal {
  const near = nearest(
    id,
    AGENTS.map((agent) => agent.id),
  );
  const known = `known agents: ${AGENTS.map((agent) => agent.id).join(', ')}`;
  return {
    ...packRefusal('install/agent', `unknown agent: ${quoted(id)}`),
    hint: near.length === 0 ? known : `did you mean ${near.join(', ')}? ${known}`,
  };
}
