/** Finds installed skills that differ from their sources. Does not write to the root: sources are staged in a temporary folder elsewhere. */
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { compareText, quoted } from '#core';
import { isSystemError, removeTree } from '#platform';
import { findDrift, hasDrift, requireLock, type LockedSkill } from '../lock/lock-file.ts';
import { completeChange } from '../root/open-root.ts';
import type { FetchIntoRootOptions } from '../install/options.ts';
import { asRefusal, isRefusal, type PackProblem, type PackRefusal } from '../problems.ts';
import type { StagedSource, PackSource } from '../sources/source.ts';
import { readStagedTree } from '../inspect/inspect-skill.ts';
import { stagePack, settingsForLock, currentRevision, readTypedSource } from '../inspect/stage-pack.ts';
import {
  absentFromSource,
  readSkillHead,
  lockedGroups,
  findInSource,
  type LockedGroup,
} from '../lock/locked-skills.ts';
import { compareVersions } from '../compare-versions.ts';

export interface OutdatedOptions extends Pick<FetchIntoRootOptions, 'settings' | 'offline' | 'signal' | 'onNote'> {
  /** Names of skills; empty means all skills of the lock. */
  readonly names?: readonly string[];
  /** A private folder outside the root for staging; its content is restored afterwards (default: that of the system). */
  readonly workFolder?: string;
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
  try {
    return await compareRoot(options);
  } catch (error) {
    return asRefusal(error);
  }
}

async function compareRoot(options: OutdatedOptions): Promise<OutdatedRoot> {
  const { settings, names = [], signal, onProgress } = options;
  const { root } = settings;
  await completeChange(options);
  const groups = lockedGroups(requireLock(root), names, root);
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
  const outdatedFor = isRefusal(source)
    ? (): Outdated => ({ status: classifyRefusal(source), reason: source.message })
    : await openComparison(source, group, options);
  return group.skills.map((locked) => ({ name: locked.name, locked, outdated: outdatedFor(locked) }));
}

async function openComparison(
  source: PackSource,
  group: LockedGroup,
  options: OutdatedOptions,
): Promise<(locked: LockedSkill) => Outdated> {
  const to = mkdtempSync(path.join(options.workFolder ?? os.tmpdir(), 'skillwright-outdated-'));
  const all = (now: SourceNow) => (locked: LockedSkill) => compareWithSource(locked, source, now);
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
      return all({ type: 'found', revision });
    const staged = await stagePack(source, stageOptions);
    if (isRefusal(staged)) return all({ type: classifyRefusal(staged), reason: staged.message });
    const found = new Map(
      group.skills.map((locked) => [locked, compareWithSource(locked, source, currentState(locked, staged))]),
    );
    return (locked) => found.get(locked) ?? { status: 'unknown', reason: 'the source was not compared with it' };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return all({ type: 'unknown', reason: `the source could not be staged (${error.code})` });
  } finally {
    await removeTree(to);
  }
}

/** Codes of sources that answered without the skill. */
const GONE = new Set<PackProblem>(['source/missing', 'source/revision', 'pack/no-skill', 'pack/unknown-skill']);

function classifyRefusal({ code }: PackRefusal): 'gone' | 'unknown' {
  return GONE.has(code) ? 'gone' : 'unknown';
}

function currentState(locked: LockedSkill, { skills, resolved }: StagedSource): SourceNow {
  const skill = findInSource(locked, skills);
  if (skill === undefined) return { type: 'gone', reason: absentFromSource(locked, skills) };
  const tree = readStagedTree(skill);
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

/** `gone`: the source exists without the skill, or reports that it no longer exists. `unknown`: it could not be reached or read. */
export type SourceNow =
  /** Fields as in the lock. Without `digest`, the revision is the locked one. */
  | ({ readonly type: 'found' } & SkillVersion & Pick<LockedSkill, 'archive'>)
  | { readonly type: 'gone' | 'unknown'; readonly reason: string };

export type Outdated =
  | { readonly status: 'current'; readonly reason: string }
  /** `isOlder`: the source now has an older version. `isReplaced`: the source changed the bytes of a published revision. */
  | {
      readonly status: 'outdated';
      readonly reason: string;
      readonly from: SkillVersion;
      readonly to: SkillVersion;
      readonly isOlder: boolean;
      readonly isReplaced: boolean;
    }
  /** `pinned`: the source is pinned to one revision. */
  | { readonly status: 'pinned' | 'gone' | 'unknown'; readonly reason: string };

type SkillVersion = Partial<Pick<LockedSkill, 'version' | 'revision' | 'digest'>>;

/** `source` is the parsed `locked.source`. Reasons start in lower case; untrusted text in them is quoted. */
export function compareWithSource(locked: LockedSkill, source: PackSource, now: SourceNow): Outdated {
  if (now.type !== 'found') return { status: now.type, reason: quoted(now.reason, 200).slice(1, -1) };
  const isSame = now.digest === undefined || now.digest === locked.digest;
  const pin = describePin(source);
  if (isSame && pin !== undefined) return { status: 'pinned', reason: `the source is pinned to ${pin}` };
  // The revision of an archive is its digest.
  const [before, after] = [locked.revision ?? locked.archive, now.revision ?? now.archive];
  const isKnown = before !== undefined && after !== undefined;
  if (!isSame) return outdated(locked, now, isKnown && before === after);
  const reason =
    isKnown && before !== after
      ? 'the source has a new revision, but this skill did not change'
      : `the source has the same ${now.digest === undefined ? 'revision' : 'files'}`;
  return { status: 'current', reason };
}

type FoundSkill = Extract<SourceNow, { type: 'found' }>;

function outdated(locked: LockedSkill, now: FoundSkill, isReplaced: boolean): Outdated {
  const order =
    locked.version === undefined || now.version === undefined
      ? undefined
      : compareVersions(locked.version, now.version);
  const isOlder = order !== undefined && order > 0;
  return {
    status: 'outdated',
    reason: isReplaced
      ? 'the source has different files under the same revision: they were replaced'
      : isOlder
        ? `the source has the older version ${quoted(now.version ?? '')}`
        : order !== undefined && order < 0
          ? `the source has version ${quoted(now.version ?? '')}`
          : 'the source has different files',
    from: pickVersion(locked),
    to: pickVersion(now),
    isOlder,
    isReplaced,
  };
}

function pickVersion({ version, revision, digest }: SkillVersion): SkillVersion {
  return { version, revision, digest };
}

/** A full commit hash or an exact version is a pin; a tag is not, because it can be moved. */
function describePin(source: PackSource): string | undefined {
  if (source.type === 'git')
    return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(source.ref ?? '') ? 'one commit' : undefined;
  if (source.type !== 'npm') return undefined;
  return /^=?v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(source.range ?? '') ? 'one version' : undefined;
}
