/** The stored record of one attempt of a run: lines with the same hash chain as in a folder, and files by digest. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Pool } from 'pg';

import { toRelativePath } from '../../core/path.ts';
import { SkillError } from '../../core/errors.ts';
import { EVENTS_FILE } from '../../journal/run-folder.ts';
import { sha256 } from '../../platform/hash.ts';
import type { ContentStore } from './content-store.ts';
import type { Claim } from './run-table.ts';

/** New lines and files of one record: that of the run, or of a subagent. */
export interface RecordPart {
  readonly record: string;
  /** The number of lines before these. */
  readonly from: number;
  readonly lines: readonly string[];
  readonly files: readonly { readonly path: string; readonly digest: string; readonly bytes: Uint8Array }[];
}

export interface RunStore {
  /** Stores everything together. Returns false if the run belongs to another worker now. */
  append(parts: readonly RecordPart[]): Promise<boolean>;
}

/** The records of the attempt that a worker claimed. */
export function openRunStore(pool: Pool, contents: ContentStore, { run, attempt, worker }: Claim): RunStore {
  return {
    async append(parts) {
      await contents.save(parts.flatMap(({ files }) => files));
      const lines = parts.flatMap(({ record, from, lines: given }) =>
        given.map((line, index) => ({ record, seq: from + index + 1, line })),
      );
      const files = parts.flatMap(({ record, files: given }) => given.map((file) => ({ record, ...file })));
      // One statement: the lock keeps the run with this worker until everything is stored.
      const { rows } = await pool.query<{ held: number }>(
        `with held as (
           select 1 from skillwright.runs where id = $1 and attempt = $2 and worker = $3 and state = 'running' for share
         ), added_lines as (
           insert into skillwright.lines (run, attempt, record, seq, line)
           select $1, $2, record, seq, line from unnest($4::text[], $5::int[], $6::text[]) as given (record, seq, line), held
         ), added_files as (
           insert into skillwright.files (run, attempt, record, path, digest)
           select $1, $2, record, path, digest from unnest($7::text[], $8::text[], $9::text[]) as given (record, path, digest), held
           on conflict (run, attempt, record, path) do update set digest = excluded.digest
         ) select count(*)::int as held from held`,
        [
          run,
          attempt,
          worker,
          lines.map(({ record }) => record),
          lines.map(({ seq }) => seq),
          lines.map(({ line }) => line),
          files.map(({ record }) => record),
          files.map((file) => file.path),
          files.map(({ digest }) => digest),
        ],
      );
      return rows[0]?.held === 1;
    },
  };
}

/** A record of a run. `attempt` is the one that wrote it. */
export interface StoredRecord {
  readonly attempt: number;
  readonly record: string;
  /** Whether it is the record of a subagent. */
  readonly isChild: boolean;
}

/** All records of a run, in the order in which they began. */
export async function storedRecords(pool: Pool, run: string): Promise<readonly StoredRecord[]> {
  const { rows } = await pool.query<StoredRecord>(
    `select attempt, record, line::jsonb->'event'->>'parent' is not null as "isChild"
     from skillwright.lines where run = $1 and seq = 1 order by attempt, record`,
    [run],
  );
  return rows;
}

/** Writes a stored record into a directory as it was on the worker. Bytes that do not match their digest are refused. */
export async function restoreRecord(
  pool: Pool,
  contents: ContentStore,
  { run, attempt, record }: StoredRecord & { readonly run: string },
  directory: string,
): Promise<string> {
  const folder = path.join(directory, record);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { rows: files } = await pool.query<{ path: string; digest: string }>(
    'select path, digest from skillwright.files where run = $1 and attempt = $2 and record = $3',
    [run, attempt, record],
  );
  for (const { path: name, digest } of files) {
    const place = toRelativePath(name);
    if (place.type === 'refused') throw damaged(run, 'it names a file outside its folder');
    const bytes = await contents.load(digest);
    if (bytes === undefined || sha256(bytes) !== digest) throw damaged(run, `${name} is missing or changed`);
    mkdirSync(path.dirname(path.join(folder, place.path)), { recursive: true, mode: 0o700 });
    writeFileSync(path.join(folder, place.path), bytes, { mode: 0o600 });
  }
  const lines = await storedLines(pool, { run, attempt, record });
  writeFileSync(path.join(folder, EVENTS_FILE), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  return folder;
}

/** The lines of a record, after a number of lines. */
export async function storedLines(
  pool: Pool,
  { run, attempt, record }: Pick<StoredRecord, 'attempt' | 'record'> & { readonly run: string },
  after = 0,
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ line: string }>(
    'select line from skillwright.lines where run = $1 and attempt = $2 and record = $3 and seq > $4 order by seq limit 10000',
    [run, attempt, record, after],
  );
  return rows.map(({ line }) => line);
}

function damaged(run: string, reason: string): SkillError {
  return new SkillError({
    code: 'run/invalid',
    message: `the stored record of ${run} is damaged: ${reason}`,
    hint: 'restore the database and the artifact store from the same backup',
    data: { path: run },
  });
}
