/** Compares a locked skill with the current state of its source. Pure: fetches and writes nothing. */
import { quoted } from '#core';
import type { LockedSkill } from '../lock/lock.ts';
import type { PackSource } from '../sources/source.ts';
import { compareVersions } from '../compare-versions.ts';

/** The current state of a skill in its source. */
export type SourceNow =
  /** Fields as in the lock; absent if unknown. `latest`: the newest version, even if the source is pinned to another. */
  | {
      readonly type: 'found';
      readonly revision?: string;
      readonly archive?: string;
      readonly digest?: string;
      readonly version?: string;
      readonly latest?: string;
    }
  /** The source exists without the skill, or reports that it no longer exists. */
  | { readonly type: 'gone'; readonly reason: string }
  /** The source could not be reached or read. */
  | { readonly type: 'unknown'; readonly reason: string };

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
  /** The source is pinned to one revision. `latest`: the newest version, if known. */
  | { readonly status: 'pinned'; readonly reason: string; readonly latest?: string }
  | { readonly status: 'gone'; readonly reason: string }
  | { readonly status: 'unknown'; readonly reason: string };

export interface SkillVersion {
  readonly version?: string;
  readonly revision?: string;
  readonly digest?: string;
}

/** `source` is the parsed `locked.source`. Reasons start in lower case; untrusted text in them is quoted. */
export function compareWithSource(locked: LockedSkill, source: PackSource, now: SourceNow): Outdated {
  if (now.type !== 'found') return { status: now.type, reason: quoted(now.reason, 200).slice(1, -1) };
  const isSameBytes = sameBytes(locked, now);
  const pin = describePin(source);
  if (pin !== undefined && isSameBytes !== false) {
    const reason = `the source is pinned to ${pin}`;
    return { status: 'pinned', reason, latest: now.latest };
  }
  const isSameRevision = sameRevision(locked, now);
  if (isSameBytes === true) {
    const reason =
      isSameRevision === false
        ? 'the source has a new revision, but this skill did not change'
        : 'the source has the same files';
    return { status: 'current', reason };
  }
  if (isSameBytes === undefined) {
    if (isSameRevision === undefined)
      return { status: 'unknown', reason: 'the source has neither a revision nor a digest to compare' };
    if (isSameRevision) return { status: 'current', reason: 'the source has the same revision' };
  }
  return outdated(locked, now, isSameBytes === false && isSameRevision === true);
}

type FoundSkill = Extract<SourceNow, { type: 'found' }>;

/** Compares tree digests, or else archives. Undefined if neither decides: a different archive can contain the same tree. */
function sameBytes(locked: LockedSkill, now: FoundSkill): boolean | undefined {
  if (now.digest !== undefined) return now.digest === locked.digest;
  if (now.archive === undefined || locked.archive === undefined) return undefined;
  return now.archive === locked.archive ? true : undefined;
}

function sameRevision(locked: LockedSkill, now: FoundSkill): boolean | undefined {
  // The revision of an archive is its digest.
  const [before, after] = [locked.revision ?? locked.archive, now.revision ?? now.archive];
  return before === undefined || after === undefined ? undefined : before === after;
}

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
  return {
    version,
    revision,
    digest,
  };
}

/** A full commit hash or an exact version is a pin; a tag is not, because it can be moved. */
function describePin(source: PackSource): string | undefined {
  if (source.type === 'git')
    return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(source.ref ?? '') ? 'one commit' : undefined;
  if (source.type !== 'npm') return undefined;
  return /^=?v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(source.range ?? '') ? 'one version' : undefined;
}
