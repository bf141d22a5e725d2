/** The folders that an install or an uninstall with `--agent` or a repeated `--to` changes, and what would happen in each. */
import { lstatSync } from 'node:fs';
import path from 'node:path';

import { projectTop } from '#runtime';
import { invalidInput, nearest, quoted, type Surroundings } from '#core';
import { isInside, isPresent, realPath } from '#platform';
import { isRefusal, packRefusal, type PackRefusal } from '../problems.ts';
import { AGENTS, type Agent } from './agent-table.ts';
import { agentFolder, detectAgents, findAgentBase } from './agents.ts';
import { listLockedFolders } from './lock-places.ts';
import type { LockFile } from '../lock/lock-file.ts';
import { resolveTargetFolder, type TargetFolder } from './place-folder.ts';
import { isCopyOf } from './copies.ts';
import { isLinkTo, type FolderChange, type PlacementKind } from './place-skills.ts';

/** A folder that should show the skills of a root. */
export interface AgentTarget extends TargetFolder {
  /** Ids of the agents that look there; empty for a folder that the user named. */
  readonly agents: readonly string[];
  /** The agents read the root itself. */
  readonly isRoot: boolean;
}

export interface TargetOptions {
  readonly root: string;
  readonly surroundings: Surroundings;
}

/** One target per folder. Refuses a folder that contains the root. */
export function placeTargets(
  agents: readonly Agent[],
  folders: readonly string[],
  { root, surroundings }: TargetOptions,
): readonly AgentTarget[] | PackRefusal {
  const real = realFolder(root);
  const base = findAgentBase(root, surroundings);
  const targets = new Map<string, AgentTarget>();
  for (const agent of agents) {
    const folder = agentFolder(agent, base);
    if (folder === undefined && agent.user === undefined)
      return packRefusal('install/agent', `${agent.name} reads skills of projects only`, {
        hint: 'install into a project, or leave this agent out',
      });
    if (folder === undefined)
      return packRefusal('install/agent', `${agent.name} needs a home folder, which is not set`, {
        hint: 'set HOME, or leave this agent out',
      });
    const known = targets.get(folder);
    const within = isInside(folder, base.base) ? base.base : realFolder(path.dirname(folder));
    targets.set(folder, {
      folder: isInside(folder, base.base) ? folder : path.join(within, path.basename(folder)),
      within,
      agents: [...(known?.agents ?? []), agent.id],
      isRoot: realFolder(folder) === real,
    });
  }
  for (const named of folders) {
    const folder = realFolder(path.resolve(surroundings.cwd, named));
    const target = { folder, within: path.parse(folder).root, agents: [], isRoot: folder === real };
    if (!targets.has(folder)) targets.set(folder, target);
  }
  const above = [...targets.values()].find(({ folder, isRoot }) => !isRoot && isInside(real, folder));
  if (above === undefined) return [...targets.values()];
  return packRefusal('install/agent', `${quoted(above.folder, 200)} contains the root ${quoted(real, 200)}`, {
    hint: 'links would lead back to themselves: choose another folder, or install into it with a single --to',
  });
}

/** The path with the links of its existing part resolved. */
function realFolder(folder: string): string {
  const real = realPath(folder);
  if (real !== folder || path.dirname(folder) === folder) return real;
  return path.join(realFolder(path.dirname(folder)), path.basename(folder));
}

/** What a commit has to change so that the targets show the skills, or no longer show them. */
export function requestChanges(
  targets: readonly AgentTarget[],
  names: { readonly add?: readonly string[]; readonly remove?: readonly string[] },
  { root, kind, takeOver }: Pick<PlanOptions, 'root' | 'kind'> & Partial<PlanOptions>,
): readonly FolderChange[] {
  return targets
    .filter(({ isRoot }) => !isRoot)
    .map(({ folder, within }) => ({
      folder: folderInLock(realFolder(root), folder),
      kind,
      add: names.add ?? [],
      remove: names.remove ?? [],
      within,
      takeOver,
    }));
}

/** A folder as the lock records it. Both paths are real. */
export function folderInLock(root: string, folder: string): string {
  return path.relative(root, folder).split(path.sep).join('/');
}

/** Targets in whose folders another installer already put one of the skills. */
export function targetsInUse(names: readonly string[], options: TargetOptions): readonly AgentTarget[] {
  const targets = placeTargets(withFolder(AGENTS, options), [], options);
  if (isRefusal(targets)) return [];
  return targets.filter(({ folder, isRoot }) => !isRoot && names.some((name) => isPresent(path.join(folder, name))));
}

/** A target as the plan of an install shows it. */
export interface PlannedTarget extends Pick<AgentTarget, 'agents' | 'folder' | 'isRoot'> {
  readonly kind: PlacementKind;
  /** Skills that become visible, and those that are already. */
  readonly add: readonly string[];
  readonly same: readonly string[];
  /** Entries of others that stay as they are. */
  readonly taken: readonly string[];
  /** Why the folder cannot be used at all. */
  readonly problem?: string;
}

export interface PlanOptions {
  readonly root: string;
  readonly kind: PlacementKind;
  readonly lock: LockFile;
  readonly takeOver: boolean;
}

/** Looks at a target without changing it. */
export function planTarget(
  target: AgentTarget,
  names: readonly string[],
  { root, kind, lock, takeOver }: PlanOptions,
): PlannedTarget {
  const { agents, folder, isRoot } = target;
  const plan = { agents, folder, isRoot, kind, add: [], same: names, taken: [] };
  if (isRoot) return plan;
  const resolved = resolveTargetFolder(target, realFolder(root));
  if (resolved.type === 'root') return { ...plan, isRoot: true };
  if (resolved.type === 'unusable') return { ...plan, same: [], problem: resolved.reason };
  const { real } = resolved;
  const inLock = folderInLock(realFolder(root), folder);
  const isRecorded = (name: string, as: PlacementKind): boolean =>
    listLockedFolders(lock.skills.get(name)).some((place) => place.folder === inLock && place.kind === as);
  const isUnchangedCopy = (name: string, place: string): boolean => {
    const locked = kind === 'link' && isRecorded(name, 'copy') ? lock.skills.get(name) : undefined;
    return locked !== undefined && isCopyOf(place, locked, inLock);
  };
  const add: string[] = [];
  const same: string[] = [];
  const occupied: string[] = [];
  for (const name of names) {
    const place = path.join(real, name);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats === undefined || (takeOver && stats.isDirectory())) add.push(name);
    else if (isRecorded(name, kind)) same.push(name);
    // A link that another tool made is taken over. A link becomes a copy, and an unchanged copy a link.
    else if (isUnchangedCopy(name, place) || isLinkTo(place, { real, target: path.join(realFolder(root), name) }))
      add.push(name);
    else occupied.push(name);
  }
  return { ...plan, add, same, taken: occupied };
}

/** The value of `--agent` that stands for every detected agent. */
const ALL_AGENTS = 'all';

export interface TargetChoice {
  /** Ids of agents; `all` stands for the detected ones. */
  readonly agents?: readonly string[];
  readonly folders?: readonly string[];
}

/** The folders of agents by id, and further folders. Throws `input/invalid` for an unknown agent. */
export function findTargets(
  { root, surroundings }: TargetOptions,
  { agents = [], folders = [] }: TargetChoice,
): readonly AgentTarget[] | PackRefusal {
  const chosen = agents.flatMap((id) =>
    id === ALL_AGENTS ? someAgents(usedAgents({ root, surroundings })) : findAgent(id),
  );
  return placeTargets([...new Set(chosen)], folders, { root, surroundings });
}

/** The folders of the agents in use here. */
export function detectedTargets({ root, surroundings }: TargetOptions): readonly AgentTarget[] {
  const targets = placeTargets(usedAgents({ root, surroundings }), [], { root, surroundings });
  return isRefusal(targets) ? [] : targets;
}

/** Those that read skills where the root is. */
function usedAgents({ root, surroundings }: TargetOptions): readonly Agent[] {
  const detected = detectAgents(surroundings, projectTop(surroundings)).map(({ agent }) => agent);
  return withFolder(detected, { root, surroundings });
}

function withFolder(agents: readonly Agent[], { root, surroundings }: TargetOptions): readonly Agent[] {
  const { scope } = findAgentBase(root, surroundings);
  return agents.filter((agent) => agent[scope] !== undefined);
}

function someAgents(detected: readonly Agent[]): readonly Agent[] {
  if (detected.length > 0) return detected;
  const hint = `name one: --agent claude-code; ${KNOWN}`;
  throw invalidInput('no agent was detected for --agent all', 'the id of an agent', hint);
}

function findAgent(id: string): Agent {
  const known = AGENTS.find((agent) => agent.id === id);
  if (known !== undefined) return known;
  const near = nearest(
    id,
    AGENTS.map((agent) => agent.id),
  );
  const hint = near.length === 0 ? KNOWN : `did you mean ${near.join(', ')}? ${KNOWN}`;
  throw invalidInput(`unknown agent: ${quoted(id)}`, 'the id of an agent', hint);
}

const KNOWN = `known agents: ${AGENTS.map((agent) => agent.id).join(', ')}`;
