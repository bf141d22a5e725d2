import path from 'node:path';

import { visibleJson } from '../../core/json/visible-json.ts';
import { describeAction } from '../../core/action-text.ts';
import { toAtif } from '../../journal/export/atif.ts';
import { serverSentEvents } from '../../journal/export/server-sent-events.ts';
import { followRun, readRun } from '../../journal/journal-reader.ts';
import { isRunId, listRuns, runIds } from '../../journal/run-folder.ts';
import { verifyChain } from '../../journal/verify-chain.ts';
import { verifyRun } from '../../journal/verify.ts';
import { readSealKey } from '../../platform/fs/seal-key.ts';
import { replayRun } from '../../runtime/replay/replay-run.ts';
import { z } from 'zod';
import {
  ComparisonQuery,
  EventDetail,
  Integrity,
  ReplayReport,
  Rows,
  RowsQuery,
  RunComparison,
  RunDetail,
  RunList,
  RunListQuery,
} from '../api/runs.ts';
import type { EventRow } from '../api/runs.ts';
import type { ServerContext } from '../context.ts';
import { cutEvent, eventRow } from '../event-row.ts';
import { HttpError } from '../http-error.ts';
import { liveRows } from '../live-stream.ts';
import { eventRoute, fileRoute, jsonRoute } from '../router.ts';
import type { Immutable, Route } from '../router.ts';
import { alignedSteps, openRunReader } from '../run-views.ts';

const LiveQuery = z.strictObject({ after: z.coerce.number().int().min(0).default(0) });
const ExportQuery = z.strictObject({ format: z.enum(['jsonl', 'atif']).default('jsonl') });

/** Routes that read runs. */
export function runRoutes(context: ServerContext): readonly Route[] {
  const {
    options: { directory, runtime },
    surroundings: { home },
    starter,
  } = context;
  const reader = openRunReader(starter);
  const place = (id = ''): string => runFolder(directory, id);
  const sealKey = (): { readonly sealKey?: Uint8Array } => {
    const key = home === undefined ? undefined : readSealKey(home);
    return key === undefined ? {} : { sealKey: key };
  };
  return [
    jsonRoute({
      method: 'GET',
      path: '/runs',
      summary: 'List recorded runs, newest first',
      query: RunListQuery,
      answer: RunList,
      handle({ query: { offset, limit, query, state } }) {
        const wanted = query.toLowerCase();
        const all = listRuns(directory);
        // Without a filter only the runs that are shown are read.
        if (wanted === '' && state === undefined)
          return { directory, total: all.length, runs: all.slice(offset, offset + limit).map(reader.row) };
        const rows = all
          .map(reader.row)
          .filter(
            (row) =>
              (state === undefined || row.state === state) &&
              [row.run, row.request, ...row.skills].some((text) => text.toLowerCase().includes(wanted)),
          );
        return { directory, total: rows.length, runs: rows.slice(offset, offset + limit) };
      },
    }),
    jsonRoute({
      method: 'GET',
      path: '/runs/{id}',
      summary: 'Show a run: outcome, plan, answer, cost, skills, tools, approvals and files',
      answer: RunDetail,
      handle: ({ params: { id = '' } }) => reader.detail(id, place(id)),
    }),
    jsonRoute({
      method: 'GET',
      path: '/runs/{id}/rows',
      summary: 'Read events of a run as short lines',
      query: RowsQuery,
      answer: Rows,
      handle({ params: { id }, query: { from, limit } }) {
        const rows: Immutable<EventRow>[] = [];
        for (const line of readRun(place(id), { content: 'start' }).lines) {
          if (line.seq < from) continue;
          if (rows.length === limit) return { rows, isMore: true };
          rows.push(eventRow(line));
        }
        return { rows, isMore: false };
      },
    }),
    eventRoute({
      path: '/runs/{id}/live',
      summary: 'Follow a run as short lines, with the growing answer and the output of programs',
      query: LiveQuery,
      handle({ params: { id = '' }, query: { after }, lastEventId, signal }) {
        const last = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) : after;
        return liveRows({ folder: place(id), after: last, live: starter.find(id)?.live, signal });
      },
    }),
    eventRoute({
      path: '/runs/{id}/events',
      summary: 'Follow a run as recorded events with their whole content',
      handle: ({ params: { id }, lastEventId, signal }) =>
        serverSentEvents(followRun(place(id), { signal }), { signal, lastEventId }),
    }),
    jsonRoute({
      method: 'GET',
      path: '/runs/{id}/events/{seq}',
      summary: 'Read one event',
      answer: EventDetail,
      handle({ params: { id, seq } }) {
        for (const line of readRun(place(id)).lines)
          if (line.seq === Number(seq))
            return { seq: line.seq, time: line.time, at: Math.round(line.elapsed), ...cutEvent(line.event) };
        throw new HttpError(404, 'no such event');
      },
    }),
    jsonRoute({
      method: 'GET',
      path: '/runs/{id}/integrity',
      summary: 'Verify the record of a run: intact, torn or tampered, and where',
      answer: Integrity,
      handle({ params: { id = '' } }) {
        const found = verifyRun(place(id), { ...sealKey(), expectsSeal: true });
        const chain = verifyChain(directory, { ...sealKey(), ...(home === undefined ? {} : { home }) });
        const missing = chain.problems.filter(({ run }) => run === id);
        return {
          ...found,
          status: missing.length > 0 ? 'tampered' : found.status,
          problems: [
            ...found.problems,
            ...missing.map(({ code, message }) => ({ code, path: 'chain.jsonl', message })),
          ],
        };
      },
    }),
    jsonRoute({
      method: 'POST',
      path: '/runs/{id}/replay',
      summary: 'Repeat the recorded actions without writes and network, and compare the results',
      answer: ReplayReport,
      async handle({ params: { id }, signal }) {
        const { status, problems, remarks, steps } = await replayRun({
          runtime,
          path: place(id),
          ...sealKey(),
          signal,
        });
        return {
          status,
          problems,
          remarks,
          steps: steps.map(({ call, action, same, expected, got, notRepeated }) => ({
            call,
            action: describeAction(action),
            isSame: same,
            expected: JSON.stringify(expected).slice(0, 4_000),
            got: JSON.stringify(got).slice(0, 4_000),
            ...(notRepeated === undefined ? {} : { note: notRepeated }),
          })),
        };
      },
    }),
    fileRoute({
      path: '/runs/{id}/export',
      summary: 'Export a run as JSON lines, or as an ATIF trajectory',
      query: ExportQuery,
      handle({ params: { id = '' }, query: { format } }) {
        const { info, lines } = readRun(place(id));
        return format === 'atif'
          ? {
              name: `${id}.atif.json`,
              mediaType: 'application/json',
              chunks: [visibleJson(JSON.stringify(toAtif({ run: info.run }, lines), undefined, 2)), '\n'],
            }
          : { name: `${id}.jsonl`, mediaType: 'application/jsonl', chunks: jsonLines(lines) };
      },
    }),
    jsonRoute({
      method: 'GET',
      path: '/comparison',
      summary: 'Compare two runs side by side',
      query: ComparisonQuery,
      answer: RunComparison,
      handle: ({ query: { left, right } }) => ({
        left: reader.detail(left, place(left)),
        right: reader.detail(right, place(right)),
        steps: alignedSteps(place(left), place(right)),
      }),
    }),
  ];
}

export function runFolder(directory: string, id: string): string {
  if (!isRunId(id) || !runIds(directory).includes(id)) throw new HttpError(404, 'no such run');
  return path.join(directory, id);
}

function* jsonLines(lines: Iterable<unknown>): Generator<string> {
  for (const line of lines) yield `${visibleJson(JSON.stringify(line))}\n`;
}
