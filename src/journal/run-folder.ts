/**
 * The folder of a run, `<directory>/<id>/`, contains
 *
 *     run.json       the summary, derived from the events
 *     events.jsonl   everything that happened, in order: the source of truth
 *     index.json     the skills at the start
 *     state.json     the state of the session at the end
 *     final.md       the answer
 *     observations/ inputs/ artifacts/   large content, by hash
 */
import { isUtf8 } from 'node:buffer';
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { readField, parseJson, quoted, RUN_SCHEMA, SkillError, toRelativePath, type RunInfo, isProblem } from '#core';
import {
  findLink,
  inConfined,
  isPresent,
  isSystemError,
  makeFolders,
  ownerState,
  sha256,
  thisProcess,
  type ConfinedDirectory,
  type LockOwner,
} from '#platform';
import { splitSeal } from './run-info.ts';
import { isRunInfo } from './shape.ts';

export const EVENTS_FILE = 'events.jsonl';
export const RUN_FILE = 'run.json';
export const INDEX_FILE = 'index.json';
export const SCAN_FILE = 'scan.json';
export const STATE_FILE = 'state.json';
export const FINAL_FILE = 'final.md';

/** Whether a file of a record is derived from its events, and so differs in every record. */
export function isDerivedFile(name: string): boolean {
  return name === RUN_FILE || name === STATE_FILE || name === FINAL_FILE;
}

/** Returns the folder for the runs of a project; `directory` is the configured value. */
export function runsDirectory(project: string, directory = '.agent/runs'): string {
  return path.resolve(project, directory);
}

const MAX_RUN_BYTES = 16 * 1024 * 1024;
const MAX_ATTEMPTS = 100;
const ID = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

export function isRunId(text: string): boolean {
  return ID.test(text);
}

/**
 * Creates the folder of a new run for this user only. Throws the system's error, or an error that says why the directory is not used.
 */
export function makeRunFolder(
  directory: string,
  now: Date,
  project?: string,
): { readonly id: string; readonly path: string } {
  // Only the first run has to create it.
  if (runsFolderState(directory, project) === 'absent') makeDirectory(directory);
  const state = runsFolderState(directory, project);
  if (state === 'absent') throw notUsed(directory, 'it does not exist');
  if (state !== 'usable') throw notUsed(directory, state.problem);
  for (let attempt = 0; ; attempt += 1) {
    const id = newRunId(now);
    try {
      mkdirSync(path.join(directory, id), { mode: 0o700 });
      return { id, path: path.join(directory, id) };
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EEXIST' || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Creates the directory of runs for this user only. */
export function makeDirectory(directory: string): void {
  makeFolders(path.dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
  }
}

/** Whether runs can be written to a directory. A link, also one in the project that leads to it, could end where another user has control. */
export function runsFolderState(
  directory: string,
  project = directory,
): 'absent' | 'usable' | { readonly problem: string } {
  const link = findLink(directory, project);
  if (link !== undefined) return { problem: `${link === directory ? 'it' : quoted(link, 200)} is a symbolic link` };
  if (!isPresent(directory)) return 'absent';
  const stats = lstatSync(directory);
  if (stats.isSymbolicLink()) return { problem: 'it is a symbolic link' };
  if (!stats.isDirectory()) return { problem: 'it is not a folder' };
  if (process.getuid !== undefined && stats.uid !== process.getuid()) return { problem: 'it belongs to another user' };
  if (process.platform !== 'win32' && (stats.mode & 0o002) !== 0) return { problem: 'it is writable by everyone' };
  return 'usable';
}

function notUsed(directory: string, reason: string): SkillError {
  return new SkillError({
    code: 'record/failed',
    message: `cannot record a run in ${quoted(directory, 200)}: ${reason}`,
    hint: 'remove it, or configure another folder for runs',
    data: { path: directory, cause: reason },
  });
}

/** Seconds, then milliseconds and random characters in hex: ids sort by time. */
export function newRunId(now: Date): string {
  const time = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  const chance = process.getBuiltinModule('node:crypto').randomBytes(3).toString('hex').slice(0, 5);
  return `${time}Z-${now.getUTCMilliseconds().toString(16).padStart(3, '0')}${chance}`;
}

/** The id of the trace of a run that belongs to no other: the same for every process that sends spans of the run. */
export function toTraceId(run: string): string {
  return sha256(`skillwright trace ${run}`).slice(0, 32);
}

/** When a run began, in milliseconds, from its id, which editing a file cannot change. */
export function startOfId(id: string): number {
  const [, year, month, day, hour, minute, second] = TIME.exec(id) ?? [];
  return Date.parse(
    `${String(year)}-${String(month)}-${String(day)}T${String(hour)}:${String(minute)}:${String(second)}Z`,
  );
}

const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/;

/** Folders with this prefix are not runs; the next prune removes them. */
export const REMOVED_PREFIX = '.removed-';

/** The content of `run.json`; `seal` and `text` are needed to check the seal. */
export type RunReading =
  | { readonly type: 'run'; readonly info: RunInfo; readonly text: string; readonly seal: string | undefined }
  | { readonly type: 'absent' }
  /** Written by a later version of skillwright. */
  | { readonly type: 'newer'; readonly schema: number }
  | { readonly type: 'invalid'; readonly reason: string };

export function readRunInfo(folder: ConfinedDirectory): RunReading {
  const read = readRunFile(folder, RUN_FILE, MAX_RUN_BYTES);
  if (read.type === 'absent') return read;
  if (read.type === 'failed') return { type: 'invalid', reason: read.reason };
  if (!isUtf8(read.bytes)) return { type: 'invalid', reason: 'it is not UTF-8' };
  const whole = read.bytes.toString('utf8');
  const value = parseJson(whole);
  if (value === undefined) return { type: 'invalid', reason: 'it is not JSON' };
  const schema = readField(value, 'schema');
  if (typeof schema === 'number' && schema > RUN_SCHEMA) return { type: 'newer', schema };
  if (schema !== RUN_SCHEMA || !isRunInfo(value)) return { type: 'invalid', reason: 'it has an unexpected form' };
  return { type: 'run', info: value, ...splitSeal(whole) };
}

export type RunFile =
  | { readonly type: 'read'; readonly bytes: Buffer }
  | { readonly type: 'absent' }
  | { readonly type: 'failed'; readonly reason: string };

/** Reads a file of a run by name. Nothing outside the folder is read, wherever the name leads. */
export function readRunFile(folder: ConfinedDirectory, name: string, maxBytes: number): RunFile {
  const file = toRelativePath(name);
  if (isProblem(file)) return { type: 'absent' };
  const read = folder.read(file, { maxBytes, allowHardLinks: true });
  if (read.type === 'read') return read;
  return read.code === 'file/missing'
    ? { type: 'absent' }
    : { type: 'failed', reason: `it cannot be read (${read.code})` };
}

/** `killed`: the process ended without ending the run. */
export type RunLife = 'ended' | 'running' | 'killed';

export function runLife({ outcome, process: owner }: RunInfo, asker: LockOwner = thisProcess()): RunLife {
  if (outcome !== 'running') return 'ended';
  // An owner in another process id namespace may be alive, so such a run is not touched.
  return owner === null || ownerState(owner, asker) === 'dead' ? 'killed' : 'running';
}

/** The outcome of a run, or `killed` if it has none and its process is gone. */
export function runState(info: RunInfo): RunInfo['outcome'] | 'killed' {
  return info.outcome === 'running' && runLife(info) === 'killed' ? 'killed' : info.outcome;
}

export interface ListedRun {
  readonly id: string;
  readonly path: string;
  readonly reading: RunReading;
  /** The outcome; `killed` if it has none and its process is gone; `newer` or `unreadable`. */
  readonly state: string;
}

/** Returns the runs of a directory whose id is wanted, newest start first; empty if the directory does not exist. */
export function listRuns(directory: string, isWanted: (id: string) => boolean = () => true): readonly ListedRun[] {
  return runIds(directory)
    .filter(isWanted)
    .map((id) => {
      const place = path.join(directory, id);
      const reading = readRunAt(place);
      const state = reading.type === 'run' ? runState(reading.info) : reading.type === 'newer' ? 'newer' : 'unreadable';
      return { id, path: place, reading, state };
    })
    .toSorted((one, two) => startOfRun(two) - startOfRun(one) || madeAt(two.path) - madeAt(one.path));
}

/** Orders runs of the same millisecond. */
function madeAt(place: string): number {
  return lstatSync(place, { throwIfNoEntry: false })?.birthtimeMs ?? 0;
}

/** The clock may have been set back, and a folder can have any name. Without a time in the record, the id counts. */
function startOfRun({ id, reading }: ListedRun): number {
  const recorded = reading.type === 'run' ? Date.parse(reading.info.startedAt) : Number.NaN;
  return Number.isNaN(recorded) ? startOfId(id) : recorded;
}

/** In the order of ids, the highest first. */
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

/** Reads `run.json` of a run folder. */
export function readRunAt(run: string): RunReading {
  return inConfined(run, readRunInfo, () => ({ type: 'absent' }));
}
