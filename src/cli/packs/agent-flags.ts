/** `--agent`: which agents get a link to the skills, for the commands that change a root. */
import type { Unplaced } from '../../packs/agents/place-skills.ts';
import { detectAgents, readAgents } from '../../packs/agents/agents.ts';
import { placeTargets } from '../../packs/agents/place-targets.ts';
import type { PlaceTarget } from '../../packs/agents/place-targets.ts';
import { PACK_PROBLEMS, isRefusal } from '../../packs/problems.ts';
import type { PackRefusal } from '../../packs/problems.ts';
import type { PackSettings } from '../../packs/pack-settings.ts';
import { projectTop } from '../../runtime/skill-trust.ts';
import type { Flags } from '../command.ts';
import { EXIT } from '../exit.ts';
import { reportProblem } from '../terminal/terminal.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const AGENT_FLAG = {
  agent: {
    type: 'string',
    short: 'a',
    multiple: true,
    value: 'ID',
    about: 'for this agent, e.g. claude-code, codex, cursor; all: every detected one; may be repeated',
  },
} as const satisfies Flags;

/** The folders of the named agents, and further folders. */
export function targetsFor(
  { surroundings, root }: PackSettings,
  { agents = [], folders = [] }: { readonly agents?: readonly string[]; readonly folders?: readonly string[] },
): readonly PlaceTarget[] | PackRefusal {
  const found = readAgents(agents, () => detectAgents(surroundings, projectTop(surroundings)));
  if (isRefusalOf(found)) return found;
  return placeTargets(found, folders, { root, surroundings });
}

export function isRefusalOf<T>(value: readonly T[] | PackRefusal): value is PackRefusal {
  return 'type' in value && isRefusal(value);
}

/** Reports what could not be linked, one line per folder and reason. Returns the exit code. */
export function reportUnplaced(terminal: Terminal, unplaced: readonly Unplaced[]): number {
  for (const message of new Set(unplaced.map((one) => one.message)))
    reportProblem(terminal, { message, hint: PACK_PROBLEMS['install/agent'], code: 'install/agent' });
  return unplaced.length === 0 ? EXIT.done : EXIT.failed;
}
