/** Which folders of agents a change of a root affects, and what the lock records about them afterwards. */
import { lstatSync } from 'node:fs';
import path from 'node:path';

import { projectTop } from '#runtime';
import { compareText, type Surroundings } from '#core';
import { isDirectory, isPresent, realPath } from '#platform';
import { readLock, type LockFile, type LockedSkill } from '../lock/lock-file.ts';
import { isLinkTo, type FolderChange, type PlacementKind, type FolderOutcome } from './place-skills.ts';
import { agentBases, brokenLinks, detectAgents, listFolderAgents, type AgentBase } from './agents.ts';
import { SHARED_FOLDER } from './agent-table.ts';
import { isRefusal } from '../problems.ts';
import { isCopyOf } from './copies.ts';

interface SkillChange {
  readonly type: 'put' | 'remove';
  readonly name: string;
  readonly lock?: LockedSkill;
}

/** Adds to the requested changes what follows from the lock: links of removed skills go, and copies of replaced skills are renewed. */
export function planFolderChanges(
  lock: LockFile,
  changes: readonly SkillChange[],
  requested: readonly FolderChange[] = [],
): readonly FolderChange[] {
  const followed = changes.flatMap((change): readonly FolderChange[] => {
    const { name } = change;
    const before = lock.skills.get(name);
    if (change.type === 'remove')
      return listLockedFolders(before).map((place) => ({ ...place, add: [], remove: [name] }));
    // A restored skill gets back the links that it had. The links of a replaced skill still lead to it.
    const places =
      before === undefined
        ? listLockedFolders(change.lock)
        : listLockedFolders(before).filter(({ kind }) => kind === 'copy');
    return places.map((place) => ({ ...place, add: [name], remove: [] }));
  });
  return mergeChanges([...followed, ...requested]);
}

export function listLockedFolders(skill: LockedSkill | undefined): readonly Pick<FolderChange, 'folder' | 'kind'>[] {
  return [
    ...(skill?.links ?? []).map((folder) => ({ folder, kind: 'link' as const })),
    ...(skill?.copies ?? []).map((folder) => ({ folder, kind: 'copy' as const })),
  ];
}

/** One change per folder, kind and permission, so that each folder is opened once. */
function mergeChanges(changes: readonly FolderChange[]): readonly FolderChange[] {
  const groups = new Map<string, { first: FolderChange; add: Set<string>; remove: Set<string> }>();
  for (const change of changes) {
    const key = JSON.stringify([change.folder, change.kind, change.within]);
    const group = groups.get(key) ?? { first: change, add: new Set(), remove: new Set() };
    groups.set(key, group);
    for (const name of change.add) group.add.add(name);
    for (const name of change.remove) group.remove.add(name);
  }
  return [...groups.values()].map(({ first, add, remove }) => ({ ...first, add: [...add], remove: [...remove] }));
}

/** The entry of a skill that replaces `before`: it keeps the places. A restored skill gets them back when they are made. */
export function keepLockedFolders(lock: LockedSkill, before: LockedSkill | undefined): LockedSkill {
  return { ...lock, links: before?.links, copies: before?.copies, copyDigests: before?.copyDigests };
}

/** Records which folders have a link or a copy now. */
export function recordFolders(
  lock: LockFile,
  outcomes: readonly (Pick<FolderOutcome, 'change' | 'kind' | 'added'> & Partial<FolderOutcome>)[],
): LockFile {
  if (outcomes.length === 0) return lock;
  const skills = new Map(lock.skills);
  for (const { change, kind, added, digests } of outcomes) {
    for (const name of added) record(skills, name, { folder: change.folder, kind, digest: digests?.get(name) });
    // What could not be removed is not ours any more.
    for (const name of change.remove) record(skills, name, { folder: change.folder });
  }
  return { ...lock, skills };
}

function record(
  skills: Map<string, LockedSkill>,
  name: string,
  { folder, kind, digest }: { readonly folder: string; readonly kind?: PlacementKind; readonly digest?: string },
): void {
  const skill = skills.get(name);
  if (skill === undefined) return;
  const { links = [], copies = [], copyDigests = {} } = skill;
  const update = (list: readonly string[], isIn: boolean): readonly string[] | undefined => {
    const others = list.filter((one) => one !== folder);
    const next = isIn ? [...others, folder].toSorted(compareText) : others;
    return next.length === 0 ? undefined : next;
  };
  const digests = Object.entries(copyDigests).filter(([one]) => one !== folder);
  if (digest !== undefined && digest !== skill.digest) digests.push([folder, digest]);
  skills.set(name, {
    ...skill,
    links: update(links, kind === 'link'),
    copies: update(copies, kind === 'copy'),
    copyDigests:
      digests.length === 0 ? undefined : Object.fromEntries(digests.toSorted(([a], [b]) => compareText(a, b))),
  });
}

/** `missing`: no entry. `changed`: an entry that is not our link or copy. `edited`: a copy with other bytes. */
export interface CheckedCopy {
  readonly name: string;
  readonly kind: PlacementKind;
  /** Absolute path of the link or copy. */
  readonly path: string;
  readonly agents: readonly string[];
  readonly status: 'same' | 'missing' | 'changed' | 'edited' | 'broken';
}

export function checkCopies(skill: LockedSkill, root: string, base: AgentBase): readonly CheckedCopy[] {
  const places = listLockedFolders(skill);
  if (places.length === 0) return [];
  const real = realPath(root);
  return places.map(({ folder, kind }) => {
    const absolute = path.resolve(real, folder);
    const place = path.join(absolute, skill.name);
    return {
      name: skill.name,
      kind,
      path: place,
      agents: listFolderAgents(absolute, base),
      status: checkStatus(place, { folder, kind }, skill, real),
    };
  });
}

function checkStatus(
  place: string,
  { folder, kind }: { readonly folder: string; readonly kind: PlacementKind },
  skill: LockedSkill,
  root: string,
): CheckedCopy['status'] {
  if (!isPresent(place)) return 'missing';
  if (kind === 'link') {
    const target = path.join(root, skill.name);
    if (!isLinkTo(place, { real: realPath(path.dirname(place)), target })) return 'changed';
    return isDirectory(target) ? 'same' : 'broken';
  }
  if (!lstatSync(place).isDirectory()) return 'changed';
  return isCopyOf(place, skill, folder) ? 'same' : 'edited';
}

/** The agents in use here, and the links and copies of installed skills that are not as they should be. */
export function checkAgentFolders(surroundings: Surroundings) {
  const bases = agentBases(surroundings);
  const broken = brokenLinks(bases);
  const known = new Set(broken.map((link) => link.path));
  const changed = bases.flatMap((base) =>
    ROOTS.flatMap((folder) => checkRoot(path.join(base.base, folder), base)).map((copy) => ({
      ...copy,
      scope: base.scope,
    })),
  );
  return {
    detected: detectAgents(surroundings, projectTop(surroundings)),
    broken,
    changed: changed.filter((copy) => copy.status !== 'same' && !known.has(copy.path)),
  };
}

const ROOTS = [SHARED_FOLDER, '.agent/skills'];

/** Other checks report an unreadable lock. */
function checkRoot(root: string, base: AgentBase): readonly CheckedCopy[] {
  const lock = readLock(root);
  if (lock === undefined || isRefusal(lock)) return [];
  return [...lock.skills.values()].flatMap((skill) => checkCopies(skill, root, base));
}
