import type { EventEmitter } from 'node:events';
import path from 'node:path';

import { visibleJson } from '#core';
import { readRun } from '#journal';
import { z } from 'zod';
import {
  ComparisonQuery,
  EventDetail,
  Integrity,
  Rows,
  RowsQuery,
  RunComparison,
  RunDetail,
  RunList,
  RunListQuery,
  RunStatistics,
  type EventRow,
} from '../api/runs.ts';
import type { RunRecords } from '../records.ts';
import { cutEvent, openEventRows, type PriceAnswer, type RecordLine } from '../event-row.ts';
import { httpError } from '../http-error.ts';
import { liveRows, readLineId } from '../live-stream.ts';
import { route, type Immutable, type Route } from '../router.ts';
import { countRuns } from '../run-statistics.ts';
import { alignedSteps } from '../run-views.ts';

const LiveQuery = z.strictObject({
  after: z
    .string()
    .regex(/^(?:\d{1,9}-)?\d{1,15}$/)
    .default('0')
    .describe('the id of the last row that the reader has'),
});

const EVERY_RUN = { offset: 0, limit: 100_000, sort: 'started', order: 'down', isCounted: true } as const;

interface RunRouteOptions {
  readonly records: RunRecords;
  /** What happens in a run of this server and is not recorded. */
  readonly live?: ((run: string) => EventEmitter | undefined) | undefined;
  readonly price?: PriceAnswer | undefined;
}

/** Routes that read runs. */
export function runRoutes({ records, live, price }: RunRouteOptions): readonly Route[] {
  return [
    route(
      'GET /runs',
      'List recorded runs, newest first unless sorted otherwise',
      { query: RunListQuery, answer: RunList },
      ({ query }) => records.list(query),
    ),
    route(
      'GET /run-statistics',
      'Count runs, failures, tokens and money by day and by skill',
      { query: RunListQuery.omit({ offset: true, limit: true, sort: true, order: true }), answer: RunStatistics },
      async ({ query }) => {
        const { runs, unread } = await records.list({ ...query, ...EVERY_RUN });
        return { ...countRuns(runs), unread };
      },
    ),
    route(
      'GET /runs/{id}',
      'Show a run: outcome, plan, answer, cost, skills, tools, approvals and files',
      { answer: RunDetail },
      ({ params: { id = '' } }) => records.detail(id),
    ),
    route(
      'GET /runs/{id}/rows',
      'Read events of a run as short lines, or search them',
      { query: RowsQuery, answer: Rows },
      async ({ params: { id = '' }, query: { from, limit, query } }) => {
        const rows: Immutable<EventRow>[] = [];
        const needle = query.toLowerCase();
        const toRow = openEventRows(price);
        for (const line of readRun(await records.open(id), { content: needle === '' ? 'start' : 'whole' }).lines) {
          const row = toRow(line);
          if (line.seq < from || !hasText(line.event, needle)) continue;
          if (rows.length === limit) return { rows, isMore: true };
          rows.push(row);
        }
        return { rows, isMore: false };
      },
    ),
    route(
      'GET /runs/{id}/live',
      'Follow a run as short lines, with the growing answer and the output of programs',
      { query: LiveQuery, answer: 'events' },
      async ({ params: { id = '' }, query: { after }, lastEventId, signal }) => {
        await records.check(id);
        const last = readLineId(lastEventId ?? '') ?? readLineId(after) ?? { after: 0 };
        const follow = (stop: AbortSignal): AsyncIterable<RecordLine> =>
          records.follow(id, { ...last, content: 'answer', signal: stop });
        return liveRows({ follow, live: live?.(id), price, signal });
      },
    ),
    route(
      'GET /runs/{id}/events',
      'Follow a run as recorded events with their whole content',
      { answer: 'events' },
      async ({ params: { id = '' }, lastEventId, signal }) => {
        await records.check(id);
        return records.stream(id, { signal, lastEventId });
      },
    ),
    route(
      'GET /runs/{id}/events/{seq}',
      'Read one event',
      { answer: EventDetail },
      async ({ params: { id = '', seq } }) => {
        for (const line of readRun(await records.open(id)).lines)
          if (line.seq === Number(seq))
            return { seq: line.seq, time: line.time, at: Math.round(line.elapsed), ...cutEvent(line.event) };
        throw httpError(404, 'no such event');
      },
    ),
    route(
      'GET /runs/{id}/integrity',
      'Verify the record of a run: intact, torn or tampered, and where',
      { answer: Integrity },
      ({ params: { id = '' } }) => records.verify(id),
    ),
    route(
      'GET /runs/{id}/files/{path}',
      'Download an output file of a run',
      { answer: 'file' },
      async ({ params: { id = '', path: name = '' } }) => ({
        name: path.basename(name),
        mediaType: 'application/octet-stream',
        chunks: [await records.file(id, name)],
      }),
    ),
    route(
      'GET /runs/{id}/export',
      'Export a run as JSON lines',
      { answer: 'file' },
      async ({ params: { id = '' } }) => ({
        name: `${id}.jsonl`,
        mediaType: 'application/jsonl',
        chunks: jsonLines(readRun(await records.open(id)).lines),
      }),
    ),
    route(
      'GET /comparison',
      'Compare two runs side by side',
      { query: ComparisonQuery, answer: RunComparison },
      async ({ query: { left, right } }) => ({
        left: await records.detail(left),
        right: await records.detail(right),
        ...alignedSteps(await records.open(left), await records.open(right)),
      }),
    ),
  ];
}

/** Whether a text of the event contains `needle`, which is in lower case. Names of fields are not text. */
function hasText(value: unknown, needle: string): boolean {
  if (needle === '') return true;
  if (typeof value === 'string') return value.toLowerCase().includes(needle);
  return typeof value === 'object' && value !== null && Object.values(value).some((part) => hasText(part, needle));
}

function* jsonLines(lines: Iterable<unknown>): Generator<string> {
  for (const line of lines) yield `${visibleJson(JSON.stringify(line))}\n`;
}
