/**
 * Backups of skills: the trash, previous versions, and folders that were replaced. Each is in its own folder,
 * `<kind>/<time>-<name>-<random>/<name>`, with a record beside it.
 */
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';

import { compareText, isObject, isValidName, parseJson } from '#core';
import { readPrivateFile, removeTree, writeFileAtomically } from '#platform';
import { lockTime, lockedFields, toLockedSkill, type LockedSkill } from '../lock/lock-file.ts';
import { findRefusal } from '../problems.ts';
import { BACKUP_PARTS, displayPath, statePath, timedName, type RootHandle } from './root-paths.ts';

export type BackupKind = (typeof BACKUP_PARTS)[number];

export interface SkillBackup {
  readonly part: BackupKind;
  /** Name of the backup folder. Sorts by time. */
  readonly id: string;
  readonly name: string;
  /** When the backup was made; ISO 8601 to the second. */
  readonly at: string;
  /** Its lock entry; absent if install did not create the folder. */
  readonly lock?: LockedSkill;
  /** Absolute path of the backup. */
  readonly path: string;
}

export const RECORD_NAME = 'record.json';
const RECORD_SCHEMA = 1;
const MAX_RECORD_BYTES = 16 * 1024 * 1024;
const ID = /^\d{8}T\d{6}Z-\d{3}-([\p{L}\p{N}-]+)-[0-9a-f]{8}$/u;

/** Creates a backup folder with its record, not yet synced to disk. Returns the future path of the backup, relative to the state folder. */
export function prepareBackup(
  handle: RootHandle,
  {
    part,
    name,
    lock,
    at,
  }: { readonly part: BackupKind; readonly name: string; readonly lock?: LockedSkill; readonly at: Date },
): string {
  const below = `${part}/${timedName(at, name)}`;
  mkdirSync(statePath(handle, below), { mode: 0o700 });
  const record = {
    schema: RECORD_SCHEMA,
    name,
    at: lockTime(at),
    lock: lock === undefined ? undefined : lockedFields(lock),
  };
  writeFileAtomically(statePath(handle, `${below}/${RECORD_NAME}`), Buffer.from(`${JSON.stringify(record)}\n`));
  return `${below}/${name}`;
}

/** Lists backups of one kind, newest first, optionally of one skill. Folders without a valid record are skipped. */
export function listBackups(handle: RootHandle, part: BackupKind, name?: string): readonly SkillBackup[] {
  return readdirSync(statePath(handle, part))
    .filter((id) => parseBackupName(id) !== undefined && (name === undefined || parseBackupName(id) === name))
    .toSorted((a, b) => compareText(b, a))
    .flatMap((id) => readBackup(handle, part, id) ?? []);
}

function parseBackupName(id: string): string | undefined {
  return ID.exec(id)?.[1];
}

/** Backups of these skills beyond the newest `keep`. */
export function surplusBackups(
  handle: RootHandle,
  part: BackupKind,
  { names, keep }: { readonly names: ReadonlySet<string>; readonly keep: number },
): readonly SkillBackup[] {
  const seen = new Map<string, number>();
  return readdirSync(statePath(handle, part))
    .toSorted((a, b) => compareText(b, a))
    .filter((id) => {
      const name = parseBackupName(id) ?? '';
      const count = seen.get(name) ?? 0;
      seen.set(name, count + 1);
      return names.has(name) && count >= keep;
    })
    .flatMap((id) => readBackup(handle, part, id) ?? []);
}

function readBackup(handle: RootHandle, part: BackupKind, id: string): SkillBackup | undefined {
  const below = `${part}/${id}`;
  if (lstatSync(statePath(handle, below)).isSymbolicLink()) return undefined;
  const read = readPrivateFile(statePath(handle, `${below}/${RECORD_NAME}`), { maxBytes: MAX_RECORD_BYTES });
  const record = read.type === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
  if (!isObject(record) || record['schema'] !== RECORD_SCHEMA) return undefined;
  const { name, at, lock } = record;
  if (typeof name !== 'string' || name !== parseBackupName(id) || !isValidName(name) || typeof at !== 'string')
    return undefined;
  // The record is written first, so a crash may leave it without a backup.
  if (lstatSync(statePath(handle, `${below}/${name}`), { throwIfNoEntry: false }) === undefined) return undefined;
  const entry = lock === undefined ? undefined : parseLockEntry(name, lock);
  const path = displayPath(handle, `${below}/${name}`);
  return { part, id, name, at, lock: entry, path };
}

function parseLockEntry(name: string, value: unknown): LockedSkill | undefined {
  try {
    return toLockedSkill(name, value);
  } catch (error) {
    if (findRefusal(error) !== undefined) return undefined;
    throw error;
  }
}

/** Relative to the state folder. */
export function backupPath({ part, id, name }: SkillBackup): string {
  return `${part}/${id}/${name}`;
}

export async function removeBackup(handle: RootHandle, { part, id }: SkillBackup): Promise<void> {
  await removeTree(statePath(handle, `${part}/${id}`));
}

/** Removes records without a backup: from uncommitted changes and from restored skills. */
export async function removeEmptyBackups(handle: RootHandle): Promise<void> {
  for (const part of BACKUP_PARTS)
    for (const id of readdirSync(statePath(handle, part))) {
      const place = statePath(handle, `${part}/${id}`);
      if (!ID.test(id) || !lstatSync(place).isDirectory()) continue;
      if (readdirSync(place).every((name) => name === RECORD_NAME || name.startsWith(`.${RECORD_NAME}.`)))
        await removeTree(place);
    }
}
