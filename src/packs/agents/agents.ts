/** Finds the agents that are in use here, and the folders in which agents look for skills. */
import path from 'node:path';
import { readdirSync, readlinkSync } from 'node:fs';

import { projectTop } from '#runtime';
import { isObject, parseJson, type Profile, type Surroundings } from '#core';
import { isPresent, namesIn, isDirectory, isSystemError, readTextFile, realPath } from '#platform';
import { PROFILES } from '#tools/profiles';
import { AGENTS, SHARED_FOLDER, type Agent } from './agent-table.ts';
import { readLock, type LockFile } from '../lock/lock-file.ts';
import { isRefusal } from '../problems.ts';

const VARIABLE = /^\$\{(\w+):-([^}]+)\}/;

/** Where agents look: in a project, or in the user's home folder. */
export interface AgentBase {
  readonly scope: 'project' | 'user';
  /** The project or the home folder, as a real path. */
  readonly base: string;
  readonly surroundings: Pick<Surroundings, 'home' | 'env'>;
}

function nameSet(folder: string | undefined): ReadonlySet<string> {
  return new Set(folder === undefined ? [] : namesIn(folder));
}

/** False if a path of the table cannot exist, because its first folder is missing: most agents are not in use, and a set is cheaper than a stat. */
function mayExist(place: string, names: ReadonlySet<string>): boolean {
  const start = place.startsWith('~/') ? 2 : 0;
  const end = place.indexOf('/', start);
  const first = place.slice(start, end === -1 ? undefined : end);
  return names.size === 0 || first === '' || first.startsWith('$') || names.has(first);
}

/** The absolute folder in which an agent looks for skills. Undefined without a home folder, and for an agent that has none there. */
export function agentFolder(agent: Agent, { scope, base, surroundings }: AgentBase): string | undefined {
  return scope === 'project'
    ? path.join(base, agent.project)
    : agent.user === undefined
      ? undefined
      : expandFolder(agent.user, { ...surroundings, home: base });
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
      const [file, dependency] = trace.split('#');
      if (project !== undefined && file !== undefined && dependency !== undefined) {
        const at = path.join(project, file);
        if (inProject.has(file) && dependsOn(at, dependency)) detected.push({ agent, at });
        continue;
      }
      if (!mayExist(trace, trace.startsWith('~') ? inHome : inProject)) continue;
      const at = /^[~$/]/.test(trace) ? expandFolder(trace, { home, env }) : project && path.join(project, trace);
      if (at === undefined || at === '' || !isPresent(at)) continue;
      detected.push({ agent, at });
      break;
    }
  }
  return detected;
}

const MAX_MANIFEST_BYTES = 1024 * 1024;

/** Whether a package.json names a package that the project needs to run or to be developed. */
function dependsOn(manifest: string, name: string): boolean {
  const read = readTextFile(manifest, MAX_MANIFEST_BYTES);
  const value = read.type === 'read' ? parseJson(read.text) : undefined;
  return ['dependencies', 'devDependencies'].some((key) => {
    const found = isObject(value) ? value[key] : undefined;
    return isObject(found) && Object.hasOwn(found, name);
  });
}

/**
 * Folders below a project or a home folder that belong to a known agent. A lock or journal of a cloned repository may name only these.
 * Environment variables do not count: the caller of a command that uses one names the agent.
 */
function knownFolders(): ReadonlySet<string> {
  return (folders ??= new Set([
    SHARED_FOLDER,
    '.agent/skills',
    ...Object.values<Profile>(PROFILES).flatMap(({ installFolder }) => installFolder?.project ?? []),
    ...AGENTS.flatMap(({ project, user }) => [
      project,
      ...(user === undefined ? [] : [(expandFolder(user, { home: '/', env: {} }) ?? '').slice(1)]),
    ]),
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
export function expandFolder(text: string, { home, env }: Pick<Surroundings, 'home' | 'env'>): string | undefined {
  const substitute = (_: string, name: string, other: string): string => {
    const value = env[name]?.trim() ?? '';
    return path.isAbsolute(value) ? value : other;
  };
  const plain = text.startsWith('$') ? text.replace(VARIABLE, substitute) : text;
  if (!plain.startsWith('~')) return path.normalize(plain);
  return home === undefined ? undefined : path.join(home, plain.slice(1));
}

/** The project or the home folder whose agents use a root. */
export function findAgentBase(root: string, surroundings: Surroundings): AgentBase {
  const { cwd, home } = surroundings;
  const near = baseOfRoot(root);
  const base = realPath(isKnownFolder(root, near) ? near : (projectTop({ cwd, home }) ?? home ?? near));
  return { base, scope: home !== undefined && base === realPath(home) ? 'user' : 'project', surroundings };
}

/** The project, if there is one, and the home folder. */
export function agentBases(surroundings: Surroundings): readonly AgentBase[] {
  const { cwd, home } = surroundings;
  const project = projectTop({ cwd, home });
  return [
    ...(project === undefined ? [] : [{ scope: 'project' as const, base: realPath(project), surroundings }]),
    ...(home === undefined ? [] : [{ scope: 'user' as const, base: realPath(home), surroundings }]),
  ];
}

/** The existing folders of agents, as real paths, each with the ids of its agents. */
function agentFolders(bases: readonly AgentBase[]): ReadonlyMap<string, ReadonlySet<string>> {
  const named = new Map<string, Set<string>>();
  for (const base of bases) {
    const names = nameSet(base.base);
    for (const agent of AGENTS) {
      const folder = mayExist(agent[base.scope] ?? '', names) ? agentFolder(agent, base) : undefined;
      if (folder !== undefined) named.set(folder, (named.get(folder) ?? new Set()).add(agent.id));
    }
  }
  const byFolder = new Map<string, Set<string>>();
  // Most agents share a few folders, so each is looked at once.
  for (const [folder, ids] of named) {
    if (!isDirectory(folder)) continue;
    const real = realPath(folder);
    byFolder.set(real, new Set([...(byFolder.get(real) ?? []), ...ids]));
  }
  return byFolder;
}

/** The agents of a project and of the user, by id. Nothing is read before the first call. */
interface AgentFolders {
  /** Every agent of the table. */
  readonly known: readonly string[];
  /** Agents in use here. */
  readonly used: () => ReadonlySet<string>;
  /** Agents that see the skill in a folder. */
  readonly seeing: (dir: string) => readonly string[];
  /** Agents that look in a folder. */
  readonly lookingIn: (folder: string) => readonly string[];
}

/** With `root`, only the agents of the project or home folder of that root. */
export function openAgentFolders(surroundings: Surroundings, root?: string): AgentFolders {
  const bases = (): readonly AgentBase[] =>
    root === undefined ? agentBases(surroundings) : [findAgentBase(root, surroundings)];
  let view: ReturnType<typeof readAgentFolders> | undefined;
  return {
    known: AGENTS.map(({ id }) => id),
    used: () => new Set(detectAgents(surroundings, projectTop(surroundings)).map(({ agent }) => agent.id)),
    seeing(dir) {
      const { byFolder, byTarget, realSkillPath, copiesOf } = (view ??= readAgentFolders(bases()));
      if (byFolder.size === 0) return [];
      const real = realSkillPath(dir);
      const seeing = [path.dirname(real), ...copiesOf(real)].flatMap((folder) => [...(byFolder.get(folder) ?? [])]);
      return [...new Set([...seeing, ...(byTarget.get(real) ?? [])])].toSorted();
    },
    lookingIn: (folder) => bases().flatMap((base) => listFolderAgents(folder, base)),
  };
}

function readAgentFolders(bases: readonly AgentBase[]) {
  const byFolder = agentFolders(bases);
  const byTarget = new Map<string, Set<string>>();
  for (const [folder, ids] of byFolder)
    for (const { target } of linksIn(folder)) byTarget.set(target, new Set([...(byTarget.get(target) ?? []), ...ids]));
  return { byFolder, byTarget, realSkillPath: openRealSkillPath(), copiesOf: openCopies([...byFolder.keys()]) };
}

/** Folders of agents with a copy of the skill. Reads the lock of a root once, and only if a folder of an agent may have a copy. */
function openCopies(folders: readonly string[]): (real: string) => readonly string[] {
  const locks = new Map<string, LockFile | undefined>();
  return (real) => {
    const root = path.dirname(real);
    const name = path.basename(real);
    const found = folders.filter((folder) => folder !== root && isDirectory(path.join(folder, name)));
    if (found.length === 0) return [];
    if (!locks.has(root)) locks.set(root, usableLock(root));
    const copies = locks.get(root)?.skills.get(name)?.copies ?? [];
    const places = new Set(copies.map((folder) => realPath(path.resolve(root, folder))));
    return found.filter((folder) => places.has(folder));
  };
}

function usableLock(root: string): LockFile | undefined {
  const lock = readLock(root);
  return lock === undefined || isRefusal(lock) ? undefined : lock;
}

/** `realPath` for many skills of few folders: resolves each folder and its links once. */
function openRealSkillPath(): (dir: string) => string {
  const parents = new Map<string, { readonly real: string; readonly links: ReadonlyMap<string, string> }>();
  return (dir) => {
    const parent = path.dirname(dir);
    const name = path.basename(dir);
    const known = parents.get(parent) ?? {
      real: realPath(parent),
      links: new Map(linksIn(parent).map((link) => [link.name, link.target])),
    };
    parents.set(parent, known);
    return known.links.get(name) ?? path.join(known.real, name);
  };
}

/** Links in the folders of the agents of the user, with the real paths that they lead to. */
export function userLinks({ home, ...place }: Surroundings): ReturnType<typeof linksIn> {
  if (home === undefined) return [];
  const folders = agentFolders([{ scope: 'user', base: realPath(home), surroundings: { ...place, home } }]);
  return [...folders.keys()].flatMap((folder) =>
    linksIn(folder).map(({ name, target }) => ({ name: path.join(folder, name), target })),
  );
}

/** Links in the folders of agents whose targets do not exist. */
export function brokenLinks(bases: readonly AgentBase[]) {
  return [...agentFolders(bases)].flatMap(([folder, ids]) =>
    linksIn(folder)
      .filter(({ target }) => !isPresent(target))
      .map(({ name }) => ({ path: path.join(folder, name), agents: [...ids] })),
  );
}

function linksIn(folder: string): readonly { readonly name: string; readonly target: string }[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isSymbolicLink())
      .map(({ name }) => ({ name, target: realPath(path.resolve(folder, readlinkSync(path.join(folder, name)))) }));
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

export function listFolderAgents(folder: string, base: AgentBase): readonly string[] {
  const real = realPath(folder);
  return AGENTS.filter((agent) => {
    const own = agentFolder(agent, base);
    return own !== undefined && (own === folder || realPath(own) === real);
  }).map(({ id }) => id);
}
