/** `--agent`: which agents get a link to the skills, for the commands that change a root. */
import path from 'node:path';

import { compareText, countText, printable, type Problem } from '#core';
import { accepted, findTargets, openAgentFolders, packRefusal, type PackSettings, type uninstallSkills } from '#packs';
import { list, type Flags, type GlobalInvocation } from '../command.ts';
import { EXIT, orUsageError } from '../exit.ts';
import { reportProblem, type Terminal } from '../terminal/terminal.ts';

export type Changed = Exclude<Awaited<ReturnType<typeof uninstallSkills>>, Problem>;

const ALL_AGENTS = 'all';

export const AGENT_FLAG = {
  agent: list('ID', `for this agent, e.g. claude-code, codex or cursor, or all detected ones: ${ALL_AGENTS}`, {
    short: 'a',
    offers: 'agents',
  }),
} as const satisfies Flags;

/** The folders of the named agents, and further folders. */
export function targetsFor(settings: PackSettings, choice: Parameters<typeof findTargets>[1]) {
  return orUsageError(() => accepted(findTargets(settings, choice)));
}

export interface SkillAgents {
  /** Ids of all known agents that see the skill. */
  readonly all: (name: string) => readonly string[];
  /** Those in use here, for a line of text: `  [claude-code, codex]`; empty if there are none. */
  readonly text: (name: string) => string;
}

export function openSkillAgents({ surroundings, root }: PackSettings, { style }: Terminal): SkillAgents {
  const folders = openAgentFolders(surroundings, root);
  const used = folders.used();
  const all = (name: string): readonly string[] => folders.seeing(path.join(root, name));
  return {
    all,
    text(name) {
      const ids = all(name).filter((id) => used.has(id));
      return ids.length === 0 ? '' : style('dim', `  [${ids.join(', ')}]`);
    },
  };
}

/** The last lines of an install: how many of the skills each agent in use sees, and each one that the user named. */
export function agentSummary(
  { surroundings, root }: PackSettings,
  names: readonly string[],
  named: readonly string[] = [],
): readonly string[] {
  if (names.length === 0) return [];
  const folders = openAgentFolders(surroundings, root);
  const counts = new Map([...folders.used(), ...named.filter((id) => id !== ALL_AGENTS)].map((id) => [id, 0]));
  for (const id of names.flatMap((name) => folders.seeing(path.join(root, name))))
    if (counts.has(id)) counts.set(id, (counts.get(id) ?? 0) + 1);
  if (counts.size === 0) return [`${countText(names.length, 'skill')} in ${printable(root)}; no agent is detected`];
  const ids = [...counts.keys()].toSorted(compareText);
  return [...new Set(counts.values())]
    .toSorted((a, b) => b - a)
    .flatMap((count) => {
      const seeing = ids.filter((id) => counts.get(id) === count);
      if (count > 0) return [`${countText(count, 'skill')} for ${seeing.join(', ')}`];
      // For an agent that the user named, an error says why.
      const unnamed = seeing.filter((id) => !named.includes(id) && !named.includes(ALL_AGENTS));
      return [
        ...notFor(seeing.filter((id) => !unnamed.includes(id))),
        ...notFor(unnamed).map((text) => `${text}: name it with --agent`),
      ];
    });
}

function notFor(ids: readonly string[]): readonly string[] {
  return ids.length === 0 ? [] : [`not for ${ids.join(', ')}`];
}

/** Reports what could not be linked, one line per folder and reason. Returns the exit code. */
export function reportUnplaced(
  { terminal, surroundings }: GlobalInvocation,
  { unplaced, root }: Pick<Changed, 'unplaced' | 'root'>,
): number {
  const { lookingIn } = openAgentFolders(surroundings, root);
  const who = (folder: string): string => lookingIn(folder).join(', ') || 'not linked';
  for (const text of new Set(unplaced.map(({ folder, message }) => `${who(folder)}: ${message}`)))
    reportProblem(terminal, packRefusal('install/agent', text));
  return unplaced.length === 0 ? EXIT.done : EXIT.failed;
}
