/** Whether what is installed is still what its source has. Decided from values: nothing is fetched and nothing is written. */
import { quoted } from '../../core/text/text.ts';
import type { LockedSkill } from '../lock/lock.ts';
import type { PackSource } from '../sources/source.ts';
import { compareVersions } from '../../platform/version-range.ts';

/** What a source has of a skill now. */
export type SourceNow =
  /** Each field as the lock would have it; what was not looked at is absent. `latest`: beyond what a pinned source names. */
  | {
      readonly type: 'found';
      readonly revision?: string;
      readonly archive?: string;
      readonly digest?: string;
      readonly version?: string;
      readonly latest?: string;
    }
  /** The source is there and the skill is not in it, or the source itself says that it is no more. */
  | { readonly type: 'gone'; readonly reason: string }
  /** It could not be asked: no network, no leave, a failure. */
  | { readonly type: 'unknown'; readonly reason: string };

export type Outdated =
  | { readonly status: 'current'; readonly reason: string }
  /** `isOlder`: what the source has now is an older version. `isReplaced`: other bytes under the same revision, which should not be. */
  | {
      readonly status: 'outdated';
      readonly reason: string;
      readonly from: Standing;
      readonly to: Standing;
      readonly isOlder: boolean;
      readonly isReplaced: boolean;
    }
  /** The source names one revision for good. `latest`: what there is beside it, where that is known. */
  | { readonly status: 'pinned'; readonly reason: string; readonly latest?: string }
  | { readonly status: 'gone'; readonly reason: string }
  | { readonly status: 'unknown'; readonly reason: string };

export interface Standing {
  readonly version?: string;
  readonly revision?: string;
  readonly digest?: string;
}

/** `source` is what `readSource` makes of `locked.source`. Reasons are for people, in lower case; a stranger's words in them are quoted. */
export function compareWithSource(locked: LockedSkill, source: PackSource, now: SourceNow): Outdated {
  if (now.type !== 'found') return { status: now.type, reason: quoted(now.reason, 200).slice(1, -1) };
  const isSameBytes = sameBytes(locked, now);
  const pin = pinOf(source);
  if (pin !== undefined && isSameBytes !== false) {
    const reason = `its source names ${pin}`;
    return { status: 'pinned', reason, ...(now.latest === undefined ? {} : { latest: now.latest }) };
  }
  const isSameRevision = sameRevision(locked, now);
  if (isSameBytes === true) {
    const moved = isSameRevision === false ? 'the source moved on, and this skill did not change' : 'nothing changed';
    return { status: 'current', reason: moved };
  }
  if (isSameBytes === undefined) {
    if (isSameRevision === undefined) return { status: 'unknown', reason: 'the source has nothing to compare with' };
    if (isSameRevision) return { status: 'current', reason: 'the source has the same revision' };
  }
  return outdated(locked, now, isSameBytes === false && isSameRevision === true);
}

type Found = Extract<SourceNow, { type: 'found' }>;

/** By the digest of the tree, else by that of the archive; absent where neither is known on both sides. Another archive may hold the same tree. */
function sameBytes(locked: LockedSkill, now: Found): boolean | undefined {
  if (now.digest !== undefined) return now.digest === locked.digest;
  if (now.archive === undefined || locked.archive === undefined) return undefined;
  return now.archive === locked.archive ? true : undefined;
}

function sameRevision(locked: LockedSkill, now: Found): boolean | undefined {
  // An archive has no revision but its bytes.
  const [before, after] = [locked.revision ?? locked.archive, now.revision ?? now.archive];
  return before === undefined || after === undefined ? undefined : before === after;
}

function outdated(locked: LockedSkill, now: Found, isReplaced: boolean): Outdated {
  const order =
    locked.version === undefined || now.version === undefined
      ? undefined
      : compareVersions(locked.version, now.version);
  const isOlder = order !== undefined && order > 0;
  return {
    status: 'outdated',
    reason: isReplaced
      ? 'the source has other bytes under the same revision: somebody replaced them'
      : isOlder
        ? `the source has the older version ${quoted(now.version ?? '')}`
        : order !== undefined && order < 0
          ? `the source has the version ${quoted(now.version ?? '')}`
          : 'the source has other files',
    from: standing(locked),
    to: standing(now),
    isOlder,
    isReplaced,
  };
}

function standing({ version, revision, digest }: Standing): Standing {
  return {
    ...(version === undefined ? {} : { version }),
    ...(revision === undefined ? {} : { revision }),
    ...(digest === undefined ? {} : { digest }),
  };
}

/** What a source names that never changes: a whole commit, an exact version. A tag can be moved. */
function pinOf(source: PackSource): string | undefined {
  if (source.type === 'git')
    return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(source.ref ?? '') ? 'one commit' : undefined;
  if (source.type !== 'npm') return undefined;
  return /^=?v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(source.range ?? '') ? 'one version' : undefined;
}
