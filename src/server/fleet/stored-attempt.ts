/**
 * Attempts of evaluations as runs of a fleet: a worker runs one as a suite does on one machine, stores its record like that of any run, and
 * its result beside it. Half an attempt measures nothing, so one whose worker was lost begins again.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool } from 'pg';

import { SkillError } from '../../core/errors.ts';
import { toRelativePath } from '../../core/path.ts';
import { EVENTS_FILE, FINAL_FILE, RUN_FILE, STATE_FILE, isRunId, newRunId } from '../../journal/run-folder.ts';
import { namesIn } from '../../platform/fs/paths.ts';
import { sha256 } from '../../platform/hash.ts';
import type { StoredAttempt } from './attempt-format.ts';
import type { ContentStore } from './content-store.ts';
import type { RunQueue } from './run-queue.ts';
import { openRunStore, restoreRecord, storedRecords } from './run-store.ts';
import type { RecordPart } from './run-store.ts';
import { cancelRun, readRow, submitRun } from './run-table.ts';
import type { Claim, FleetRun, Submitter } from './run-table.ts';
import { fetchSkills } from './skill-sets.ts';

export interface AttemptPlaces {
  readonly roots: readonly { readonly source: string; readonly path: string }[];
  /** The attempt puts its record into `runs/` and its output files into `outputs/`. */
  readonly directory: string;
  /** Bytes that match their digest. */
  readonly load: (digest: string) => Promise<Uint8Array>;
  readonly signal: AbortSignal;
}

/** Runs an attempt and returns its result as JSON. */
export type RunAttempt = (attempt: StoredAttempt, places: AttemptPlaces) => Promise<Readonly<Record<string, unknown>>>;

export interface AttemptWork {
  readonly pool: Pool;
  readonly contents: ContentStore;
  readonly directory: string;
  readonly stop: AbortSignal;
  readonly runAttempt: RunAttempt | undefined;
}

/** Works on an attempt that a worker claimed. */
export async function workOnAttempt(
  run: FleetRun,
  stored: StoredAttempt,
  claim: Claim,
  work: AttemptWork,
): Promise<void> {
  const { pool, contents, stop, runAttempt } = work;
  if (runAttempt === undefined) throw damaged('this worker runs no evaluations');
  const directory = path.join(work.directory, 'runs', claim.worker, run.id);
  try {
    const roots = [];
    for (const { source, skillSet } of stored.roots)
      roots.push({ source, path: await fetchSkills(pool, contents, skillSet, work.directory) });
    const result = await runAttempt(stored, {
      roots,
      directory,
      load: (digest) => checked(contents, digest),
      signal: stop,
    });
    stop.throwIfAborted();
    const outputs = filesBelow(path.join(directory, 'outputs'));
    await contents.save(outputs);
    const files = outputs.map(({ path: name, digest }) => ({ path: name, digest }));
    await pool.query(
      `update skillwright.runs set result = $4 where id = $1 and attempt = $2 and worker = $3 and state = 'running'`,
      [run.id, claim.attempt, claim.worker, JSON.stringify({ result, outputs: files })],
    );
    await openRunStore(pool, contents, claim).append(recordParts(path.join(directory, 'runs')), {
      state: 'ended',
      outcome: 'done',
      answer: '',
      reason: '',
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const OWN_FILES = new Set([RUN_FILE, STATE_FILE, FINAL_FILE]);

/** The records in a folder, as they are stored. */
function recordParts(directory: string): readonly RecordPart[] {
  return namesIn(directory)
    .filter(isRunId)
    .map((record) => {
      const folder = path.join(directory, record);
      const lines = readFileSync(path.join(folder, EVENTS_FILE), 'utf8').split('\n').slice(0, -1);
      const files = filesBelow(folder).filter(({ path: name }) => name !== EVENTS_FILE);
      return { record, from: 0, lines, files: files.map((file) => ({ ...file, isOwn: OWN_FILES.has(file.path) })) };
    });
}

function filesBelow(
  folder: string,
): readonly { readonly path: string; readonly digest: string; readonly bytes: Buffer }[] {
  if (namesIn(folder).length === 0) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const bytes = readFileSync(file);
      return { path: path.relative(folder, file).split(path.sep).join('/'), digest: sha256(bytes), bytes };
    });
}

async function checked(contents: ContentStore, digest: string): Promise<Uint8Array> {
  const bytes = await contents.load(digest);
  if (bytes === undefined || sha256(bytes) !== digest) throw damaged(`${digest} is missing or changed`);
  return bytes;
}

export interface AttemptQueue {
  readonly pool: Pool;
  readonly contents: ContentStore;
  readonly queue: RunQueue;
  readonly owner: Submitter;
  readonly signal: AbortSignal;
}

export interface RemoteResult {
  readonly result: Readonly<Record<string, unknown>>;
  /** The name of its record below `runs`; undefined if nothing was recorded. */
  readonly record: string | undefined;
}

const POLL_MS = 100;

/** Runs an attempt on a worker and brings its record and its files to this machine. */
export async function attemptOnWorker(
  attempt: StoredAttempt,
  request: string,
  places: { readonly runs: string; readonly outputs: string | undefined },
  { pool, contents, queue, owner, signal }: AttemptQueue,
): Promise<RemoteResult> {
  const [first] = attempt.roots;
  if (first === undefined) throw new TypeError('an attempt has at least one set of skills');
  const submission = { id: newRunId(new Date()), request, skillSet: first.skillSet, options: { evaluation: attempt } };
  const { id } = await submitRun(pool, queue, submission, owner);
  try {
    for (;;) {
      signal.throwIfAborted();
      const row = await readRow(pool, owner.project, id);
      if (row?.state === 'ended') break;
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  } catch (error) {
    await cancelRun(pool, queue, owner.project, id);
    throw error;
  }
  const { rows } = await pool.query<{ stored: Stored | null; reason: string }>(
    'select result as stored, reason from skillwright.runs where id = $1',
    [id],
  );
  const [end] = rows;
  if (end?.stored === null || end === undefined) throw new Error(`the worker failed: ${end?.reason ?? 'no result'}`);
  const { result, outputs } = end.stored;
  let record: string | undefined;
  // Records of attempts that were lost are not results.
  const records = await storedRecords(pool, id);
  const last = records.at(-1)?.attempt;
  for (const one of records.filter(({ attempt: number }) => number === last)) {
    await restoreRecord(pool, contents, { run: id, ...one }, places.runs);
    if (!one.isChild) ({ record } = one);
  }
  for (const { path: name, digest } of places.outputs === undefined ? [] : outputs) {
    const place = toRelativePath(name);
    if (place.type === 'refused') throw damaged('a result names a file outside its folder');
    const file = path.join(places.outputs ?? '', place.path);
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, await checked(contents, digest), { mode: 0o600 });
  }
  return { result, record };
}

interface Stored {
  readonly result: Readonly<Record<string, unknown>>;
  readonly outputs: readonly { readonly path: string; readonly digest: string }[];
}

function damaged(reason: string): SkillError {
  return new SkillError({
    code: 'run/invalid',
    message: `the attempt cannot be run: ${reason}`,
    hint: 'run the evaluation again; if it repeats, check the artifact store',
    data: { path: '' },
  });
}
