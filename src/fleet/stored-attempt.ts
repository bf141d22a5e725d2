/**
 * Attempts of evaluations as runs of a fleet: a worker runs one as a suite does on one machine, stores its record like that of any run, and
 * its result beside it. Half an attempt measures nothing, so one whose worker was lost begins again.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';

import type { Pool } from 'pg';

import { SkillError } from '#core';
import { EVENTS_FILE, isDerivedFile, isRunId } from '#journal';
import { namesIn, sha256 } from '#platform';
import type { StoredAttempt } from './attempt-format.ts';
import type { ContentStore } from './content-store.ts';
import { openRunStore, type RecordPart } from './run-store.ts';
import type { Claim, FleetRun } from './run-table.ts';
import { fetchSkills } from './skill-sets.ts';
import { storableJson } from './storable-text.ts';

interface AttemptContext {
  readonly roots: readonly { readonly source: string; readonly path: string }[];
  /** The attempt puts its record into `runs/` and its output files into `outputs/`. */
  readonly directory: string;
  /** Bytes that match their digest. */
  readonly load: (digest: string) => Promise<Uint8Array>;
  readonly signal: AbortSignal;
}

/** Runs an attempt and returns its result as JSON. */
export type RunAttempt = (attempt: StoredAttempt, places: AttemptContext) => Promise<Readonly<Record<string, unknown>>>;

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
      [run.id, claim.attempt, claim.worker, storableJson({ result, outputs: files })],
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

/** The records in a folder, as they are stored. */
function recordParts(directory: string): readonly RecordPart[] {
  return namesIn(directory)
    .filter(isRunId)
    .map((record) => {
      const folder = path.join(directory, record);
      const lines = readFileSync(path.join(folder, EVENTS_FILE), 'utf8').split('\n').slice(0, -1);
      const files = filesBelow(folder).filter(({ path: name }) => name !== EVENTS_FILE);
      return { record, from: 0, lines, files: files.map((file) => ({ ...file, isOwn: isDerivedFile(file.path) })) };
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

/** Throws if the bytes are missing or do not match their digest. */
export async function checked(contents: ContentStore, digest: string): Promise<Uint8Array> {
  const bytes = await contents.load(digest);
  if (bytes === undefined || sha256(bytes) !== digest) throw damaged(`${digest} is missing or changed`);
  return bytes;
}

export function damaged(reason: string): SkillError {
  return new SkillError({
    code: 'run/invalid',
    message: `the attempt cannot be run: ${reason}`,
    hint: 'run the evaluation again; if it repeats, check the artifact store',
    data: { path: '' },
  });
}
