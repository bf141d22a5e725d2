/**
 * The records of runs, as the API reads them. Here they are folders of this machine; a fleet makes the folder of a record from its tables.
 * Either way a record is the same lines with the same hash chain, and everything that is shown of it is read by the same code.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { followRun, isRunId, runIds, verifyChain, verifyRun } from '#journal';
import { readSealKey } from '#platform';
import type { Integrity, RunDetail, RunList } from './api/runs.ts';
import type { PriceAnswer, RecordLine } from './event-row.ts';
import { httpError } from './http-error.ts';
import type { Immutable } from './router.ts';
import { filesIn, type RunStarter } from './run-starter.ts';
import { openRunIndex, type RunPage } from './run-index.ts';
import { openRunReader } from './run-views.ts';
import { serverSentEvents } from './server-sent-events.ts';

interface FollowRecord {
  /** The number of the last event that the reader has. */
  readonly after: number;
  /** The attempt of that event, in a fleet. Of a later attempt the reader has nothing. */
  readonly attempt?: number | undefined;
  /** How much of long texts (default: whole). */
  readonly content?: 'whole' | 'answer';
  readonly signal: AbortSignal;
}

/** All functions reject with a 404 for a run that is not there. */
export interface RunRecords {
  list(page: RunPage): Promise<Immutable<RunList>>;
  detail(run: string): Promise<Immutable<RunDetail>>;
  /** Resolves if the run is there, even if nothing is recorded yet. */
  check(run: string): Promise<void>;
  /** The folder of the record as it is now. */
  open(run: string): Promise<string>;
  file(run: string, name: string): Promise<Uint8Array>;
  /** The recorded events as server-sent events, after the last one that the reader has. */
  stream(run: string, options: { readonly signal: AbortSignal; readonly lastEventId?: string }): AsyncIterable<string>;
  /** The events as they are recorded, until the run ends. Begins again at 1 if another record continues this one. */
  follow(run: string, options: FollowRecord): AsyncIterable<RecordLine>;
  verify(run: string): Promise<Immutable<Integrity>>;
}

interface FolderRecords {
  readonly home: string | undefined;
  readonly starter: RunStarter;
  readonly price: PriceAnswer | undefined;
}

/** Runs that this machine recorded in a directory. */
export function openFolderRecords(directory: string, { home, starter, price }: FolderRecords): RunRecords {
  const own = { isOwn: (run: string) => starter.find(run) !== undefined, outputs: starter.outputs };
  const reader = openRunReader({ own, price });
  const index = openRunIndex(directory, reader);
  const findFolder = (id: string): string => runFolder(directory, id);
  const follow: RunRecords['follow'] = async function* (id, { after, content = 'whole', signal }) {
    for await (const line of followRun(findFolder(id), { signal, content, pollMs: 50 }))
      if (line.seq > after) yield line;
  };
  return {
    list: async (page) => index.list(page),
    detail: async (id) => reader.detail(id, findFolder(id)),
    check: async (id) => void findFolder(id),
    open: async (id) => findFolder(id),
    async file(id, name) {
      findFolder(id);
      const folder = starter.outputs(id);
      // Only names that the list shows are read.
      if (!filesIn(folder).includes(name)) throw httpError(404, 'no such file');
      return readFileSync(path.join(folder, name));
    },
    follow,
    stream: (id, options) => serverSentEvents(follow(id, { after: 0, signal: options.signal }), options),
    async verify(id) {
      const sealKey = readSealKey(home);
      const found = verifyRun(findFolder(id), { sealKey, expectsSeal: true });
      const { problems: missing } = verifyChain(directory, { sealKey, home }, findFolder(id));
      return {
        ...found,
        status: missing.length > 0 ? 'tampered' : found.status,
        problems: [...found.problems, ...missing.map(({ code, message }) => ({ code, path: 'chain.jsonl', message }))],
      };
    },
  };
}

export function runFolder(directory: string, id: string): string {
  if (!isRunId(id) || !runIds(directory).includes(id)) throw httpError(404, 'no such run');
  return path.join(directory, id);
}
