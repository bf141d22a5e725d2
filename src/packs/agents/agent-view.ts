/** Which agents see which skills. Writes nothing. */
import { readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';

import type { Surroundings } from '#core';
import { isDirectory, isPresent, realPath, quietly } from '#platform';
import { projectTop } from '#runtime';
import type { LockFile } from '../lock/lock.ts';
import { readLock } from '../lock/lock-file.ts';
import { isRefusal } from '../problems.ts';
import { AGENTS } from './agent-table.ts';
import { agentFolder, baseOfRoot, isKnownFolder, mayExist, nameSet, type AgentBase } from './agents.ts';

/** The project or the home folder whose agents use a root. */
export function findAgentBase(root: string, surroundings: Surroundings): AgentBase {
  const { cwd, home } = surroundings;
  const near = baseOfRoot(root);
  const base = realPath(isKnownFolder(root, near) ? near : (projectTop({ cwd, home }) ?? home ?? near));
  return { base, scope: home !== undefined && base === realPath(home) ? 'user' : 'project', surroundings };
}

/** The bases of a command: the project, if there is one, and the home folder. */
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
      const folder = mayExist(agent[base.scope], names) ? agentFolder(agent, base) : undefined;
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

/** Returns a function that lists the ids of the agents that see the skill in a folder. Nothing is read before its first call. */
export function openAgentView(bases: () => readonly AgentBase[]): (dir: string) => readonly string[] {
  let view: AgentFolders | undefined;
  return (dir) => {
    const { byFolder, byTarget, realSkillPath, copiesOf } = (view ??= readAgentFolders(bases()));
    if (byFolder.size === 0) return [];
    const real = realSkillPath(dir);
    const seeing = [path.dirname(real), ...copiesOf(real)].flatMap((folder) => [...(byFolder.get(folder) ?? [])]);
    return [...new Set([...seeing, ...(byTarget.get(real) ?? [])])].toSorted();
  };
}

interface AgentFolders {
  readonly byFolder: ReadonlyMap<string, ReadonlySet<string>>;
  readonly byTarget: ReadonlyMap<string, ReadonlySet<string>>;
  readonly realSkillPath: (dir: string) => string;
  /** Folders of agents with a copy of the skill, as its lock records. */
  readonly copiesOf: (real: string) => readonly string[];
}

function readAgentFolders(bases: readonly AgentBase[]): AgentFolders {
  const byFolder = agentFolders(bases);
  const byTarget = new Map<string, Set<string>>();
  for (const [folder, ids] of byFolder)
    for (const { target } of linksIn(folder)) {
      const all = byTarget.get(target) ?? new Set();
      byTarget.set(target, all);
      for (const id of ids) all.add(id);
    }
  return { byFolder, byTarget, realSkillPath: openRealSkillPath(), copiesOf: openCopies([...byFolder.keys()]) };
}

/** Reads the lock of a root once, and only if a folder of an agent may have a copy. */
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

/** Links in the folders of agents whose targets do not exist. */
export function brokenLinks(
  bases: readonly AgentBase[],
): readonly { readonly path: string; readonly agents: readonly string[] }[] {
  return [...agentFolders(bases)].flatMap(([folder, ids]) =>
    linksIn(folder)
      .filter(({ target }) => !isPresent(target))
      .map(({ name }) => ({ path: path.join(folder, name), agents: [...ids] })),
  );
}

function linksIn(folder: string): readonly { readonly name: string; readonly target: string }[] {
  return quietly(
    () =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isSymbolicLink())
        .map(({ name }) => ({ name, target: realPath(path.resolve(folder, readlinkSync(path.join(folder, name)))) })),
    [],
  );
}

/** Agents that look in a folder, by id. */
export function listFolderAgents(folder: string, base: AgentBase): readonly string[] {
  const real = realPath(folder);
  return AGENTS.filter((agent) => {
    const own = agentFolder(agent, base);
    return own !== undefined && (own === folder || realPath(own) === real);
  }).map(({ id }) => id);
}
