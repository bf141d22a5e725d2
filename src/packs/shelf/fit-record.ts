/** What a fit moved, kept in the state folder of the shelf: it is written before the first move, and undone from. */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

import { isObject, parseJson, quoted } from '#core';
import { isInside, makeFolders, readTextFile, writeFileAtomically } from '#platform';
import { lockedFields, MAX_LOCK_BYTES, toLockedSkill, type LockedSkill } from '../lock/lock-file.ts';
import { refused } from '../problems.ts';
import { STATE_FOLDER } from '../root/root-paths.ts';

/** `from`: where the agent finds the entry. `to`: on the shelf, or in its state folder if the shelf or another root has the skill. */
export interface Move {
  readonly from: string;
  readonly to: string;
  /** For a link: the folder that it leads to. */
  readonly target?: string;
}

/** An entry that the fit created: a link to a skill that moved, or a folder with this SKILL.md. */
export type Made = { readonly path: string } & ({ readonly link: string } | { readonly text: string });

/** The entry of a root's lock; `after` is missing if the skill moved to the shelf, whose lock then has `shelved`. */
export interface LockChange {
  readonly root: string;
  readonly before: LockedSkill;
  readonly after?: LockedSkill;
  readonly shelved?: LockedSkill;
}

/** A folder or lock file whose time changed, and what it contained: the time is restored if it has that again. */
export interface Touched {
  readonly path: string;
  readonly mtimeMs: number;
  /** SHA-256 of the names or the text. */
  readonly content: string;
}

export interface FitRecord {
  readonly agent: string;
  /** ISO 8601. */
  readonly at: string;
  /** Skills that the user wants in the agent's folder. */
  readonly pins: readonly string[];
  readonly moves: readonly Move[];
  readonly made: readonly Made[];
  readonly locks: readonly LockChange[];
  readonly touched: readonly Touched[];
}

const FOLDER = `${STATE_FOLDER}/fits`;
const PENDING = `${FOLDER}/pending.json`;
const SCHEMA = 1;

/** Where entries are kept that are not skills of the shelf. */
export function keptFolder(shelf: string, agent: string): string {
  return path.join(shelf, FOLDER, agent);
}

/** Whether a fit was interrupted or is in progress. */
export function isFitPending(shelf: string): boolean {
  return existsSync(path.join(shelf, PENDING));
}

/** The finished fit of an agent. Throws a refusal if its file is not valid. */
export function readFit(shelf: string, agent: string): FitRecord | undefined {
  return readRecord(shelf, `${FOLDER}/${agent}.json`);
}

export function readPending(shelf: string): FitRecord | undefined {
  return readRecord(shelf, PENDING);
}

export function listFits(shelf: string): readonly FitRecord[] {
  const folder = path.join(shelf, FOLDER);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^[a-z-]+\.json$/.test(name) && name !== path.basename(PENDING))
    .toSorted()
    .flatMap((name) => readRecord(shelf, `${FOLDER}/${name}`) ?? []);
}

/** From here on, an interrupted fit is undone. */
export function writePending(shelf: string, record: FitRecord): void {
  makeFolders(keptFolder(shelf, record.agent), 0o700);
  const locks = record.locks.map(({ root, before, after, shelved }) => ({
    root,
    name: before.name,
    before: lockedFields(before),
    after: after && lockedFields(after),
    shelved: shelved && lockedFields(shelved),
  }));
  const text = `${JSON.stringify({ schema: SCHEMA, ...record, locks })}\n`;
  writeFileAtomically(path.join(shelf, PENDING), Buffer.from(text), { sync: true });
}

export function finishFit(shelf: string, agent: string): void {
  renameSync(path.join(shelf, PENDING), path.join(shelf, FOLDER, `${agent}.json`));
}

export function startUndo(shelf: string, agent: string): void {
  renameSync(path.join(shelf, FOLDER, `${agent}.json`), path.join(shelf, PENDING));
}

export function finishUndo(shelf: string): void {
  rmSync(path.join(shelf, PENDING), { force: true });
}

function readRecord(shelf: string, below: string): FitRecord | undefined {
  const file = path.join(shelf, below);
  const read = readTextFile(file, MAX_LOCK_BYTES);
  if (read.type === 'absent') return undefined;
  const record = read.type === 'read' ? toRecord(parseJson(read.text), shelf) : undefined;
  if (record !== undefined) return record;
  throw refused('install/root', `${quoted(file, 200)} is not a record of skillwright fit`, {
    path: file,
    hint: 'move the file away; the skills that it names stay on the shelf',
  });
}

function toRecord(value: unknown, shelf: string): FitRecord | undefined {
  if (!isObject(value) || value['schema'] !== SCHEMA) return undefined;
  const { agent, at, pins, moves, made, locks, touched } = value;
  if (typeof agent !== 'string' || typeof at !== 'string' || !/^[a-z-]+$/.test(agent)) return undefined;
  if (!isListOf(pins, (one): one is string => typeof one === 'string')) return undefined;
  if (!isListOf(moves, (one) => isMove(one, shelf)) || !isListOf(made, isMade)) return undefined;
  if (!isListOf(touched, isTouched) || !isListOf(locks, isObject)) return undefined;
  return { agent, at, pins, moves, made, touched, locks: locks.map(toLockChange) };
}

function isListOf<T>(value: unknown, isOne: (one: unknown) => one is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isOne);
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && path.isAbsolute(value) && path.resolve(value) === value;
}

function isMove(value: unknown, shelf: string): value is Move {
  if (!isObject(value)) return false;
  const { from, to, target } = value;
  return isPath(from) && isPath(to) && isInside(to, shelf) && (target === undefined || isPath(target));
}

function isMade(value: unknown): value is Made {
  if (!isObject(value) || !isPath(value['path'])) return false;
  return typeof value['link'] === 'string' || typeof value['text'] === 'string';
}

function isTouched(value: unknown): value is Touched {
  return (
    isObject(value) &&
    isPath(value['path']) &&
    typeof value['mtimeMs'] === 'number' &&
    typeof value['content'] === 'string'
  );
}

/** Throws a refusal for an entry that no lock could have. */
function toLockChange({ root, name, before, after, shelved }: Readonly<Record<string, unknown>>): LockChange {
  const toSkill = (value: unknown): LockedSkill => toLockedSkill(String(name), value);
  return {
    root: String(root),
    before: toSkill(before),
    ...(after === undefined ? {} : { after: toSkill(after) }),
    ...(shelved === undefined ? {} : { shelved: toSkill(shelved) }),
  };
}
