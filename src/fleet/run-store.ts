/** The stored record of one attempt of a run: lines with the same hash chain as in a folder, and files by digest. */
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Pool } from 'pg';

import { SkillError, toRelativePath, isProblem } from '#core';
import { EVENTS_FILE, isDerivedFile, writeSummary } from '#journal';
import { sha256 } from '#platform';
import type { ContentStore } from './content-store.ts';
import { announceFrom, cancelReason, type Claim, type Ending } from './run-table.ts';
import { storableText } from './database.ts';

/** New lines and files of one record: that of the run, or of a subagent. */
export interface RecordPart {
  readonly record: string;
  /** The number of lines before these. */
  readonly from: number;
  readonly lines: readonly string[];
  readonly files: readonly RecordFile[];
}

export interface RecordFile {
  readonly path: string;
  readonly digest: string;
  readonly bytes: Uint8Array;
  /** The file is different in each record, so it is stored with the record and not among the contents. */
  readonly isOwn: boolean;
}

export interface RecordTables {
  readonly pool: Pool;
  readonly contents: ContentStore;
}

/**
 * Stores everything together, and with `ending` the end of the attempt that a worker claimed. Returns false if the run belongs to another
 * worker now. The same lines may be given again when the answer was not heard.
 */
export async function appendRecords(
  { pool, contents }: RecordTables,
  { run, attempt, worker }: Claim,
  parts: readonly RecordPart[],
  ending?: Ending,
): Promise<boolean> {
  const files = parts.flatMap(({ record, files: own }) => own.map((file) => ({ record, ...file })));
  await contents.save(files.filter(({ isOwn }) => !isOwn));
  const lines = parts.flatMap(({ record, from, lines: own }) =>
    own.map((line, index) => ({ record, seq: from + index + 1, line })),
  );
  const values = [
    run,
    attempt,
    worker,
    lines.map(({ record }) => record),
    lines.map(({ seq }) => seq),
    lines.map(({ line }) => line),
    files.map(({ record }) => record),
    files.map((file) => file.path),
    files.map(({ digest }) => digest),
    files.map(({ bytes, isOwn }) => (isOwn ? Buffer.from(bytes) : null)),
  ];
  const { rows } = await pool.query<{ held: number }>(
    ending === undefined
      ? { name: 'append', text: appendUnder(HELD), values }
      : { name: 'end', text: appendUnder(ENDED, END), values: [...values, ...endValues(ending)] },
  );
  return rows[0]?.held === 1;
}

/** The lock keeps the run with this worker until everything is stored. */
const HELD = `select 1 from skillwright.runs where id = $1 and attempt = $2 and worker = $3 and state = 'running' for share`;
/** A run that was cancelled while it began to wait would wait for ever. */
const OVER = `($11 = 'ended' or is_cancelled)`;
const ENDED = `update skillwright.runs set state = case when ${OVER} then 'ended' else $11 end, worker = null,
    outcome = case when $11 = 'waiting' and is_cancelled then 'cancelled' else $12 end, answer = $13,
    reason = case when $11 = 'waiting' and is_cancelled or $12 = 'cancelled' then ${cancelReason(`coalesce($14, 'cancelled')`)} else $14 end, used = $15,
    ended_at = case when ${OVER} then now() end
  where id = $1 and attempt = $2 and worker = $3 and state = 'running' returning *`;
const END = `, attempt_ended as (
    update skillwright.attempts set ended_at = now(), ending = coalesce($12, 'waiting')
    where run = $1 and attempt = $2 and exists (select 1 from held)
  ), announced as (${announceFrom('held')})`;

/** One statement, so that it is one round trip and one transaction. */
function appendUnder(held: string, more = ''): string {
  return `with held as (${held}), added_lines as (
      insert into skillwright.lines (run, attempt, record, seq, line)
      select $1, $2, input.record, input.seq, input.line
      from unnest($4::text[], $5::int[], $6::text[]) as input (record, seq, line), held on conflict do nothing
    ), added_files as (
      insert into skillwright.files (run, attempt, record, path, digest, bytes)
      select $1, $2, input.record, input.path, input.digest, input.bytes
      from unnest($7::text[], $8::text[], $9::text[], $10::bytea[]) as input (record, path, digest, bytes), held
      on conflict (run, attempt, record, path) do update set digest = excluded.digest, bytes = excluded.bytes
    )${more} select count(*)::int as held from held`;
}

function endValues(ending: Ending): readonly unknown[] {
  if (ending.state === 'waiting') return [ending.state, null, null, null, null];
  const { state, outcome, answer, reason, used } = ending;
  return [state, outcome, storableText(answer), storableText(reason), used ?? null];
}

export interface StoredRecord {
  readonly attempt: number;
  readonly record: string;
  /** Whether it is the record of a subagent. */
  readonly isChild: boolean;
}

/** All records of a run, in the order in which they began. */
export async function storedRecords(pool: Pool, run: string): Promise<readonly StoredRecord[]> {
  const { rows } = await pool.query<StoredRecord>(
    // Not as jsonb, which refuses a line that contains an escaped U+0000.
    `select attempt, record, coalesce((line::json->'event'->'parent')::text, 'null') <> 'null' as "isChild"
     from skillwright.lines where run = $1 and seq = 1 order by attempt, record`,
    [run],
  );
  return rows;
}

/** A record in a folder: what is written there so far. */
export interface RestoredRecord {
  readonly folder: string;
  readonly lines: number;
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Writes a stored record into a directory as it was on the worker; with `before`, only what came since. Bytes that do not match their
 * digest are refused.
 */
export async function restoreRecord(
  { pool, contents }: RecordTables,
  { run, attempt, record }: StoredRecord & { readonly run: string },
  directory: string,
  before?: RestoredRecord,
): Promise<RestoredRecord> {
  const folder = path.join(directory, record);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Read first: the files that are read after it are all that these lines name.
  const { rows: ends } = await pool.query<{ last: number }>(
    'select coalesce(max(seq), 0) as last from skillwright.lines where run = $1 and attempt = $2 and record = $3',
    [run, attempt, record],
  );
  const { rows: files } = await pool.query<StoredFile>(
    'select path, digest, bytes from skillwright.files where run = $1 and attempt = $2 and record = $3',
    [run, attempt, record],
  );
  const fresh = files.filter((file) => before?.files.get(file.path) !== file.digest);
  for (let at = 0; at < fresh.length; at += FILES_AT_ONCE)
    await Promise.all(fresh.slice(at, at + FILES_AT_ONCE).map((file) => restoreFile(contents, run, folder, file)));
  const lines = Math.max(ends[0]?.last ?? 0, before?.lines ?? 0);
  const events = path.join(folder, EVENTS_FILE);
  const target = before === undefined ? `${events}.part` : events;
  if (before === undefined) writeFileSync(target, '', { mode: 0o600 });
  for await (const page of storedLines(pool, { run, attempt, record }, { after: before?.lines ?? 0, upTo: lines }))
    appendFileSync(target, page.map(({ line }) => `${line}\n`).join(''));
  if (before === undefined) renameSync(target, events);
  // `run.json` is stored with the end of a run. Until then it says nothing that the lines do not say.
  const isSummarized = files.some((file) => isDerivedFile(file.path));
  if (!isSummarized && lines !== before?.lines && !writeSummary(folder))
    throw damaged(run, 'its events do not start with run-start');
  return { folder, lines, files: new Map(files.map((file) => [file.path, file.digest])) };
}

interface StoredFile {
  readonly path: string;
  readonly digest: string;
  readonly bytes: Buffer | null;
}

/** Each may take a connection of the pool. */
const FILES_AT_ONCE = 8;

async function restoreFile(
  contents: ContentStore,
  run: string,
  folder: string,
  { path: name, digest, bytes: own }: StoredFile,
): Promise<void> {
  const place = toRelativePath(name);
  if (isProblem(place)) throw damaged(run, 'it names a file outside its folder');
  mkdirSync(path.dirname(path.join(folder, place)), { recursive: true, mode: 0o700 });
  const bytes = own ?? (await contents.load(digest));
  if (bytes === undefined || sha256(bytes) !== digest) throw damaged(run, `${name} is missing or changed`);
  writeFileSync(path.join(folder, place), bytes, { mode: 0o600 });
}

const LINES_AT_ONCE = 1_000;
/** A page ends after the line that reaches this; a line has at most a megabyte. */
const PAGE_CHARACTERS = 1_000_000;

export interface StoredLine {
  readonly seq: number;
  readonly line: string;
}

/** The lines of a record in pages, so that a long one is never in memory as a whole. `after` and `upTo` are numbers of lines. */
export async function* storedLines(
  pool: Pool,
  { run, attempt, record }: Pick<StoredRecord, 'attempt' | 'record'> & { readonly run: string },
  { after = 0, upTo = MAX_SEQ }: { readonly after?: number; readonly upTo?: number } = {},
): AsyncGenerator<readonly StoredLine[]> {
  for (let last: number | undefined = after; last !== undefined;) {
    const { rows }: { rows: StoredLine[] } = await pool.query<StoredLine>(
      `select seq, line from (
         select seq, line, sum(length(line)) over (order by seq) - length(line) as characters from (
           select seq, line from skillwright.lines where run = $1 and attempt = $2 and record = $3 and seq > $4 and seq <= $5
           order by seq limit ${String(LINES_AT_ONCE)}) page) sized
       where characters < ${String(PAGE_CHARACTERS)} order by seq`,
      [run, attempt, record, last, upTo],
    );
    if (rows.length > 0) yield rows;
    last = rows.at(-1)?.seq;
  }
}

/** The largest `int` of PostgreSQL. */
const MAX_SEQ = 2_147_483_647;

function damaged(run: string, reason: string): SkillError {
  return new SkillError({
    code: 'run/invalid',
    message: `the stored record of ${run} is damaged: ${reason}`,
    hint: 'restore the database and the artifact store from the same backup',
    data: { path: run },
  });
}
