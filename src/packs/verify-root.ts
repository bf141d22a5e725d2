/** Compares installed skills with their lock and reports every changed, missing and added file. Writes nothing. */
import path from 'node:path';

import { listParentFolders, compareText, quoted, type Surroundings } from '#core';
import { FileHasher, isDirectory, isPresent, namesIn } from '#platform';
import { findAgentBase } from './agents/agents.ts';
import { checkCopies, type CheckedCopy } from './agents/lock-places.ts';
import { findDrift, readLock, type Drift, type LockedFile, type LockedSkill } from './lock/lock-file.ts';
import { accepted, isRefusal, packRefusal, type PackRefusal } from './problems.ts';
import { olderFolder, type PackSettings } from './pack-settings.ts';
import { completeChange, type RootOptions } from './root/open-root.ts';
import { presentBuffer, presentFiles, presentTree, readFiles, type PresentTree } from './root/present-files.ts';
import { SKILL_FILE_NAME } from './sources/skill-folders.ts';

/**
 * `drift`: files differ. `missing`: the folder does not exist. `unreadable`: the folder could not be compared. `not-locked`: the skill
 * was put there by hand, so there is nothing to compare its digest with.
 */
export interface VerifiedSkill {
  readonly name: string;
  readonly status: 'same' | 'drift' | 'missing' | 'unreadable' | 'not-locked';
  /** Absent for `not-locked`. */
  readonly locked?: LockedSkill;
  /** Digest of the installed files. */
  readonly digest?: string;
  /** Each file with its hash; absent if the folder cannot be read. */
  readonly files?: Readonly<Record<string, LockedFile>>;
  readonly drift: Drift;
  /** Why the folder could not be compared; empty otherwise. */
  readonly reason: string;
  /** Links and copies in the folders of agents. */
  readonly places?: readonly CheckedCopy[];
}

export interface VerifiedRoot {
  readonly type: 'verified';
  readonly root: string;
  /** Sorted by name. */
  readonly skills: readonly VerifiedSkill[];
  readonly isIntact: boolean;
}

export interface VerifyRootOptions {
  /** Names of skills (default: all in the lock). */
  readonly names?: readonly string[];
  /** To name the agents that use a folder. */
  readonly surroundings?: Surroundings;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

const NO_DRIFT: Drift = { changed: [], missing: [], added: [] };
/** Skills to verify before yielding to the event loop, so that an abort takes effect. */
const SLICE = 256;

/** Compares every installed skill with the lock. */
export async function verifyRoot(
  root: string,
  { names = [], surroundings = { cwd: root, home: undefined, env: {} }, signal, onProgress }: VerifyRootOptions = {},
): Promise<VerifiedRoot | PackRefusal> {
  const lock = readLock(root);
  if (lock !== undefined && isRefusal(lock)) return lock;
  const locks = lock?.skills ?? new Map<string, LockedSkill>();
  const isMeant = (name: string): boolean => names.length === 0 || names.includes(name);
  const byHand = skillFoldersIn(root, (name) => !locks.has(name));
  if (lock === undefined && byHand.length === 0)
    return packRefusal('lock/missing', `${quoted(root, 200)} has no skills.lock.json and no skills`);
  const unknown = names.find((name) => !locks.has(name) && !byHand.includes(name));
  if (unknown !== undefined)
    return packRefusal('install/not-installed', `there is no skill ${quoted(unknown)} in ${quoted(root, 200)}`);
  const meant = [...locks.values()].filter(({ name }) => isMeant(name));
  const buffer = presentBuffer();
  const hasher = new FileHasher(buffer);
  const base = findAgentBase(root, surroundings);
  const skills: VerifiedSkill[] = [];
  for (let from = 0; from < meant.length; from += SLICE) {
    onProgress?.(from, meant.length);
    await new Promise(setImmediate);
    signal?.throwIfAborted();
    const read = meant.slice(from, from + SLICE).map((locked) => {
      const dir = `${root}/${locked.name}`;
      return { dir, locked, tree: readFiles(dir, hasher, { withoutLooks: true }) };
    });
    hasher.finish();
    for (const { dir, locked, tree } of read) {
      const verified = compareTree(dir, locked, isRefusal(tree) ? tree : presentTree(tree, locked.files));
      const places = checkCopies(locked, root, base);
      skills.push(places.length === 0 ? verified : { ...verified, places });
    }
  }
  for (const name of byHand) if (isMeant(name)) skills.push(unlocked(root, name, buffer));
  skills.sort((a, b) => compareText(a.name, b.name));
  return { type: 'verified', root, skills, isIntact: skills.every(isIntact) };
}

interface VerifyInstalledOptions extends RootOptions, Pick<VerifyRootOptions, 'names' | 'onProgress'> {
  readonly settings: PackSettings;
  /** Also verifies the older folder beside the root, if there is one. */
  readonly withOlder: boolean;
}

/** `verifyRoot` after completing interrupted changes, also for the older folder whose skills are used. Throws a refusal. */
export async function verifyInstalled(options: VerifyInstalledOptions): Promise<Omit<VerifiedRoot, 'type'>> {
  const { settings, names = [], withOlder, signal, onNote, onProgress } = options;
  const { root, surroundings } = settings;
  const older = withOlder ? olderFolder(root) : undefined;
  for (const folder of [root, ...(older === undefined ? [] : [older])])
    await completeChange({ settings: { root: folder }, signal, onNote });
  const inOlder = names.filter(
    (name) => older !== undefined && isPresent(path.join(older, name)) && !isPresent(path.join(root, name)),
  );
  const others = names.filter((name) => !inOlder.includes(name));
  const isAll = names.length === 0;
  const found = [
    ...(isAll || others.length > 0
      ? [await verifyRoot(root, { names: others, surroundings, signal, onProgress })]
      : []),
    ...(older !== undefined && (isAll || inOlder.length > 0)
      ? [await verifyRoot(older, { names: inOlder, surroundings, signal, onProgress })]
      : []),
  ];
  // One of two folders may have no skills yet.
  const refusals = found.filter(isRefusal);
  accepted(refusals.find(({ code }) => code !== 'lock/missing' || refusals.length === found.length));
  const roots = found.filter((one) => !isRefusal(one));
  return { root, skills: roots.flatMap((one) => one.skills), isIntact: roots.every((one) => one.isIntact) };
}

/** What makes a folder a skill, or a plugin in the root of plugins. */
const UNIT_FILES = [SKILL_FILE_NAME, 'plugin.json'];

function skillFoldersIn(root: string, isMeant: (name: string) => boolean): readonly string[] {
  if (!isDirectory(root)) return [];
  return namesIn(root).filter(
    (name) =>
      !name.startsWith('.') && isMeant(name) && UNIT_FILES.some((file) => isPresent(path.join(root, name, file))),
  );
}

function unlocked(root: string, name: string, buffer: Buffer): VerifiedSkill {
  const present = presentFiles(path.join(root, name), { buffer, withoutLooks: true });
  if (isRefusal(present)) return { name, status: 'unreadable', drift: NO_DRIFT, reason: present.message };
  const { digest, files } = present;
  return { name, status: 'not-locked', digest, files, drift: NO_DRIFT, reason: '' };
}

function isIntact({ status, places = [] }: VerifiedSkill): boolean {
  return (status === 'same' || status === 'not-locked') && places.every((place) => place.status === 'same');
}

export function verifySkill(dir: string, locked: LockedSkill): VerifiedSkill {
  return compareTree(dir, locked, presentFiles(dir, { withoutLooks: true, locked: locked.files }));
}

function compareTree(dir: string, locked: LockedSkill, tree: PresentTree | PackRefusal): VerifiedSkill {
  const { name } = locked;
  if (isRefusal(tree)) {
    const status = isDirectory(dir) ? 'unreadable' : 'missing';
    return { name, status, locked, drift: NO_DRIFT, reason: tree.message };
  }
  const { digest, files, folders } = tree;
  if (digest === locked.digest) return { name, status: 'same', locked, digest, files, drift: NO_DRIFT, reason: '' };
  const drift = findDrift(locked.files, files);
  const isNamed = drift.changed.length + drift.missing.length + drift.added.length > 0;
  return {
    name,
    status: 'drift',
    locked,
    digest,
    files,
    drift,
    reason: isNamed ? '' : unnamedDifference(folders, files),
  };
}

/** The lock lists no folders, so a missing empty folder looks like a digest that was changed. */
function unnamedDifference(folders: readonly string[], files: Readonly<Record<string, LockedFile>>): string {
  const used = new Set(Object.keys(files).flatMap(listParentFolders));
  return folders.some((folder) => !used.has(folder))
    ? 'only empty folders differ'
    : 'its files match the lock, but not the digest in the lock: an empty folder is missing, or the lock was edited';
}
