/**
 * `transaction.json`: what a commit is going to do, written before the first folder moves. Where it stands, the work is done to its end, by
 * whoever comes next; where it does not, nothing has happened. Its presence is the commit.
 */
import { lstatSync, renameSync, unlinkSync } from 'node:fs';

import { isValidName } from '../../core/skill-name.ts';
import { isObject } from '../../core/json/json-schema.ts';
import type { LockedSkill } from '../lock/lock.ts';
import { lockedFields, toLockedSkill } from '../lock/lock-file.ts';
import { PackRefused, packRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { writeFileAtomically } from '../../platform/fs/atomic-replace.ts';
import { readPrivateFile } from '../../platform/fs/read-file.ts';
import { syncPlace } from './durable.ts';
import { JOURNAL_NAME, STATE_PARTS, shownPlace, statePlace, timedName, unusable } from './places.ts';
import type { HeldRoot } from './places.ts';

/** One folder comes into the root, or goes out of it. Places are below the state folder. */
export type Step =
  | {
      readonly type: 'put';
      readonly name: string;
      readonly from: string;
      /** Which folder `from` is, so that it is known again wherever it stands. */
      readonly identity: string;
      /** Where what stands there goes; absent where nothing did. */
      readonly old?: string;
      /** Absent: a folder that is not in the lock is brought back. */
      readonly lock?: LockedSkill;
    }
  | {
      readonly type: 'remove';
      readonly name: string;
      /** Absent where the folder was missing already. */
      readonly to?: string;
    };

export type JournalReading =
  | { readonly type: 'steps'; readonly steps: readonly Step[] }
  | { readonly type: 'absent' }
  | { readonly type: 'unreadable'; readonly reason: string };

const SCHEMA = 1;
const MAX_BYTES = 256 * 1024 * 1024;

/** From here on the commit counts. Throws the system's error; then it does not. `staging` is where half a file does no harm. */
export function writeJournal(held: HeldRoot, steps: readonly Step[], staging: string): void {
  const shown = steps.map((step) =>
    step.type === 'put' && step.lock !== undefined ? { ...step, lock: lockedFields(step.lock) } : step,
  );
  const text = JSON.stringify({ schema: SCHEMA, steps: shown });
  const written = statePlace(held, `${staging}/${JOURNAL_NAME}`);
  writeFileAtomically(written, Buffer.from(`${text}\n`), { sync: true });
  renameSync(written, statePlace(held, JOURNAL_NAME));
  syncPlace(statePlace(held));
}

export function removeJournal(held: HeldRoot): void {
  unlinkSync(statePlace(held, JOURNAL_NAME));
  syncPlace(statePlace(held));
}

/** Throws `PackRefused` for the journal of a newer version. */
export function readJournal(held: HeldRoot): JournalReading {
  const file = statePlace(held, JOURNAL_NAME);
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return { type: 'absent' };
  const read = readPrivateFile(file, { maxBytes: MAX_BYTES });
  if (read.type !== 'read') return { type: 'unreadable', reason: read.type === 'failed' ? read.reason : 'it is gone' };
  try {
    return { type: 'steps', steps: toSteps(JSON.parse(read.bytes.toString('utf8'))) };
  } catch (error) {
    if (error instanceof SyntaxError) return { type: 'unreadable', reason: 'it is no JSON' };
    if (!(error instanceof PackRefused) || error.refusal.code === 'lock/newer') throw error;
    return { type: 'unreadable', reason: error.refusal.message };
  }
}

/** A journal that cannot be understood must not stop everything for ever: it is kept under another name. Gives that. */
export function setJournalAside(held: HeldRoot, at: Date): string {
  const name = timedName(at, 'transaction');
  renameSync(statePlace(held, JOURNAL_NAME), statePlace(held, name));
  syncPlace(statePlace(held));
  return shownPlace(held, name);
}

function toSteps(value: unknown): readonly Step[] {
  if (!isObject(value) || !Array.isArray(value['steps'])) throw unfit('it has no steps');
  const { schema } = value;
  if (typeof schema === 'number' && schema > SCHEMA)
    throw new PackRefused(packRefusal('lock/newer', 'an unfinished change of this root is of a newer version'));
  if (schema !== SCHEMA) throw unfit('its schema is not known');
  return value['steps'].map((step: unknown) => toStep(step));
}

function toStep(value: unknown): Step {
  if (!isObject(value)) throw unfit('a step is no object');
  const { type, name, from, identity, old, lock, to } = value;
  if (typeof name !== 'string' || !isValidName(name)) throw unfit('a step has no name of a skill');
  if (type === 'remove') return { type, name, ...(to === undefined ? {} : { to: toPlace(to) }) };
  if (type !== 'put' || typeof identity !== 'string') throw unfit(`the step of ${quoted(name)} is not known`);
  return {
    type,
    name,
    from: toPlace(from),
    identity,
    ...(old === undefined ? {} : { old: toPlace(old) }),
    ...(lock === undefined ? {} : { lock: toLockedSkill(name, lock) }),
  };
}

/** Inside one of the parts, and nowhere else: the file may come with a cloned repository. */
function toPlace(value: unknown): string {
  const parts = typeof value === 'string' ? value.split('/') : [];
  const isFit =
    parts.length > 1 &&
    STATE_PARTS.some((part) => part === parts[0]) &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
  if (!isFit) throw unfit('a step names a place that is not ours');
  return parts.join('/');
}

/** Throws `PackRefused` where the way to a place leads through a link. */
export function refuseLinkedWay(held: HeldRoot, below: string): void {
  const parts = below.split('/');
  for (let length = 1; length < parts.length; length += 1) {
    const way = parts.slice(0, length).join('/');
    const stats = lstatSync(statePlace(held, way), { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isDirectory())
      throw unusable(`${quoted(shownPlace(held, way), 200)} is no folder of ours`, shownPlace(held, way));
  }
}

function unfit(message: string): PackRefused {
  return new PackRefused(packRefusal('install/root', message));
}
