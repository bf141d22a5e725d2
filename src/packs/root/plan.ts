/** From what is asked of a root to the steps of a journal. All is judged before the first thing is written. */
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { isValidName } from '../../core/skill-name.ts';
import type { LockFile, LockedSkill } from '../lock/lock.ts';
import { lockedSkillProblem } from '../lock/lock-file.ts';
import { collisionKey } from '../sources/portable-name.ts';
import { PackRefused, refused } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import type { Step } from './journal.ts';
import { prepareKept } from './skill-backups.ts';
import type { KeptPart } from './skill-backups.ts';
import { identityAt, shownPlace, skillPlace, statePlace } from './root-paths.ts';
import type { HeldRoot } from './root-paths.ts';

/** `backup` keeps what stands there in `backups`; `replace` keeps an installed version in `previous` and anything else in the trash. */
export type Existing = 'refuse' | 'backup' | 'replace';

export interface PutChange {
  readonly type: 'put';
  readonly name: string;
  /** Absolute, below a folder that `staging()` gave. It is moved, not copied. */
  readonly from: string;
  readonly lock: LockedSkill;
  readonly existing: Existing;
  /** `looks` of `presentFiles` when `lock` was made: then it is enough that the staged folder still looks so. Else every file is hashed. */
  readonly looks?: string;
}

export interface RemoveChange {
  readonly type: 'remove';
  readonly name: string;
  readonly to: 'trash' | 'nowhere';
}

export type RootChange = PutChange | RemoveChange;

/** The same inside: what is brought back comes from a part of the state folder, with or without an entry in the lock. */
export type PlannedChange =
  | {
      readonly type: 'put';
      readonly name: string;
      /** Below the state folder. */
      readonly from: string;
      readonly lock?: LockedSkill;
      readonly existing: Existing;
    }
  | RemoveChange;

/** Throws `PackRefused` for whatever cannot be done. Nothing is written. */
export function refuseChanges(held: HeldRoot, lock: LockFile, changes: readonly PlannedChange[]): void {
  const spellings = spellingsIn(held);
  for (const change of changes) {
    if (!isValidName(change.name)) throw refused('pack/name', `${quoted(change.name)} is no name of a skill`);
    const other = spellings.get(collisionKey(change.name));
    if (other !== undefined && other !== change.name)
      throw refused('install/case', `${quoted(change.name)} is spelled ${quoted(other)} in ${quoted(held.path, 200)}`);
    if (change.type === 'remove') refuseRemove(held, lock, change);
    else refusePut(held, lock, change);
  }
  refuseRepeated(changes);
}

/** Makes the places for what goes out of the root. Throws the system's error. */
export function planSteps(
  held: HeldRoot,
  lock: LockFile,
  { changes, staging, at }: { readonly changes: readonly PlannedChange[]; readonly staging: string; readonly at: Date },
): readonly Step[] {
  return changes.map((change): Step => {
    const { name } = change;
    const isPresent = identityAt(skillPlace(held, name)) !== undefined;
    const entry = lock.skills.get(name);
    const keep = (part: KeptPart): string =>
      prepareKept(held, { part, name, at, ...(entry === undefined ? {} : { lock: entry }) });
    if (change.type === 'remove') {
      if (!isPresent) return { type: 'remove', name };
      return { type: 'remove', name, to: change.to === 'trash' ? keep('trash') : doomed(held, staging, name) };
    }
    const from = statePlace(held, change.from);
    return {
      type: 'put',
      name,
      from: change.from,
      identity: identityAt(from) ?? '',
      ...(isPresent ? { old: keep(partFor(held, change, entry)) } : {}),
      ...(change.lock === undefined ? {} : { lock: change.lock }),
    };
  });
}

function partFor(held: HeldRoot, { name, existing }: PlannedChange & { type: 'put' }, entry?: LockedSkill): KeptPart {
  if (existing === 'backup') return 'backups';
  const isOurs = entry !== undefined && lstatSync(skillPlace(held, name)).isDirectory();
  return isOurs ? 'previous' : 'trash';
}

/** A place from which it is removed when the work is over, or by whoever comes next. */
function doomed(held: HeldRoot, staging: string, name: string): string {
  makeFolders(statePlace(held, `${staging}/removed`), 0o700);
  return `${staging}/removed/${name}`;
}

function refusePut(held: HeldRoot, lock: LockFile, change: PlannedChange & { type: 'put' }): void {
  const { name, existing } = change;
  if (change.lock !== undefined && change.lock.name !== name)
    throw refused('pack/name', `the entry for ${quoted(name)} is of ${quoted(change.lock.name)}`);
  const problem = change.lock === undefined ? undefined : lockedSkillProblem(change.lock);
  if (problem !== undefined) throw new PackRefused(problem);
  const from = lstatSync(statePlace(held, change.from), { throwIfNoEntry: false });
  if (from === undefined || (change.lock !== undefined && !from.isDirectory()))
    throw refused('source/changed', `there is no folder ${quoted(shownPlace(held, change.from), 200)}`);
  const stats = lstatSync(skillPlace(held, name), { throwIfNoEntry: false });
  if (stats === undefined || existing !== 'refuse') return;
  const place = path.join(held.path, name);
  if (stats.isSymbolicLink()) throw refused('install/foreign', `${quoted(place, 200)} is a link`, place);
  if (stats.isDirectory() && lock.skills.has(name))
    throw refused('install/exists', `${quoted(name)} is installed in ${quoted(held.path, 200)}`, place);
  throw refused('install/foreign', `${quoted(place, 200)} was not made by install`, place);
}

function refuseRemove(held: HeldRoot, lock: LockFile, { name }: RemoveChange): void {
  if (lock.skills.has(name)) return;
  const place = path.join(held.path, name);
  if (identityAt(skillPlace(held, name)) === undefined)
    throw refused('install/not-installed', `${quoted(name)} is not installed in ${quoted(held.path, 200)}`);
  throw refused('install/foreign', `${quoted(place, 200)} was not made by install`, place);
}

function refuseRepeated(changes: readonly PlannedChange[]): void {
  const seen = new Map<string, string>();
  for (const { name } of changes) {
    const other = seen.get(collisionKey(name));
    if (other !== undefined)
      throw refused('install/case', `${quoted(name)} and ${quoted(other)} would be one folder on some systems`);
    seen.set(collisionKey(name), name);
  }
}

/** What stands in the root, by what some systems take for the same name. */
function spellingsIn(held: HeldRoot): ReadonlyMap<string, string> {
  const spellings = new Map<string, string>();
  // Its own spelling wins over others of the same name.
  for (const name of readdirSync(held.place))
    if (!spellings.has(collisionKey(name)) || isValidName(name)) spellings.set(collisionKey(name), name);
  return spellings;
}
