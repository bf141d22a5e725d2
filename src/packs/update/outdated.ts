/**
 * Which installed skills are no longer what their sources have. Nothing of the root is written, not even its staging: what has to be
 * looked at whole is brought into a folder elsewhere, which is removed.
 */
import path from 'node:path';

import { compareText } from '../../core/diagnostic.ts';
import type { LockedSkill } from '../lock/lock.ts';
import { compareWithSource } from './outdated-entry.ts';
import type { Outdated, SourceNow } from './outdated-entry.ts';
import { isRefusal, packRefusal } from '../problems.ts';
import type { PackProblem, PackRefusal } from '../problems.ts';
import type { BroughtSource, PackSource } from '../sources/source.ts';
import { quoted } from '../../core/text/text.ts';
import { presentFiles } from '../root/present-files.ts';
import { readLock } from '../root/read-lock.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { temporaryName } from '../../platform/fs/atomic-replace.ts';
import { bringPack, forLock, lookAtRevision, readTypedSource } from '../inspect/bring-pack.ts';
import { absentFromSource, headIn, lockedGroups, nowInSource } from '../lock/locked-skills.ts';
import type { LockedGroup } from '../lock/locked-skills.ts';
import type { PackSettings } from '../pack-place.ts';

export interface OutdatedOptions {
  readonly settings: PackSettings;
  /** Names; all of the lock where empty. */
  readonly names?: readonly string[];
  /** A folder of ours outside of the root in which sources are looked at, and which is as before afterwards. */
  readonly workFolder: string;
  readonly offline?: boolean;
  readonly signal?: AbortSignal;
  /** Sources. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface OutdatedSkill {
  readonly name: string;
  readonly locked: LockedSkill;
  readonly outdated: Outdated;
}

export interface OutdatedRoot {
  readonly type: 'looked';
  readonly root: string;
  /** By name. */
  readonly skills: readonly OutdatedSkill[];
  /** Every one is what its source has, or pinned. */
  readonly isCurrent: boolean;
}

/** A source that cannot be asked makes its own skills unknown, and no others. */
export async function findOutdated(options: OutdatedOptions): Promise<OutdatedRoot | PackRefusal> {
  const { settings, names = [], signal, onProgress } = options;
  const { root } = settings;
  const lock = readLock(root);
  if (lock === undefined) return packRefusal('lock/missing', `${quoted(root, 200)} has no skills.lock.json`);
  if (isRefusal(lock)) return lock;
  const groups = lockedGroups(lock, names, root);
  if ('type' in groups) return groups;
  const skills: OutdatedSkill[] = [];
  for (const [done, group] of groups.entries()) {
    signal?.throwIfAborted();
    onProgress?.(done, groups.length);
    skills.push(...(await lookAtGroup(group, options)));
  }
  return {
    type: 'looked',
    root,
    skills: skills.toSorted((a, b) => compareText(a.name, b.name)),
    isCurrent: skills.every(({ outdated: { status } }) => status === 'current' || status === 'pinned'),
  };
}

async function lookAtGroup(group: LockedGroup, options: OutdatedOptions): Promise<readonly OutdatedSkill[]> {
  const source = readTypedSource(group.source, forLock(options.settings));
  if (isRefusal(source))
    return group.skills.map((locked) => {
      const outdated: Outdated = { status: GONE.has(source.code) ? 'gone' : 'unknown', reason: source.message };
      return { name: locked.name, locked, outdated };
    });
  const look = await lookAtSource(source, group, options);
  return group.skills.map((locked) => ({
    name: locked.name,
    locked,
    outdated: compareWithSource(locked, source, look(locked)),
  }));
}

type Look = (locked: LockedSkill) => SourceNow;

async function lookAtSource(source: PackSource, group: LockedGroup, options: OutdatedOptions): Promise<Look> {
  const to = temporaryName(path.join(options.workFolder, 'outdated'), '');
  try {
    makeFolders(to, 0o700);
    const bringing = {
      settings: forLock(options.settings),
      to,
      only: group.skills.map(({ name }) => name),
      ...(options.offline === undefined ? {} : { offline: options.offline }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    };
    const revision = await lookAtRevision(source, bringing);
    // The commit that all of them came from: then so are their bytes.
    if (revision !== undefined && group.skills.every((locked) => locked.revision === revision))
      return () => ({ type: 'found', revision });
    const brought = await bringPack(source, bringing);
    if (isRefusal(brought)) return () => failed(brought);
    const found = new Map(group.skills.map((locked) => [locked.name, foundNow(locked, brought)]));
    return ({ name }) => found.get(name) ?? { type: 'unknown', reason: 'nothing was found out about it' };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return () => ({ type: 'unknown', reason: `nothing can be looked at here (${error.code})` });
  } finally {
    await removeTree(to);
  }
}

/** The source answered, and says that there is nothing. */
const GONE: ReadonlySet<PackProblem> = new Set([
  'source/missing',
  'source/revision',
  'pack/no-skill',
  'pack/unknown-skill',
]);

function failed({ code, message: reason }: PackRefusal): SourceNow {
  return { type: GONE.has(code) ? 'gone' : 'unknown', reason };
}

function foundNow(locked: LockedSkill, { skills, resolved }: BroughtSource): SourceNow {
  const skill = nowInSource(locked, skills);
  if (skill === undefined) return { type: 'gone', reason: absentFromSource(locked, skills) };
  const tree = skill.digest === undefined ? presentFiles(skill.path) : { digest: skill.digest };
  if (isRefusal(tree)) return { type: 'unknown', reason: tree.message };
  const version = headIn(skill.path, skill.name)?.meta['version'];
  return {
    type: 'found',
    ...(resolved.revision === undefined ? {} : { revision: resolved.revision }),
    ...(resolved.archive === undefined ? {} : { archive: resolved.archive }),
    digest: tree.digest,
    ...(version === undefined ? {} : { version }),
  };
}
