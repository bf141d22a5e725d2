/** `--agent`: which agents get a link to the skills, for the commands that change a root. */
import path from 'node:path';

import { agentBaseOf, agentsOf, openAgentView } from '../../packs/agents/agent-view.ts';
import type { Unplaced } from '../../packs/agents/place-skills.ts';
import { detectAgents } from '../../packs/agents/agents.ts';
import { readAgents } from '../../packs/agents/read-agents.ts';
import { placeTargets } from '../../packs/agents/place-targets.ts';
import type { PlaceTarget } from '../../packs/agents/place-targets.ts';
import { PACK_PROBLEMS } from '../../packs/problems.ts';
import type { PackSettings } from '../../packs/pack-settings.ts';
import { projectTop } from '../../runtime/skill-trust.ts';
import { option } from '../command.ts';
import type { Flags, GlobalInvocation } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { surroundingsFor } from '../surroundings.ts';
import { accepted } from './pack-command.ts';
import { reportProblem } from '../terminal/terminal.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const AGENT_FLAG = {
  agent: option('ID', 'for this agent, e.g. claude-code, codex, cursor; all: every detected one; may be repeated', {
    short: 'a',
    multiple: true,
  }),
} as const satisfies Flags;

/** The folders of the named agents, and further folders. */
export function targetsFor(
  { surroundings, root }: PackSettings,
  { agents = [], folders = [] }: { readonly agents?: readonly string[]; readonly folders?: readonly string[] },
): readonly PlaceTarget[] {
  const found = readAgents(agents, () => detectAgents(surroundings, projectTop(surroundings)));
  if ('type' in found) throw new UsageError(found.message, found.hint);
  return accepted(placeTargets(found, folders, { root, surroundings }));
}

/** Which agents see the skills of a root. */
export interface SkillAgents {
  /** Ids of all known agents that see the skill. */
  readonly all: (name: string) => readonly string[];
  /** Those in use here, for a line of text: `  [claude-code, codex]`; empty if there are none. */
  readonly text: (name: string) => string;
}

export function openSkillAgents({ surroundings, root }: PackSettings, { style }: Terminal): SkillAgents {
  const view = openAgentView(() => [agentBaseOf(root, surroundings)]);
  const used = new Set(detectAgents(surroundings, projectTop(surroundings)).map(({ agent }) => agent.id));
  const all = (name: string): readonly string[] => view(path.join(root, name));
  return {
    all,
    text(name) {
      const ids = all(name).filter((id) => used.has(id));
      return ids.length === 0 ? '' : style('dim', `  [${ids.join(', ')}]`);
    },
  };
}

/** Reports what could not be linked, one line per folder and reason. Returns the exit code. */
export function reportUnplaced(
  { terminal, flags }: GlobalInvocation,
  unplaced: readonly Unplaced[],
  root: string,
): number {
  const base = agentBaseOf(root, surroundingsFor(flags));
  const who = (folder: string): string => agentsOf(folder, base).join(', ');
  for (const text of new Set(unplaced.map(({ folder, message }) => `${who(folder) || 'not linked'}: ${message}`)))
    reportProblem(terminal, { message: text, hint: PACK_PROBLEMS['install/agent'], code: 'install/agent' });
  return unplaced.length === 0 ? EXIT.done : EXIT.failed;
}
