/**
 * The runs of a project as the API and the console read them: rows for lists, and the folder of the newest record for everything else. The
 * folder is made from the tables when it is asked for, with each file checked against its digest.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Pool } from 'pg';

import { defined, isSkillError, sliceStart } from '#core';
import { readRun, verifyRun } from '#journal';
import { sha256 } from '#platform';
import { frameLine, httpError, openRunReader, type sharedRoutes } from '#server';
import { listRows } from './find-runs.ts';
import { listRunFiles } from './run-files.ts';
import {
  restoreRecord,
  storedLines,
  storedRecords,
  type RecordTables,
  type RestoredRecord,
  type StoredRecord,
} from './run-store.ts';
import { readRow, type FleetRun } from './run-table.ts';

export interface StoredRecordsOptions extends RecordTables {
  readonly base: string;
}

type RunRecords = Parameters<typeof sharedRoutes>[0]['records'];
type RunDetail = Awaited<ReturnType<RunRecords['detail']>>;

const POLL_MS = 200;
const MAX_FOLDERS = 200;

interface RecordFolder extends RestoredRecord {
  readonly attempt: number;
}

/** Folders of records that were read. One reader at a time writes the folder of a run, and adds only what is new. */
export interface RecordFolders {
  /** The folder of the newest record; undefined before the first. */
  of(run: FleetRun): Promise<RecordFolder | undefined>;
}

interface KnownFolder {
  readonly record: RecordFolder | undefined;
  /** Nothing is added any more. */
  readonly isComplete: boolean;
}

export function openRecordFolders({ base, ...tables }: StoredRecordsOptions): RecordFolders {
  const known = new Map<string, Promise<KnownFolder>>();
  const restore = async ({ id, state }: FleetRun, before: RecordFolder | undefined): Promise<KnownFolder> => {
    const isComplete = state === 'ended';
    const last = (await storedRecords(tables.pool, id)).findLast(({ isChild }) => !isChild);
    if (last === undefined) return { record: undefined, isComplete };
    const directory = path.join(base, 'records', id, String(last.attempt));
    const earlier = before?.attempt === last.attempt ? before : undefined;
    try {
      const restored = await restoreRecord(tables, { run: id, ...last }, directory, earlier);
      return { record: { ...restored, attempt: last.attempt }, isComplete };
    } catch (error) {
      if (isComplete) rmSync(directory, { recursive: true, force: true });
      throw error;
    }
  };
  return {
    async of(run) {
      const before = known.get(run.id);
      const next = (async () => {
        // After a failure the folder is written again from the start.
        const earlier = await before?.catch(() => undefined);
        return earlier?.isComplete === true ? earlier : restore(run, earlier?.record);
      })();
      known.delete(run.id);
      known.set(run.id, next);
      const [oldest] = known.keys();
      if (known.size > MAX_FOLDERS && oldest !== undefined) {
        known.delete(oldest);
        rmSync(path.join(base, 'records', oldest), { recursive: true, force: true });
      }
      return (await next).record;
    },
  };
}

/** Throws a 404 if the project has no such run. */
export async function findRun(pool: Pool, project: string, id: string): Promise<FleetRun> {
  const run = await readRow(pool, project, id);
  if (run === undefined) throw httpError(404, 'there is no such run', 'GET /api/v1/runs lists the runs');
  return run;
}

export function openStoredRecords(
  options: StoredRecordsOptions &
    NonNullable<Parameters<typeof openRunReader>[0]> & { readonly folders: RecordFolders },
  project: string,
): RunRecords {
  const { pool, contents, folders, price } = options;
  const reader = openRunReader({ price });
  const found = (id: string): Promise<FleetRun> => findRun(pool, project, id);
  const open = async (id: string): Promise<string> => {
    const record = await folders.of(await found(id));
    if (record === undefined) throw httpError(409, 'the run has no record yet', 'wait until a worker has begun it');
    return record.folder;
  };
  return {
    async list(page) {
      const { rows, total } = await listRows(pool, project, page);
      return { directory: `project ${project}`, total, unread: 0, runs: rows.map(toRunRow) };
    },
    check: async (id) => void (await found(id)),
    open,
    async detail(id) {
      const run = await found(id);
      const record = await folders.of(run);
      if (record === undefined) return { ...NO_RECORD, run: toRunRow(run), reason: run.reason ?? '' };
      const detail = reader.detail(id, record.folder);
      return {
        ...detail,
        files: (await listRunFiles(pool, project, id)).map(({ name, bytes }) => ({ name, bytes })),
        run: { ...detail.run, ...toRunRow(run), usage: detail.usage, skills: detail.run.skills },
        reason: run.reason ?? detail.reason,
      };
    },
    async file(id, name) {
      const file = (await listRunFiles(pool, project, id)).find((one) => one.name === name);
      if (file === undefined) throw httpError(404, 'no such file');
      const bytes = await contents.load(file.digest);
      if (bytes === undefined || sha256(bytes) !== file.digest)
        throw httpError(500, 'the stored bytes of the file are missing or damaged', 'restore them from a backup');
      return bytes;
    },
    stream: (id, { signal, lastEventId }) => streamLines(pool, { run: id, project }, { signal, lastEventId }),
    async *follow(id, { after, attempt, content = 'whole', signal }) {
      let last = after;
      let read = attempt;
      while (!signal.aborted) {
        // Read before the events, so that events before the end are still sent.
        const run = await found(id);
        const record = await folders.of(run);
        // Another attempt has a record of its own, which differs from where it continues.
        if (read !== undefined && record !== undefined && record.attempt !== read) last = 0;
        read = record?.attempt ?? read;
        const hasNews = record !== undefined && record.lines > last;
        for (const line of hasNews ? readRun(record.folder, { content }).lines : []) {
          if (line.seq <= last) continue;
          last = line.seq;
          yield record === undefined ? line : { ...line, attempt: record.attempt };
        }
        // Lines that cannot be read are passed over.
        last = Math.max(last, record?.lines ?? 0);
        if (run.state === 'ended' && !hasNews) return;
        if (!hasNews) await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    async verify(id) {
      const records = await verifyStored(options, (await found(id)).id);
      const worst = STATUSES.find((status) => records.some((record) => record.status === status));
      const newest = STATUSES.find((status) => records.at(-1)?.status === status) ?? 'unreadable';
      return {
        // The record of a worker that was lost is torn; the one that continues it is whole.
        status: worst === 'tampered' || worst === 'unreadable' ? worst : newest,
        seal: '',
        problems: records.flatMap(({ record, problems }) =>
          problems.map((message) => ({ code: 'record', path: record, message })),
        ),
        records,
      };
    },
  };
}

const STATUSES = ['tampered', 'unreadable', 'torn', 'running', 'unsealed', 'intact'] as const;

function toRunRow(run: FleetRun): RunDetail['run'] {
  const { id, state, outcome, request, labels, startedAt, endedAt, used } = run;
  return {
    run: id,
    state: state === 'ended' ? (outcome ?? 'failed') : state,
    request: sliceStart(request, 2_000),
    skills: [],
    labels,
    startedAt: (startedAt ?? run.submittedAt).toISOString(),
    ...defined({ endedAt: endedAt?.toISOString(), usage: used === null ? undefined : toRunUsage(used) }),
    isOwn: state !== 'ended',
  };
}

function toRunUsage({ turns, toolCalls, tokens, wallMs }: NonNullable<FleetRun['used']>): RunDetail['usage'] {
  return { ...NO_USAGE, turns, toolCalls, inputTokens: tokens, isEstimated: true, elapsedMs: Math.round(wallMs) };
}

const NO_USAGE: RunDetail['usage'] = {
  models: [],
  turns: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  isEstimated: false,
  elapsedMs: 0,
};

/** A run that no worker has begun. */
const NO_RECORD: Omit<RunDetail, 'run' | 'reason'> = {
  usage: NO_USAGE,
  events: 0,
  isTorn: false,
  problems: [],
  answer: '',
  version: '',
  indexHash: '',
  policyHash: '',
  budgets: {},
  skills: [],
  tools: [],
  approvals: [],
  files: [],
  turns: [],
};

const STREAM_MS = 100;

/**
 * One frame for each line, over all attempts: an attempt that continues another one repeats its events, so a reader sees the hand-over. The
 * id is `attempt-number`. Long texts are references to contents, as they are in the record. The last frame is `end`: a stream that ends
 * without it was cut off.
 */
async function* streamLines(
  pool: Pool,
  { run, project }: { readonly run: string; readonly project: string },
  { signal, lastEventId }: { readonly signal: AbortSignal; readonly lastEventId: string | undefined },
): AsyncGenerator<string> {
  const [, fromAttempt = '0', fromSeq = '0'] = /^(\d{1,9})-(\d{1,9})$/.exec(lastEventId ?? '') ?? [];
  let attempt = Number(fromAttempt);
  let seq = Number(fromSeq);
  while (!signal.aborted) {
    // Read before the lines, so that lines written before the end are still sent.
    const row = await readRow(pool, project, run);
    const records = (await storedRecords(pool, run)).filter((one) => !one.isChild && one.attempt >= attempt);
    let hasSent = false;
    for (const stored of records) {
      const after = stored.attempt === attempt ? seq : 0;
      for await (const page of storedLines(pool, { run, ...stored }, { after })) {
        for (const one of page) {
          ({ attempt } = stored);
          ({ seq } = one);
          hasSent = true;
          yield frameLine(readEventType(one.line), one.line, `${String(attempt)}-${String(seq)}`);
        }
      }
    }
    if (row === undefined) return;
    if (row.state === 'ended' && !hasSent) return void (yield frameLine('end', '{}'));
    if (!hasSent) await sleep(STREAM_MS, undefined, { signal }).catch(() => undefined);
  }
}

function readEventType(line: string): string {
  return /"event":\{"type":"([a-z-]+)"/.exec(line)?.[1] ?? 'message';
}

type Verification = NonNullable<Awaited<ReturnType<RunRecords['verify']>>['records']>[number];

/** Verifies the records of a run as if they had been recorded on this machine. They are written below `base` for that. */
async function verifyStored({ base, ...tables }: StoredRecordsOptions, run: string): Promise<readonly Verification[]> {
  const directory = mkdtempSync(path.join(base, 'verify-'));
  try {
    const { rows } = await tables.pool.query<{ attempt: number }>(
      `select attempt from skillwright.runs where id = $1 and state = 'running'`,
      [run],
    );
    const verify = async (stored: StoredRecord): Promise<Verification> => {
      const { record, attempt } = stored;
      try {
        const place = path.join(directory, String(attempt));
        const { folder } = await restoreRecord(tables, { run, ...stored }, place);
        const { status, problems } = verifyRun(folder);
        // Which process lives on this machine says nothing about a worker elsewhere.
        const isUnfinished = status === 'running' || status === 'torn';
        const life = rows[0]?.attempt === attempt ? 'running' : 'torn';
        const messages = problems.map(({ message }) => message);
        return { record, attempt, status: isUnfinished ? life : status, problems: messages };
      } catch (error) {
        if (!isSkillError(error)) throw error;
        return { record, attempt, status: 'tampered', problems: [error.message] };
      }
    };
    const verified: Verification[] = [];
    for (const stored of await storedRecords(tables.pool, run)) verified.push(await verify(stored));
    return verified;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
