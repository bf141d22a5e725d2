/** Finds the agents that are in use here, and the folders in which agents look for skills. */
import path from 'node:path';

import type { Surroundings } from '#core';
import { isPresent, namesIn } from '#platform';
import { AGENTS, SHARED_FOLDER, type Agent } from './agent-table.ts';

const VARIABLE = /^\$\{(\w+):-([^}]+)\}/;

/** Where agents look: in a project, or in the user's home folder. */
export interface AgentBase {
  readonly scope: 'project' | 'user';
  /** The project or the home folder, as a real path. */
  readonly base: string;
  readonly surroundings: Pick<Surroundings, 'home' | 'env'>;
}

/** The names in a folder, for `mayExist`. */
export function nameSet(folder: string | undefined): ReadonlySet<string> {
  return new Set(folder === undefined ? [] : namesIn(folder));
}

/** False if a path of the table cannot exist, because its first folder is missing: most agents are not in use, and a set is cheaper than a stat. */
export function mayExist(place: string, names: ReadonlySet<string>): boolean {
  const start = place.startsWith('~/') ? 2 : 0;
  const end = place.indexOf('/', start);
  const first = place.slice(start, end === -1 ? undefined : end);
  return names.size === 0 || first === '' || first.startsWith('$') || names.has(first);
}

/** The absolute folder in which an agent looks for skills. Undefined without a home folder. */
export function agentFolder(agent: Agent, { scope, base, surroundings }: AgentBase): string | undefined {
  return scope === 'project' ? path.join(base, agent.project) : expand(agent.user, { ...surroundings, home: base });
}

export interface DetectedAgent {
  readonly agent: Agent;
  /** The path that shows that the agent is in use. */
  readonly at: string;
}

/** Agents whose settings exist in the home folder, on the machine or in the project. */
export function detectAgents(
  { home, env }: Pick<Surroundings, 'home' | 'env'>,
  project: string | undefined,
): readonly DetectedAgent[] {
  const inHome = nameSet(home);
  const inProject = nameSet(project);
  const detected: DetectedAgent[] = [];
  for (const agent of AGENTS) {
    // A project that has the agent's folder is used with the agent. Folders without a dot have other uses.
    const hasOwn = project !== undefined && agent.project.startsWith('.') && agent.project !== SHARED_FOLDER;
    for (const trace of hasOwn ? [...agent.detect, ...agent.project.split('/', 1)] : agent.detect) {
      if (!mayExist(trace, trace.startsWith('~') ? inHome : inProject)) continue;
      const at = /^[~$/]/.test(trace) ? expand(trace, { home, env }) : project && path.join(project, trace);
      if (at === undefined || at === '' || !isPresent(at)) continue;
      detected.push({ agent, at });
      break;
    }
  }
  return detected;
}

/**
 * Folders below a project or a home folder that belong to a known agent. A lock or journal of a cloned repository may name only these.
 * Environment variables do not count: the caller of a command that uses one names the agent.
 */
function knownFolders(): ReadonlySet<string> {
  return (folders ??= new Set([
    SHARED_FOLDER,
    '.agent/skills',
    ...AGENTS.flatMap(({ project, user }) => [project, (expand(user, { home: '/', env: {} }) ?? '').slice(1)]),
  ]));
}
/** Built on first use, because `list` loads this file and does not need it. */
let folders: ReadonlySet<string> | undefined;

/** The project or home folder that a root belongs to, judged by its path alone. */
export function baseOfRoot(root: string): string {
  const slashed = root.split(path.sep).join('/');
  const suffix = [...knownFolders()]
    .filter((folder) => slashed.endsWith(`/${folder}`))
    .toSorted((a, b) => b.length - a.length)[0];
  if (suffix === undefined) return path.dirname(root);
  return path.resolve(root, ...suffix.split('/').map(() => '..'));
}

export function isKnownFolder(folder: string, base: string): boolean {
  return knownFolders().has(path.relative(base, folder).split(path.sep).join('/'));
}

/** Replaces `${NAME:-path}` and `~`. Undefined if it needs a home folder that does not exist. */
function expand(text: string, { home, env }: Pick<Surroundings, 'home' | 'env'>): string | undefined {
  const substitute = (_: string, name: string, other: string): string => {
    const value = env[name]?.trim() ?? '';
    return path.isAbsolute(value) ? value : other;
  };
  const plain = text.startsWith('$') ? text.replace(VARIABLE, substitute) : text;
  if (!plain.startsWith('~')) return path.normalize(plain);
  return home === undefined ? undefined : path.join(home, plain.slice(1));
}
