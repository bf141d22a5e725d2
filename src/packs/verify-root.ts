/** Compares installed skills with their lock and reports every changed, missing and added file. Writes nothing. */
import path from 'node:path';

import type { Surroundings } from '../core/config/loaded-config.ts';
import { compareText } from '../core/diagnostic.ts';
import { agentBaseOf } from './agents/agent-view.ts';
import { checkPlaces } from './agents/check-places.ts';
import type { CheckedPlace } from './agents/check-places.ts';
import type { Drift, LockedSkill } from './lock/lock.ts';
import { driftOf, readLock } from './lock/lock-file.ts';
import { isRefusal, packRefusal } from './problems.ts';
import type { PackRefusal } from './problems.ts';
import { quoted } from '../core/text/text.ts';
import { presentBuffer, presentFiles } from './root/present-files.ts';
import { isDirectory } from '../platform/fs/paths.ts';

/** `drift`: files differ. `missing`: the folder does not exist. `unreadable`: the folder could not be compared. */
export interface VerifiedSkill {
  readonly name: string;
  readonly status: 'same' | 'drift' | 'missing' | 'unreadable';
  readonly locked: LockedSkill;
  /** Digest of the installed files. */
  readonly digest?: string;
  readonly drift: Drift;
  /** Why the folder could not be compared; empty otherwise. */
  readonly reason: string;
  /** Links and copies in the folders of agents. */
  readonly places?: readonly CheckedPlace[];
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
const SLICE = 64;

export async function verifyRoot(
  root: string,
  { names = [], surroundings = { cwd: root, home: undefined, env: {} }, signal, onProgress }: VerifyRootOptions = {},
): Promise<VerifiedRoot | PackRefusal> {
  const lock = readLock(root);
  if (lock === undefined) return packRefusal('lock/missing', `${quoted(root, 200)} has no skills.lock.json`);
  if (isRefusal(lock)) return lock;
  const unknown = names.find((name) => !lock.skills.has(name));
  if (unknown !== undefined)
    return packRefusal('install/not-installed', `${quoted(unknown)} is not in the lock of ${quoted(root, 200)}`);
  const meant = [...lock.skills.values()]
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .toSorted((a, b) => compareText(a.name, b.name));
  const buffer = presentBuffer();
  const base = agentBaseOf(root, surroundings);
  const skills: VerifiedSkill[] = [];
  for (const locked of meant) {
    if (skills.length % SLICE === 0) {
      onProgress?.(skills.length, meant.length);
      await new Promise(setImmediate);
      signal?.throwIfAborted();
    }
    const places = checkPlaces(locked, root, base);
    const verified = verifySkill(path.join(root, locked.name), locked, buffer);
    skills.push(places.length === 0 ? verified : { ...verified, places });
  }
  return { type: 'verified', root, skills, isIntact: skills.every(isIntact) };
}

function isIntact({ status, places = [] }: VerifiedSkill): boolean {
  return status === 'same' && places.every((place) => place.status === 'same');
}

/** Compares one folder with its lock entry. */
export function verifySkill(dir: string, locked: LockedSkill, buffer = presentBuffer()): VerifiedSkill {
  const { name } = locked;
  const present = presentFiles(dir, { buffer, withoutLooks: true });
  if (isRefusal(present)) {
    const status = isDirectory(dir) ? 'unreadable' : 'missing';
    return { name, status, locked, drift: NO_DRIFT, reason: present.message };
  }
  const { digest } = present;
  if (digest === locked.digest) return { name, status: 'same', locked, digest, drift: NO_DRIFT, reason: '' };
  const drift = driftOf(locked.files, present.files);
  const isNamed = drift.changed.length + drift.missing.length + drift.added.length > 0;
  return { name, status: 'drift', locked, digest, drift, reason: isNamed ? '' : 'only empty folders differ' };
}
