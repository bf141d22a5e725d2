/**
 * Lists of runs. Each reads one index in its order and stops: of the state, of a label, of an idempotency key, or of the newest runs. What
 * no index knows, such as text in a request, is looked for in the first 10,000 runs of that order, so a list takes as long with a million
 * stored runs as with ten thousand.
 */
import type { Pool } from 'pg';

import { invalidInput } from '#core';
import { COLUMNS, readRow, type FleetRun } from './run-table.ts';

const MAX_SEARCHED = 10_000;

export interface RunFilter {
  /** An open state, `ended`, or the outcome of an ended run. */
  readonly state?: string | undefined;
  /** `NAME=VALUE`; a run has all of them. */
  readonly label?: readonly string[] | undefined;
  readonly key?: string | undefined;
  /** Bounds of the time of submission; the second is not included. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Text of the request or the id. */
  readonly query?: string | undefined;
}

/** The columns that a source is ordered by, so that a page is not sorted again. */
const ORDER = 'order by place_at desc, place desc';

interface Search {
  /** The runs that an index has, newest first, at most `MAX_SEARCHED`. */
  readonly source: string;
  /** What is looked for in these, in SQL; empty if they are the result. */
  readonly rest: string;
  /** Those of the source come first. */
  readonly sourceValues: readonly unknown[];
  readonly values: readonly unknown[];
}

/** Newest first; `next` is the last run that was looked at if there may be more. Throws `input/invalid` if the project has no run `before`. */
export async function newestRuns(
  pool: Pool,
  project: string,
  { limit = 50, before, ...filter }: RunFilter & { readonly limit?: number; readonly before?: string | undefined } = {},
): Promise<{ readonly runs: readonly FleetRun[]; readonly next: string | null }> {
  // A list that is empty because its last run was pruned would look like the end.
  if (before !== undefined && (await readRow(pool, project, before)) === undefined)
    throw invalidInput('`before` names no run of this project', 'the id of a run', 'read the first page again');
  const { source, rest, sourceValues, values } = planSearch(project, filter, before);
  const { rows: runs } = await pool.query<FleetRun>(
    `select ${COLUMNS} from (${source}) runs ${rest} ${ORDER} limit $${String(values.length + 1)}`,
    [...values, limit],
  );
  const last =
    runs.length === limit ? runs.at(-1)?.id : rest === '' ? undefined : await lastSearched(pool, source, sourceValues);
  return { runs, next: last ?? null };
}

/** The last run of a search that stopped before the end; undefined if it reached the end. */
async function lastSearched(pool: Pool, source: string, values: readonly unknown[]): Promise<string | undefined> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from (${source}) runs offset ${String(MAX_SEARCHED - 1)}`,
    [...values],
  );
  return rows[0]?.id;
}

/** A page by number, and how many runs match of those that were looked at. */
export async function listRows(
  pool: Pool,
  project: string,
  { offset, limit, ...filter }: RunFilter & { readonly offset: number; readonly limit: number },
): Promise<{ readonly rows: readonly FleetRun[]; readonly total: number }> {
  const { source, rest, values } = planSearch(project, filter);
  const at = String(values.length + 1);
  const [page, count] = await Promise.all([
    pool.query<FleetRun>(
      `select ${COLUMNS} from (${source}) runs ${rest} ${ORDER} offset $${at} limit $${String(values.length + 2)}`,
      [...values, offset, limit],
    ),
    pool.query<{ total: number }>(`select count(*)::int as total from (${source}) runs ${rest}`, [...values]),
  ]);
  return { rows: page.rows, total: count.rows[0]?.total ?? 0 };
}

function planSearch(project: string, filter: RunFilter, before?: string): Search {
  const values: unknown[] = [project];
  const use = (value: unknown): string => `$${String(values.push(value))}`;
  const { state, label: [label, ...labels] = [], key, since, until, query = '' } = filter;
  // The table of labels repeats the two columns of the order, so that its index has the runs of a label in it.
  const [from, time, id] =
    label === undefined
      ? ['skillwright.runs', 'runs.submitted_at', 'runs.id']
      : ['skillwright.run_labels l join skillwright.runs on runs.id = l.run', 'l.submitted_at', 'l.run'];
  const known = [label === undefined ? 'runs.project = $1' : `l.project = $1 and l.label = ${use(label)}`];
  if (key !== undefined) known.push(`runs.project = $1 and idempotency_key = ${use(key)}`);
  if (since !== undefined) known.push(`${time} >= ${use(since)}`);
  if (until !== undefined) known.push(`${time} < ${use(until)}`);
  if (before !== undefined)
    known.push(`(${time}, ${id}) < (select submitted_at, id from skillwright.runs where id = ${use(before)})`);
  if (label === undefined && state !== undefined) known.push(stateCondition(state, use));
  const sourceValues = [...values];
  const looked = label === undefined || state === undefined ? [] : [stateCondition(state, use)];
  for (const one of labels) looked.push(`${use(one)} in (select key || '=' || value from jsonb_each_text(labels))`);
  if (query !== '') looked.push(`position(lower(${use(query)}) in lower(id || ' ' || request)) > 0`);
  return {
    source: `select runs.*, ${time} as place_at, ${id} as place from ${from} where ${known.join(' and ')} order by ${time} desc, ${id} desc limit ${String(MAX_SEARCHED)}`,
    rest: looked.length === 0 ? '' : `where ${looked.join(' and ')}`,
    sourceValues,
    values,
  };
}

function stateCondition(state: string, use: (value: unknown) => string): string {
  // The planner sees which partial index fits only if the state is written out.
  if (['queued', 'running', 'waiting', 'ended'].includes(state)) return `state = '${state}'`;
  return `state = 'ended' and outcome = ${use(state)}`;
}
