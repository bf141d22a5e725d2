/**
 * Where runs lie: `<directory>/<id>/` with
 *
 *     run.json       the run at a glance, made from the events
 *     events.jsonl   everything that happened, in order: the source of truth
 *     index.json     the skills there were
 *     state.json     the state of the session at the end
 *     final.md       the answer
 *     observations/ inputs/ artifacts/   large content, by hash
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../core/errors.ts';
import { RUN_SCHEMA } from '../core/run-events.ts';
import type { RunInfo } from '../core/run-events.ts';
import { nearest } from '../core/nearest.ts';
import { toRelativePath } from '../core/path.ts';
import { quoted } from '../core/text/text.ts';
import { openConfined } from '../platform/fs/confined-directory.ts';
import type { ConfinedDirectory } from '../platform/fs/confined-directory.ts';
import { ownerState, thisProcess } from '../platform/fs/lock-owner.ts';
import type { LockOwner } from '../platform/fs/lock-owner.ts';
import { isPresent, isSystemError } from '../platform/fs/paths.ts';
import { splitSeal } from './run-info.ts';
import { fieldOf, isRunInfo } from './shape.ts';
import { makeFolders } from '../platform/fs/make-folders.ts';

export const EVENTS_FILE = 'events.jsonl';
export const RUN_FILE = 'run.json';
export const INDEX_FILE = 'index.json';
export const STATE_FILE = 'state.json';
export const FINAL_FILE = 'final.md';

/** Where the runs of a project lie; `directory` is what its configuration says. */
export function runsDirectory(project: string, directory = '.agent/runs'): string {
  return path.resolve(project, directory);
}

const MAX_RUN_BYTES = 16 * 1024 * 1024;
const MAX_ATTEMPTS = 100;
const ID = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

export function isRunId(text: string): boolean {
  return ID.test(text);
}

/** Makes the folder of a new run, for us alone. Throws the system's error, or says why the directory is not used. */
export function makeRunFolder(directory: string, now: Date): { readonly id: string; readonly path: string } {
  // All but the first run find it there.
  if (!isPresent(directory)) makeDirectory(directory);
  const reason = foreignReason(directory);
  if (reason !== undefined) throw notUsed(directory, reason);
  for (let attempt = 0; ; attempt += 1) {
    const id = newId(now);
    try {
      mkdirSync(path.join(directory, id), { mode: 0o700 });
      return { id, path: path.join(directory, id) };
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EEXIST' || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

function makeDirectory(directory: string): void {
  makeFolders(path.dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
  }
}

/** Why runs are not written to a directory, or nothing: a link leads where somebody else wants them. */
export function foreignReason(directory: string): string | undefined {
  const stats = lstatSync(directory, { throwIfNoEntry: false });
  if (stats === undefined) return 'it is not there';
  if (stats.isSymbolicLink()) return 'it is a symbolic link';
  if (!stats.isDirectory()) return 'it is no folder';
  if (process.getuid !== undefined && stats.uid !== process.getuid()) return 'it belongs to another user';
  if (process.platform !== 'win32' && (stats.mode & 0o002) !== 0) return 'everybody may write to it';
  return undefined;
}

function notUsed(directory: string, reason: string): SkillError {
  return new SkillError({
    code: 'record/failed',
    message: `no run is recorded in ${quoted(directory, 200)}: ${reason}`,
    hint: 'remove what is there, or name another folder for runs',
    data: { path: directory, cause: reason },
  });
}

/** The second, then milliseconds and chance in hex: names in order are runs in order, and `last` is the last. */
function newId(now: Date): string {
  const time = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const chance = process.getBuiltinModule('node:crypto').randomBytes(3).toString('hex').slice(0, 5);
  return `${time}Z-${now.getUTCMilliseconds().toString(16).padStart(3, '0')}${chance}`;
}

/** `run.json` as it was read; `seal` and `text` are what a check of the seal needs. */
export type RunReading =
  | { readonly type: 'run'; readonly info: RunInfo; readonly text: string; readonly seal: string | undefined }
  | { readonly type: 'absent' }
  /** Written by a later version of this program. */
  | { readonly type: 'newer'; readonly schema: number }
  | { readonly type: 'invalid'; readonly reason: string };

export function readRunInfo(folder: ConfinedDirectory): RunReading {
  const read = readRunFile(folder, RUN_FILE, MAX_RUN_BYTES);
  if (read.type === 'absent') return read;
  if (read.type === 'failed') return { type: 'invalid', reason: read.reason };
  if (!isUtf8(read.bytes)) return { type: 'invalid', reason: 'it is no UTF-8' };
  const whole = read.bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(whole);
  } catch (error) {
    if (error instanceof SyntaxError) return { type: 'invalid', reason: 'it is no JSON' };
    throw error;
  }
  const schema = fieldOf(value, 'schema');
  if (typeof schema === 'number' && schema > RUN_SCHEMA) return { type: 'newer', schema };
  if (schema !== RUN_SCHEMA || !isRunInfo(value)) return { type: 'invalid', reason: 'it is not of the expected form' };
  return { type: 'run', info: value, ...splitSeal(whole) };
}

export type RunFile =
  | { readonly type: 'read'; readonly bytes: Buffer }
  | { readonly type: 'absent' }
  | { readonly type: 'failed'; readonly reason: string };

/** A file of a run by its name: nothing outside the folder is read, whatever the name leads to. */
export function readRunFile(folder: ConfinedDirectory, name: string, maxBytes: number): RunFile {
  const file = toRelativePath(name);
  if (file.type === 'refused') return { type: 'absent' };
  const read = folder.read(file.path, { maxBytes, allowHardLinks: true });
  if (read.type === 'read') return read;
  return read.code === 'file/missing'
    ? { type: 'absent' }
    : { type: 'failed', reason: `it is not read (${read.code})` };
}

/** `killed`: nobody writes it any more and nobody ended it. */
export type RunLife = 'ended' | 'running' | 'killed';

export function runLife({ outcome, process: owner }: RunInfo, asker: LockOwner = thisProcess()): RunLife {
  if (outcome !== 'running') return 'ended';
  // Who lives in another space of process numbers may live: such a run is not touched.
  return owner === null || ownerState(owner, asker) === 'dead' ? 'killed' : 'running';
}

export interface ListedRun {
  readonly id: string;
  readonly path: string;
  readonly reading: RunReading;
}

/** The runs of a directory, the newest first. One that is not there has none. */
export function listRuns(directory: string): readonly ListedRun[] {
  return runIds(directory).map((id) => {
    const place = path.join(directory, id);
    return { id, path: place, reading: inFolder(place, readRunInfo) ?? { type: 'absent' } };
  });
}

/** The newest first. */
export function runIds(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isRunId(entry.name))
      .map(({ name }) => name)
      .toSorted()
      .toReversed();
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return [];
    throw error;
  }
}

/** Does something with an opened folder; nothing where it cannot be opened. */
export function inFolder<Result>(place: string, act: (folder: ConfinedDirectory) => Result): Result | undefined {
  const opening = openConfined(place);
  if (opening.type === 'failed') return undefined;
  try {
    return act(opening.directory);
  } finally {
    opening.directory.close();
  }
}

/** The path of a run by its id, by a start of it that only one has, or by `last`. Throws `run/unknown`. */
export function findRun(directory: string, name: string): string {
  const ids = runIds(directory);
  const [newest] = ids;
  if (name === 'last' && newest !== undefined) return path.join(directory, newest);
  const meant = ids.includes(name) ? [name] : ids.filter((id) => name !== '' && id.startsWith(name));
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return path.join(directory, only);
  const near = meant.length > 1 ? meant.slice(0, 3) : nearest(name, ids);
  const many = `${quoted(name)} is the start of ${String(meant.length)} runs`;
  throw new SkillError({
    code: 'run/unknown',
    message: meant.length > 1 ? many : `there is no run ${quoted(name)} in ${quoted(directory, 200)}`,
    hint: near.length === 0 ? 'see skillwright runs list' : `there is ${near.join(', ')}`,
    data: { name, nearest: near },
  });
}
