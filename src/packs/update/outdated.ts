/** Finds installed skills that differ from their sources. Does not write to the root: sources are staged in a temporary folder elsewhere. */
import { mkdtempSync } from 'node:fs';
import path from 'node:path';

import { compareText, quoted } from '#core';
import type { LockedSkill } from '../lock/lock.ts';
import { compareWithSource, type Outdated, type SourceNow } from './outdated-entry.ts';
import { isRefusal, packRefusal, type PackProblem, type PackRefusal } from '../problems.ts';
import type { StagedSource, PackSource } from '../sources/source.ts';
import { presentFiles } from '../root/present-files.ts';
import { findDrift, hasDrift, readLock } from '../lock/lock-file.ts';
import { isSystemError, removeTree } from '#platform';
import { stagePack, settingsForLock, currentRevision, readTypedSource } from '../inspect/stage-pack.ts';
import {
  absentFromSource,
  readSkillHead,
  lockedGroups,
  findInSource,
  type LockedGroup,
} from '../lock/locked-skills.ts';
import type { PackSettings } from '../pack-settings.ts';

export interface OutdatedOptions {
  readonly settings: PackSettings;
  /** Names of skills; empty means all skills of the lock. */
  readonly names?: readonly string[];
  /** A private folder outside the root for staging; its content is restored afterwards. */
  readonly workFolder: string;
  readonly offline?: boolean;
  readonly signal?: AbortSignal;
  /** Counts sources. */
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
  /** Sorted by name. */
  readonly skills: readonly OutdatedSkill[];
  /** Every skill is current or pinned. */
  readonly isCurrent: boolean;
}

/** A source that cannot be read makes only its own skills unknown. */
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
    skills.push(...(await compareGroup(group, options)));
  }
  return {
    type: 'looked',
    root,
    skills: skills.toSorted((a, b) => compareText(a.name, b.name)),
    isCurrent: skills.every(({ outdated: { status } }) => status === 'current' || status === 'pinned'),
  };
}

async function compareGroup(group: LockedGroup, options: OutdatedOptions): Promise<readonly OutdatedSkill[]> {
  const source = readTypedSource(group.source, settingsForLock(options.settings));
  if (isRefusal(source))
    return group.skills.map((locked) => {
      const outdated: Outdated = { status: GONE.has(source.code) ? 'gone' : 'unknown', reason: source.message };
      return { name: locked.name, locked, outdated };
    });
  const stateOf = await readSourceState(source, group, options);
  return group.skills.map((locked) => ({
    name: locked.name,
    locked,
    outdated: compareWithSource(locked, source, stateOf(locked)),
  }));
}

type SourceState = (locked: LockedSkill) => SourceNow;

async function readSourceState(source: PackSource, group: LockedGroup, options: OutdatedOptions): Promise<SourceState> {
  const to = mkdtempSync(path.join(options.workFolder, 'skillwright-outdated-'));
  try {
    const stageOptions = {
      settings: settingsForLock(options.settings),
      to,
      only: group.skills.map(({ name }) => name),
      offline: options.offline,
      signal: options.signal,
    };
    const revision = await currentRevision(source, stageOptions);
    // If the commit is the same, so are the files.
    if (revision !== undefined && group.skills.every((locked) => locked.revision === revision))
      return () => ({ type: 'found', revision });
    const staged = await stagePack(source, stageOptions);
    if (isRefusal(staged)) return () => failedState(staged);
    const found = new Map(group.skills.map((locked) => [locked.name, currentState(locked, staged)]));
    return ({ name }) => found.get(name) ?? { type: 'unknown', reason: 'the source was not compared with it' };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return () => ({ type: 'unknown', reason: `the source could not be staged (${error.code})` });
  } finally {
    await removeTree(to);
  }
}

/** Codes of sources that answered without the skill. */
const GONE: ReadonlySet<PackProblem> = new Set([
  'source/missing',
  'source/revision',
  'pack/no-skill',
  'pack/unknown-skill',
]);

function failedState({ code, message: reason }: PackRefusal): SourceNow {
  return { type: GONE.has(code) ? 'gone' : 'unknown', reason };
}

function currentState(locked: LockedSkill, { skills, resolved }: StagedSource): SourceNow {
  const skill = findInSource(locked, skills);
  if (skill === undefined) return { type: 'gone', reason: absentFromSource(locked, skills) };
  const { digest, files } = skill;
  const tree = digest === undefined || files === undefined ? presentFiles(skill.path) : { digest, files };
  if (isRefusal(tree)) return { type: 'unknown', reason: tree.message };
  const version = readSkillHead(skill.path, skill.name)?.meta['version'];
  return {
    type: 'found',
    revision: resolved.revision,
    archive: resolved.archive,
    // As in an update, the files decide: the digest also covers empty folders.
    digest: hasDrift(findDrift(locked.files, tree.files)) ? tree.digest : locked.digest,
    version,
  };
}
