/** Turns requested changes of a root into journal steps. Validates everything before it writes anything. */
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { collisionKey, isValidName, problemError, quoted } from '#core';
import { makeFolders } from '#platform';
import { lockedSkillProblem, type LockFile, type LockedSkill } from '../lock/lock-file.ts';
import { orRefusal, refused, type PackRefusal } from '../problems.ts';
import type { Step } from './journal.ts';
import { prepareBackup, type BackupKind } from './skill-backups.ts';
import type { TreeLooks } from './present-files.ts';
import { identityAt, displayPath, skillPath, statePath, type RootHandle } from './root-paths.ts';

/** `backup` moves the existing folder to `backups`. `replace` moves an installed version to `previous` and anything else to the trash. */
export type Existing = 'refuse' | 'backup' | 'replace';

export function mayReplace(existing: Existing): boolean {
  return existing === 'backup' || existing === 'replace';
}

export interface PutChange {
  readonly type: 'put';
  readonly name: string;
  /** Absolute path inside a folder from `staging()`. It is moved, not copied. */
  readonly from: string;
  readonly lock: LockedSkill;
  readonly existing: Existing;
  /**
   * Stat fingerprint of the staged folder at the time `lock` was made. If present, the folder only needs to have the same fingerprint;
   * otherwise every file is hashed again.
   */
  readonly looks?: TreeLooks;
  /** Absolute path of the files as the source has them, which `lock` describes (default: `from`). A merge result differs from them. */
  readonly original?: string;
}

interface RemoveChange {
  readonly type: 'remove';
  readonly name: string;
  readonly to: 'trash' | 'nowhere';
  /** Also deletes a skill that `install` did not create, and removes a folder or link that is not a skill. */
  readonly force?: boolean;
}

export type RootChange = PutChange | RemoveChange;

/** The internal form. A restored skill comes from the state folder and may have no lock entry. */
export type PlannedChange =
  | {
      readonly type: 'put';
      readonly name: string;
      /** Relative to the state folder. */
      readonly from: string;
      readonly lock?: LockedSkill;
      readonly existing: Existing;
      /** The commit compares the folder with its fingerprint, which also shows whether it exists. */
      readonly isFingerprinted?: boolean;
    }
  | RemoveChange;

/** Throws a refusal if a change is not possible. Writes nothing. */
export function refuseChanges(handle: RootHandle, lock: LockFile, changes: readonly PlannedChange[]): void {
  for (const refusal of changeRefusals(handle, lock, changes).values()) throw problemError(refusal);
}

/** The changes that are not possible, by name. Of several names that are the same folder on some systems, the first is possible. */
export function changeRefusals(
  handle: RootHandle,
  lock: LockFile,
  changes: readonly PlannedChange[],
): ReadonlyMap<string, PackRefusal> {
  const spellings = spellingsIn(handle);
  const seen = new Map<string, string>();
  const refusals = new Map<string, PackRefusal>();
  for (const change of changes) {
    const refusal = orRefusal(() => {
      refuseChange(handle, lock, change, spellings);
      refuseRepeated(change, seen);
      return undefined;
    });
    if (refusal !== undefined) refusals.set(change.name, refusal);
  }
  return refusals;
}

function refuseChange(
  handle: RootHandle,
  lock: LockFile,
  change: PlannedChange,
  spellings: ReadonlyMap<string, string>,
): void {
  if (!isValidName(change.name))
    throw change.type === 'put'
      ? refused('pack/name', `${quoted(change.name)} is not a valid skill name`)
      : refused('install/not-installed', `${quoted(change.name)} is not installed in ${quoted(handle.path, 200)}`);
  const other = spellings.get(collisionKey(change.name));
  if (other !== undefined && other !== change.name)
    throw refused(
      'install/case',
      `${quoted(change.name)} conflicts with ${quoted(other)} in ${quoted(handle.path, 200)}`,
    );
  if (change.type === 'remove') refuseRemove(handle, lock, change);
  else refusePut(handle, lock, change, other !== undefined);
}

/** Creates the backup folders. Throws system errors. */
export function planSteps(
  handle: RootHandle,
  lock: LockFile,
  { changes, staging, at }: { readonly changes: readonly PlannedChange[]; readonly staging: string; readonly at: Date },
): readonly Step[] {
  const present = new Set(readdirSync(handle.place));
  return changes.map((change): Step => {
    const { name } = change;
    const isPresent = present.has(name);
    const entry = lock.skills.get(name);
    const keep = (part: BackupKind): string => prepareBackup(handle, { part, name, at, lock: entry });
    if (change.type === 'remove') {
      if (!isPresent) return { type: 'remove', name };
      return {
        type: 'remove',
        name,
        to: change.to === 'trash' ? keep('trash') : pathForRemoval(handle, staging, name),
      };
    }
    const from = statePath(handle, change.from);
    return {
      type: 'put',
      name,
      from: change.from,
      identity: identityAt(from) ?? '',
      ...(isPresent ? { old: keep(partFor(handle, change, entry)) } : {}),
      lock: change.lock,
    };
  });
}

function partFor(
  handle: RootHandle,
  { name, existing }: PlannedChange & { type: 'put' },
  entry?: LockedSkill,
): BackupKind {
  if (existing === 'backup') return 'backups';
  const isOurs = entry !== undefined && lstatSync(skillPath(handle, name)).isDirectory();
  return isOurs ? 'previous' : 'trash';
}

function pathForRemoval(handle: RootHandle, staging: string, name: string): string {
  makeFolders(statePath(handle, `${staging}/removed`), 0o700);
  return `${staging}/removed/${name}`;
}

function refusePut(
  handle: RootHandle,
  lock: LockFile,
  change: PlannedChange & { type: 'put' },
  isListed: boolean,
): void {
  const { name, existing } = change;
  if (change.lock !== undefined && change.lock.name !== name)
    throw refused('pack/name', `the entry for ${quoted(name)} has the name ${quoted(change.lock.name)}`);
  const problem = change.lock === undefined ? undefined : lockedSkillProblem(change.lock);
  if (problem !== undefined) throw problemError(problem);
  if (change.isFingerprinted !== true) refuseMissing(handle, change);
  if (mayReplace(existing) || !isListed) return;
  const stats = lstatSync(skillPath(handle, name), { throwIfNoEntry: false });
  if (stats === undefined) return;
  const place = path.join(handle.path, name);
  if (stats.isSymbolicLink()) throw refused('install/foreign', `${quoted(place, 200)} is a link`, place);
  if (stats.isDirectory() && lock.skills.has(name))
    throw refused('install/exists', `${quoted(name)} is installed in ${quoted(handle.path, 200)}`, place);
  throw refused('install/foreign', `${quoted(place, 200)} was not created by install`, place);
}

function refuseMissing(handle: RootHandle, { from: below, lock }: PlannedChange & { type: 'put' }): void {
  const from = lstatSync(statePath(handle, below), { throwIfNoEntry: false });
  if (from === undefined || (lock !== undefined && !from.isDirectory()))
    throw refused('source/changed', `the folder ${quoted(displayPath(handle, below), 200)} does not exist`);
}

/** A skill that the user names goes to the trash, also one that was placed by hand: `restore` brings it back. */
function refuseRemove(handle: RootHandle, lock: LockFile, { name, to, force = false }: RemoveChange): void {
  if (lock.skills.has(name)) return;
  const place = path.join(handle.path, name);
  if (identityAt(skillPath(handle, name)) === undefined)
    throw refused('install/not-installed', `${quoted(name)} is not installed in ${quoted(handle.path, 200)}`);
  if (force) return;
  const more = { path: place, allow: '--force' };
  if (!isSkillFolder(skillPath(handle, name)))
    throw refused('install/foreign', `${quoted(place, 200)} is not a folder with a SKILL.md`, {
      ...more,
      hint: 'use --force to move it to the trash, or remove it yourself',
    });
  if (to === 'nowhere')
    throw refused('install/foreign', `${quoted(place, 200)} was not created by install`, {
      ...more,
      hint: 'uninstall it without --purge, which moves it to the trash, or use --force to delete it',
    });
}

function isSkillFolder(place: string): boolean {
  if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return ['SKILL.md', 'plugin.json'].some(
    (file) => lstatSync(path.join(place, file), { throwIfNoEntry: false })?.isFile() === true,
  );
}

function refuseRepeated({ name }: PlannedChange, seen: Map<string, string>): void {
  const other = seen.get(collisionKey(name));
  if (other !== undefined)
    throw refused('install/case', `${quoted(name)} and ${quoted(other)} are the same folder on some systems`);
  seen.set(collisionKey(name), name);
}

/** Names in the root by collision key. */
function spellingsIn(handle: RootHandle): ReadonlyMap<string, string> {
  const spellings = new Map<string, string>();
  // A valid skill name takes precedence over other spellings.
  for (const name of readdirSync(handle.place))
    if (!spellings.has(collisionKey(name)) || isValidName(name)) spellings.set(collisionKey(name), name);
  return spellings;
}
