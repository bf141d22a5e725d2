/** What moving entries of an agent's folder to the shelf changes: entries, links that lead to them, and locks. Changes nothing itself. */
import { accessSync, constants, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { userFolders } from '#runtime';
import { collisionKey, isValidName, quoted, type Surroundings } from '#core';
import { isPresent, isSystemError, namesIn, realEntry, realPath, sha256, tryRealPath } from '#platform';
import { userLinks } from '../agents/agents.ts';
import { listLockedFolders, recordFolders } from '../agents/lock-places.ts';
import { folderInLock } from '../agents/place-targets.ts';
import { LOCK_FILE_NAME, requireLock, type LockedSkill } from '../lock/lock-file.ts';
import { isRefusal } from '../problems.ts';
import { presentFiles } from '../root/present-files.ts';
import {
  keptFolder,
  listFits,
  type FitRecord,
  type LockChange,
  type Made,
  type Move,
  type Touched,
} from './fit-record.ts';

export interface MovePlan extends Pick<FitRecord, 'moves' | 'made' | 'locks' | 'touched'> {
  /** Entries that stay where they are, and why. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
}

interface PlanOptions {
  readonly shelf: string;
  readonly agent: string;
  readonly surroundings: Surroundings;
}

/** `entries` are folders of skills, or links to them. */
export function planMoves(entries: readonly string[], options: PlanOptions): MovePlan {
  const { shelf, agent } = options;
  const roots = new Set(userFolders(options.surroundings.home).filter(isPresent).map(realPath));
  const locks = new Map(lockedRoots(options).map((root) => [root, requireLock(root)]));
  const before = new Map(locks);
  const planned = new Set(entries.map(realEntry));
  const links = userLinks(options.surroundings).filter(({ name }) => !planned.has(realEntry(name)));
  const onShelf = new Map(namesIn(shelf).map((name) => [collisionKey(name), path.join(shelf, name)]));
  const kept = keptFolder(shelf, agent);
  const moves: Move[] = [];
  const made: Made[] = [];
  const left: MovePlan['left'][number][] = [];
  const shelved = new Map<string, { readonly root: string; readonly lock: LockedSkill }>();

  const forget = (root: string, parent: string, name: string): boolean => {
    const lock = locks.get(root);
    const folder = folderInLock(root, parent);
    const place = listLockedFolders(lock?.skills.get(name)).find((one) => one.folder === folder);
    if (lock === undefined || place === undefined) return false;
    const change = { folder, kind: place.kind, add: [], remove: [name] };
    locks.set(root, recordFolders(lock, [{ change, kind: place.kind, added: [] }]));
    return true;
  };
  const keep = (from: string, target?: string): void => {
    const to = path.join(kept, String(moves.length));
    moves.push(target === undefined ? { from, to } : { from, to, target });
  };
  const moveLink = (from: string, parent: string): string | undefined => {
    const target = tryRealPath(from);
    if (target === undefined) return 'is a broken link';
    if (!roots.has(path.dirname(target)))
      return `is a link to ${quoted(target, 200)}, which Skillwright does not search`;
    forget(path.dirname(target), parent, path.basename(target));
    keep(from, target);
    return undefined;
  };
  const moveFolder = (from: string, parent: string): string | undefined => {
    const name = path.basename(from);
    const leading = links.filter(({ target }) => target === from);
    const fixed = leading.find((link) => whyNotMovable(link.name, shelf) !== undefined);
    if (fixed !== undefined) return `is linked from ${quoted(fixed.name, 200)}, which cannot be changed`;
    const other = onShelf.get(collisionKey(name));
    if (other !== undefined && (path.basename(other) !== name || !hasSameBytes(other, from)))
      return `differs from ${quoted(path.basename(other))}, which is on the shelf`;
    const isCopy = [...locks.keys()].some((root) => root !== parent && forget(root, parent, name));
    const lock = locks.get(parent);
    const locked = lock?.skills.get(name);
    if (lock !== undefined && locked !== undefined) {
      locks.set(parent, { ...lock, skills: new Map([...lock.skills].filter(([key]) => key !== name)) });
      if (other === undefined) shelved.set(name, { root: parent, lock: relocate(locked, parent, shelf) });
    }
    if (other !== undefined || isCopy) keep(from);
    else {
      moves.push({ from, to: path.join(shelf, name) });
      onShelf.set(collisionKey(name), from);
    }
    for (const link of leading) {
      keep(link.name, from);
      made.push({ path: link.name, link: path.relative(path.dirname(link.name), path.join(shelf, name)) });
    }
    return undefined;
  };
  for (const entry of planned) {
    const parent = path.dirname(entry);
    const stats = lstatSync(entry, { throwIfNoEntry: false });
    const reason =
      whyNotMovable(entry, shelf) ??
      (stats?.isSymbolicLink() === true ? moveLink(entry, parent) : moveFolder(entry, parent));
    if (reason !== undefined) left.push({ path: entry, reason });
  }

  const changes = [...before].flatMap(([root, { skills }]) =>
    [...skills.values()].flatMap((skill): readonly LockChange[] => {
      const after = locks.get(root)?.skills.get(skill.name);
      if (after === skill) return [];
      const moved = shelved.get(skill.name);
      return [{ root, before: skill, after, ...(moved?.root === root ? { shelved: moved.lock } : {}) }];
    }),
  );
  const now = touchedBy([...moves, ...made], changes);
  // Another fit changed some of them before: fits are undone in any order, and the last undo brings back what was before both.
  const places = new Set(now.map((one) => one.path));
  const known = listFits(shelf).flatMap((fit) => fit.touched.filter((one) => places.has(one.path)));
  const touched = [...now, ...known];
  return { moves, made, locks: changes, left, touched };
}

/** The user's roots with a lock, as real paths. */
export function lockedRoots({ surroundings }: Pick<PlanOptions, 'surroundings'>): readonly string[] {
  const roots = userFolders(surroundings.home).filter((root) => isPresent(path.join(root, LOCK_FILE_NAME)));
  return [...new Set(roots.map(realPath))];
}

function whyNotMovable(entry: string, shelf: string): string | undefined {
  const stats = lstatSync(entry, { throwIfNoEntry: false });
  if (stats === undefined) return 'no longer exists';
  if (!isValidName(path.basename(entry))) return 'has a name that skills cannot have';
  const uid = process.getuid?.();
  if (uid !== undefined && uid !== 0 && stats.uid !== uid) return 'belongs to another user';
  if (!isWritable(path.dirname(entry)) || (stats.isDirectory() && !isWritable(entry))) return 'is read-only';
  return stats.dev === deviceFor(shelf) ? undefined : 'is on another file system than the shelf';
}

function deviceFor(folder: string): number {
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats === undefined ? deviceFor(path.dirname(folder)) : stats.dev;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

function hasSameBytes(one: string, other: string): boolean {
  const [a, b] = [one, other].map((folder) => presentFiles(folder, { withoutLooks: true }));
  if (a === undefined || b === undefined || isRefusal(a) || isRefusal(b)) return false;
  return a.digest === b.digest && a.leftOut.length + b.leftOut.length === 0;
}

/** The lock entry as another root has it: folders are relative to the root. */
function relocate(skill: LockedSkill, root: string, shelf: string): LockedSkill {
  const move = (folder: string): string => folderInLock(shelf, path.resolve(root, folder));
  const { links, copies, copyDigests } = skill;
  return {
    ...skill,
    links: links?.map(move),
    copies: copies?.map(move),
    copyDigests:
      copyDigests &&
      Object.fromEntries(Object.entries(copyDigests).map(([folder, digest]) => [move(folder), digest] as const)),
  };
}

function touchedBy(entries: readonly (Move | Made)[], locks: readonly LockChange[]): readonly Touched[] {
  const roots = locks.map(({ root }) => root);
  const parents = entries.map((entry) => path.dirname('from' in entry ? entry.from : entry.path));
  const lockFiles = roots.map((root) => path.join(root, LOCK_FILE_NAME));
  // Files before their folders: writing a file changes the time of its folder.
  return [...new Set([...lockFiles, ...parents, ...roots])].map(lookAt);
}

export function lookAt(place: string): Touched {
  const stats = statSync(place);
  const content = stats.isDirectory() ? readdirSync(place).toSorted().join('\0') : readFileSync(place);
  return { path: place, mtimeMs: stats.mtimeMs, content: sha256(content) };
}
