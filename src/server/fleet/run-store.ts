/** The stored record of one attempt of a run: lines with the same hash chain as in a folder, and files by digest. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Pool } from 'pg';

import { toRelativePath } from '../../core/path.ts';
import { SkillError } from '../../core/errors.ts';
import { readRun } from '../../journal/journal-reader.ts';
import { EVENTS_FILE, RUN_FILE } from '../../journal/run-folder.ts';
import { infoText } from '../../journal/run-info.ts';
import { sha256 } from '../../platform/hash.ts';
import type { ContentStore } from './content-store.ts';
import { ANNOUNCE, WEBHOOKS } from './run-table.ts';
import type { Claim, Ending } from './run-table.ts';

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

export interface RunStore {
  /**
   * Stores everything together, and with `ending` the end of the attempt. Returns false if the run belongs to another worker now. The same
   * lines may be given again when the answer was not heard.
   */
  append(parts: readonly RecordPart[], ending?: Ending): Promise<boolean>;
}

/** The records of the attempt that a worker claimed. */
export function openRunStore(pool: Pool, contents: ContentStore, { run, attempt, worker }: Claim): RunStore {
  return {
    async append(parts, ending) {
      const files = parts.flatMap(({ record, files: given }) => given.map((file) => ({ record, ...file })));
      await contents.save(files.filter(({ isOwn }) => !isOwn));
      const lines = parts.flatMap(({ record, from, lines: given }) =>
        given.map((line, index) => ({ record, seq: from + index + 1, line })),
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
    },
  };
}

/** The lock keeps the run with this worker until everything is stored. */
const HELD = `select 1 from skillwright.runs where id = $1 and attempt = $2 and worker = $3 and state = 'running' for share`;
/** A run that was cancelled while it began to wait would wait for ever. */
const OVER = `($11 = 'ended' or is_cancelled)`;
const ENDED = `update skillwright.runs set state = case when ${OVER} then 'ended' else $11 end, worker = null,
    outcome = case when $11 = 'waiting' and is_cancelled then 'cancelled' else $12 end, answer = $13,
    reason = case when $11 = 'waiting' and is_cancelled then 'cancelled' else $14 end, used = $15,
    ended_at = case when ${OVER} then now() end
  where id = $1 and attempt = $2 and worker = $3 and state = 'running' returning *`;
const END = `, attempt_ended as (
    update skillwright.attempts set ended_at = now(), ending = coalesce($12, 'waiting')
    where run = $1 and attempt = $2 and exists (select 1 from held)
  ), announced as (${ANNOUNCE} from held run ${WEBHOOKS})`;

/** One statement, so that it is one round trip and one transaction. */
function appendUnder(held: string, more = ''): string {
  return `with held as (${held}), added_lines as (
      insert into skillwright.lines (run, attempt, record, seq, line)
      select $1, $2, given.record, given.seq, given.line
      from unnest($4::text[], $5::int[], $6::text[]) as given (record, seq, line), held on conflict do nothing
    ), added_files as (
      insert into skillwright.files (run, attempt, record, path, digest, bytes)
      select $1, $2, given.record, given.path, given.digest, given.bytes
      from unnest($7::text[], $8::text[], $9::text[], $10::bytea[]) as given (record, path, digest, bytes), held
      on conflict (run, attempt, record, path) do update set digest = excluded.digest, bytes = excluded.bytes
    )${more} select count(*)::int as held from held`;
}

function endValues(ending: Ending): readonly unknown[] {
  if (ending.state === 'waiting') return [ending.state, null, null, null, null];
  const { state, outcome, answer, reason, used } = ending;
  return [state, outcome, answer, reason, used ?? null];
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
  const { rows: files } = await pool.query<{ path: string; digest: string; bytes: Buffer | null }>(
    'select path, digest, bytes from skillwright.files where run = $1 and attempt = $2 and record = $3',
    [run, attempt, record],
  );
  await Promise.all(
    files.map(async ({ path: name, digest, bytes: own }) => {
      const place = toRelativePath(name);
      if (place.type === 'refused') throw damaged(run, 'it names a file outside its folder');
      mkdirSync(path.dirname(path.join(folder, place.path)), { recursive: true, mode: 0o700 });
      const bytes = own ?? (await contents.load(digest));
      if (bytes === undefined || sha256(bytes) !== digest) throw damaged(run, `${name} is missing or changed`);
      writeFileSync(path.join(folder, place.path), bytes, { mode: 0o600 });
    }),
  );
  const lines = await storedLines(pool, { run, attempt, record });
  writeFileSync(path.join(folder, EVENTS_FILE), lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  if (!files.some((file) => file.path === RUN_FILE)) summarizeUnfinished(folder);
  return folder;
}

/** `run.json` is stored with the end of a run. Until then it says nothing that the lines do not say. */
function summarizeUnfinished(folder: string): void {
  const { info } = readRun(folder, { content: 'start' });
  if (info.endedAt === undefined) writeFileSync(path.join(folder, RUN_FILE), infoText(info), { mode: 0o600 });
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
