/**
 * `transaction.json` describes a commit and is written before the first folder moves. If it exists, the commit is completed, by the next
 * process if necessary. If it does not exist, nothing has happened.
 */
import { lstatSync, renameSync, unlinkSync } from 'node:fs';

import { isObject, isValidName, quoted, type SkillError } from '#core';
import { readPrivateFile, writeFileAtomically } from '#platform';
import { isFolderPath, lockedFields, toLockedSkill, type LockedSkill } from '../lock/lock-file.ts';
import type { FolderChange } from '../agents/place-skills.ts';
import { findRefusal, refused } from '../problems.ts';
import { syncPath } from './sync.ts';
import {
  BACKUP_PARTS,
  JOURNAL_NAME,
  displayPath,
  statePath,
  timedName,
  unusable,
  type RootHandle,
} from './root-paths.ts';

/** Moves one folder into or out of the root. Paths are relative to the state folder. */
export type Step =
  | {
      readonly type: 'put';
      readonly name: string;
      readonly from: string;
      /** Device and inode of `from`, to recognize the folder after it was moved. */
      readonly identity: string;
      /** Where the replaced folder goes; absent if there was none. */
      readonly old?: string;
      /** Absent if a folder without a lock entry is restored. */
      readonly lock?: LockedSkill;
    }
  | {
      readonly type: 'remove';
      readonly name: string;
      /** Absent if the folder did not exist. */
      readonly to?: string;
    };

/** Everything that a commit changes. */
export interface Transaction {
  readonly steps: readonly Step[];
  /** Changes in the folders of agents, made after the steps. */
  readonly places: readonly FolderChange[];
}

export type JournalReading =
  | ({ readonly type: 'steps' } & Transaction)
  | { readonly type: 'absent' }
  | { readonly type: 'unreadable'; readonly reason: string };

/** Version 2 has `places`. */
const SCHEMA = 2;
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Commits. If it throws a system error, the commit has not happened. The file is first written to `staging`, where a partial file does no
 * harm.
 */
export function writeJournal(handle: RootHandle, { steps, places }: Transaction, staging: string): void {
  const shown = steps.map((step) =>
    step.type === 'put' && step.lock !== undefined ? { ...step, lock: lockedFields(step.lock) } : step,
  );
  const placed = places.map(({ folder, kind, add, remove }) => ({ folder, kind, add, remove }));
  const text = JSON.stringify(
    placed.length === 0 ? { schema: 1, steps: shown } : { schema: SCHEMA, steps: shown, places: placed },
  );
  const written = statePath(handle, `${staging}/${JOURNAL_NAME}`);
  writeFileAtomically(written, Buffer.from(`${text}\n`), { sync: true });
  renameSync(written, statePath(handle, JOURNAL_NAME));
  syncPath(statePath(handle));
}

export function removeJournal(handle: RootHandle): void {
  unlinkSync(statePath(handle, JOURNAL_NAME));
  syncPath(statePath(handle));
}

/** Throws a refusal for a journal of a newer version. */
export function readJournal(handle: RootHandle): JournalReading {
  const file = statePath(handle, JOURNAL_NAME);
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return { type: 'absent' };
  const read = readPrivateFile(file, { maxBytes: MAX_BYTES });
  if (read.type !== 'read')
    return { type: 'unreadable', reason: read.type === 'failed' ? read.reason : 'it was deleted' };
  try {
    return { type: 'steps', ...toTransaction(JSON.parse(read.bytes.toString('utf8'))) };
  } catch (error) {
    if (error instanceof SyntaxError) return { type: 'unreadable', reason: 'it is no JSON' };
    const refusal = findRefusal(error);
    if (refusal === undefined || refusal.code === 'lock/newer') throw error;
    return { type: 'unreadable', reason: refusal.message };
  }
}

/** Renames a journal that cannot be parsed, so that it does not block the root forever. Returns the new path. */
export function setJournalAside(handle: RootHandle, at: Date): string {
  const name = timedName(at, 'transaction');
  renameSync(statePath(handle, JOURNAL_NAME), statePath(handle, name));
  syncPath(statePath(handle));
  return displayPath(handle, name);
}

function toTransaction(value: unknown): Transaction {
  if (!isObject(value) || !Array.isArray(value['steps'])) throw unfit('it has no "steps" list');
  const { schema } = value;
  if (typeof schema === 'number' && schema > SCHEMA)
    throw refused('lock/newer', 'a newer version of skillwright started a change of this root');
  if (schema !== SCHEMA && schema !== 1) throw unfit('it has an unknown schema');
  const { places = [] } = value;
  if (!Array.isArray(places)) throw unfit('"places" is not a list');
  return {
    steps: value['steps'].map((step: unknown) => toStep(step)),
    places: places.map((place: unknown) => parseFolderChange(place)),
  };
}

/** The folder is checked again when it is opened: only folders of known agents are changed. */
function parseFolderChange(value: unknown): FolderChange {
  if (!isObject(value)) throw unfit('a place is not an object');
  const { folder, kind } = value;
  if (typeof folder !== 'string' || !isFolderPath(folder)) throw unfit('a place has no valid folder');
  if (kind !== 'link' && kind !== 'copy') throw unfit(`the place ${quoted(folder)} has an unknown kind`);
  return { folder, kind, add: toSkillNames(value['add']), remove: toSkillNames(value['remove']) };
}

function toSkillNames(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw unfit('a place has no list of names');
  return value.map((name: unknown) => {
    if (typeof name === 'string' && isValidName(name)) return name;
    throw unfit('a place has an invalid skill name');
  });
}

function toStep(value: unknown): Step {
  if (!isObject(value)) throw unfit('a step is not an object');
  const { type, name, from, identity, old, lock, to } = value;
  if (typeof name !== 'string' || !isValidName(name)) throw unfit('a step has no valid skill name');
  if (type === 'remove') return { type, name, to: to === undefined ? undefined : parseStatePath(to) };
  if (type !== 'put' || typeof identity !== 'string') throw unfit(`the step of ${quoted(name)} has an unknown type`);
  return {
    type,
    name,
    from: parseStatePath(from),
    identity,
    old: old === undefined ? undefined : parseStatePath(old),
    lock: lock === undefined ? undefined : toLockedSkill(name, lock),
  };
}

/** Accepts only paths inside the state folder, because the journal may come with a cloned repository. */
function parseStatePath(value: unknown): string {
  const parts = typeof value === 'string' ? value.split('/') : [];
  const isFit =
    parts.length > 1 &&
    ['staging', ...BACKUP_PARTS].some((part) => part === parts[0]) &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
  if (!isFit) throw unfit('a step has a path outside of the state folder');
  return parts.join('/');
}

/** Throws a refusal if a parent folder of the path is a link. */
export function refuseLinkedWay(handle: RootHandle, below: string): void {
  const parts = below.split('/');
  for (let length = 1; length < parts.length; length += 1) {
    const way = parts.slice(0, length).join('/');
    const stats = lstatSync(statePath(handle, way), { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isDirectory())
      throw unusable(
        `${quoted(displayPath(handle, way), 200)} is not a folder of skillwright`,
        displayPath(handle, way),
      );
  }
}

function unfit(message: string): SkillError {
  return refused('install/root', message);
}
