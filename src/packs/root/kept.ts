/**
 * What was taken out of a root and is not lost: removed skills, versions before an update or a rollback, and folders that had to make room.
 * Each lies in a folder of its own, `<part>/<time>-<name>-<chance>/<name>`, with a record beside it.
 */
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';

import { compareText } from '../../core/diagnostic.ts';
import { isValidName } from '../../core/skill-name.ts';
import { isObject } from '../../core/json/json-schema.ts';
import type { LockedSkill } from '../lock/lock.ts';
import { lockTime, lockedFields, toLockedSkill } from '../lock/lock-file.ts';
import { PackRefused } from '../problems.ts';
import { parseJson } from '../../core/json/parse-json.ts';
import { writeFileAtomically } from '../../platform/fs/atomic-replace.ts';
import { readPrivateFile } from '../../platform/fs/read-file.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { shownPlace, statePlace, timedName } from './places.ts';
import type { HeldRoot, StatePart } from './places.ts';

export type KeptPart = Exclude<StatePart, 'staging'>;

export interface KeptSkill {
  readonly part: KeptPart;
  /** The name of its folder: sorts by time. */
  readonly id: string;
  readonly name: string;
  /** When it was taken out; ISO 8601, to the second. */
  readonly at: string;
  /** Its entry in the lock. Absent: the folder was not made by install. */
  readonly lock?: LockedSkill;
  /** Absolute: where it lies now. */
  readonly path: string;
}

/** Lies beside what is kept. */
export const RECORD_NAME = 'record.json';
const RECORD_SCHEMA = 1;
const MAX_RECORD_BYTES = 16 * 1024 * 1024;
const ID = /^\d{8}T\d{6}Z-\d{3}-([\p{L}\p{N}-]+)-[0-9a-f]{8}$/u;

/** Makes the folder for what will be taken out, and its record, not yet on the disk. Gives where it will lie, below the state folder. */
export function prepareKept(
  held: HeldRoot,
  {
    part,
    name,
    lock,
    at,
  }: { readonly part: KeptPart; readonly name: string; readonly lock?: LockedSkill; readonly at: Date },
): string {
  const below = `${part}/${timedName(at, name)}`;
  mkdirSync(statePlace(held, below), { mode: 0o700 });
  const record = {
    schema: RECORD_SCHEMA,
    name,
    at: lockTime(at),
    ...(lock === undefined ? {} : { lock: lockedFields(lock) }),
  };
  writeFileAtomically(statePlace(held, `${below}/${RECORD_NAME}`), Buffer.from(`${JSON.stringify(record)}\n`));
  return `${below}/${name}`;
}

/** What is kept in a part, newest first; of one skill where a name is given. A folder without a record of ours is passed over. */
export function listKept(held: HeldRoot, part: KeptPart, name?: string): readonly KeptSkill[] {
  return readdirSync(statePlace(held, part))
    .filter((id) => nameOf(id) !== undefined && (name === undefined || nameOf(id) === name))
    .toSorted((a, b) => compareText(b, a))
    .flatMap((id) => readKept(held, part, id) ?? []);
}

/** The skill that an entry is of, by the name of its folder. */
function nameOf(id: string): string | undefined {
  return ID.exec(id)?.[1];
}

/** All but the newest few of each of these skills. */
export function surplusKept(
  held: HeldRoot,
  part: KeptPart,
  { names, keep }: { readonly names: ReadonlySet<string>; readonly keep: number },
): readonly KeptSkill[] {
  const seen = new Map<string, number>();
  return readdirSync(statePlace(held, part))
    .toSorted((a, b) => compareText(b, a))
    .filter((id) => {
      const name = nameOf(id) ?? '';
      const count = seen.get(name) ?? 0;
      seen.set(name, count + 1);
      return names.has(name) && count >= keep;
    })
    .flatMap((id) => readKept(held, part, id) ?? []);
}

function readKept(held: HeldRoot, part: KeptPart, id: string): KeptSkill | undefined {
  const below = `${part}/${id}`;
  if (lstatSync(statePlace(held, below)).isSymbolicLink()) return undefined;
  const read = readPrivateFile(statePlace(held, `${below}/${RECORD_NAME}`), { maxBytes: MAX_RECORD_BYTES });
  const record = read.type === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
  if (!isObject(record) || record['schema'] !== RECORD_SCHEMA) return undefined;
  const { name, at, lock } = record;
  if (typeof name !== 'string' || name !== nameOf(id) || !isValidName(name) || typeof at !== 'string') return undefined;
  // The record is made first: a crash leaves it alone.
  if (lstatSync(statePlace(held, `${below}/${name}`), { throwIfNoEntry: false }) === undefined) return undefined;
  const entry = lock === undefined ? undefined : entryOf(name, lock);
  const path = shownPlace(held, `${below}/${name}`);
  return { part, id, name, at, ...(entry === undefined ? {} : { lock: entry }), path };
}

function entryOf(name: string, value: unknown): LockedSkill | undefined {
  try {
    return toLockedSkill(name, value);
  } catch (error) {
    if (error instanceof PackRefused) return undefined;
    throw error;
  }
}

/** Below the state folder. */
export function keptPlace({ part, id, name }: KeptSkill): string {
  return `${part}/${id}/${name}`;
}

/** Removes one for good. */
export async function removeKept(held: HeldRoot, { part, id }: KeptSkill): Promise<void> {
  await removeTree(statePlace(held, `${part}/${id}`));
}

/** Removes records that have nothing beside them: of work that never came to its commit, and of what was brought back. */
export async function removeEmptyKept(held: HeldRoot): Promise<void> {
  for (const part of ['trash', 'previous', 'backups'] as const)
    for (const id of readdirSync(statePlace(held, part))) {
      const place = statePlace(held, `${part}/${id}`);
      if (!ID.test(id) || !lstatSync(place).isDirectory()) continue;
      if (readdirSync(place).every((name) => name === RECORD_NAME || name.startsWith(`.${RECORD_NAME}.`)))
        await removeTree(place);
    }
}
