import path from 'node:path';

import type { Surroundings } from '../../core/config/loaded-config.ts';
import { readLock } from '../../packs/lock/lock-file.ts';
import { agentBases, brokenLinks } from '../../packs/agents/agent-view.ts';
import { checkPlaces } from '../../packs/agents/check-places.ts';
import { SHARED_FOLDER } from '../../packs/agents/agent-table.ts';
import { detectAgents } from '../../packs/agents/agents.ts';
import type { AgentBase } from '../../packs/agents/agents.ts';
import { isRefusal } from '../../packs/problems.ts';
import { projectTop } from '../../runtime/skill-trust.ts';
import type { Finding } from './permission-findings.ts';

/** Which agents are in use here, and whether the links to installed skills are whole. */
export function agentFindings(surroundings: Surroundings): readonly Finding[] {
  const found = detectAgents(surroundings, projectTop(surroundings));
  const bases = agentBases(surroundings);
  const broken = brokenLinks(bases);
  const known = new Set(broken.map((link) => link.path));
  return [
    {
      name: 'agents',
      status: 'ok',
      detail: found.length === 0 ? 'none detected' : found.map(({ agent, at }) => `${agent.id} (${at})`).join(', '),
    },
    ...broken.map(({ path: place, agents }): Finding => ({
      name: 'links',
      status: 'warning',
      detail: `${place} (${agents.join(', ')}) leads to nothing: remove it, or install the skill again`,
    })),
    ...bases
      .flatMap((base) => linkFindings(base))
      .filter((link) => !known.has(link.path))
      .map(({ finding }) => finding),
  ];
}

interface LinkFinding {
  readonly path: string;
  readonly finding: Finding;
}

function linkFindings(base: AgentBase): readonly LinkFinding[] {
  return ROOTS.flatMap((folder) => rootFindings(path.join(base.base, folder), base));
}

/** Roots of `install`. */
const ROOTS = [SHARED_FOLDER, '.agent/skills'];

function rootFindings(root: string, base: AgentBase): readonly LinkFinding[] {
  const lock = readLock(root);
  // Other checks report an unreadable lock.
  if (lock === undefined || isRefusal(lock)) return [];
  const scope = base.scope === 'user' ? ' --scope user' : '';
  return [...lock.skills.values()]
    .flatMap((skill) => checkPlaces(skill, root, base))
    .filter(({ status }) => status !== 'same')
    .map(({ path: place, kind, status, agents }) => ({
      path: place,
      finding: {
        name: 'links',
        status: 'warning',
        detail: `the ${kind} ${place} (${agents.join(', ')}) is ${status}: run skillwright install --frozen${scope}`,
      },
    }));
}
