/**
 * The recorded runs of a directory as lists need them. A run that has ended is read once; what its events cost is read for the rows that are
 * shown, and for all runs in the background once a list is sorted or counted by it.
 */
import { setImmediate as yieldToOthers } from 'node:timers/promises';

import type { z } from 'zod';

import { listRuns, runIds } from '#journal';
import type { RunList, RunListQuery } from './api/runs.ts';
import type { Immutable } from './router.ts';
import type { RunReader } from './run-views.ts';

export type RunPage = z.output<typeof RunListQuery> & {
  /** Returns rows with the costs that are known, and reads the others in the background. */
  readonly isCounted?: boolean;
};

type RunFilter = Omit<RunPage, 'offset' | 'limit' | 'sort' | 'order' | 'isCounted'>;
type Row = Immutable<RunList>['runs'][number];

export interface RunIndex {
  readonly list: (page: RunPage) => Immutable<RunList>;
}

interface Entry {
  row: Row;
  readonly key: string | undefined;
  readonly readUsage: () => Row['usage'];
  isRead: boolean;
}

const SLICE_MS = 20;

export function openRunIndex(directory: string, reader: RunReader): RunIndex {
  const ended = new Map<string, Entry>();
  let isReading = false;
  const refresh = (): readonly Entry[] => {
    const present = new Set(runIds(directory));
    for (const id of ended.keys()) if (!present.has(id)) ended.delete(id);
    const open: Entry[] = [];
    for (const listed of listRuns(directory, (id) => !ended.has(id))) {
      const { reading } = listed;
      const key = reading.type === 'run' ? reading.info.key : undefined;
      const entry = { row: reader.row(listed), key, readUsage: () => reader.usage(listed), isRead: false };
      // A folder whose summary is not written yet looks unreadable.
      if (reading.type === 'run' && listed.state !== 'running') ended.set(listed.id, entry);
      else open.push(entry);
    }
    return [...open, ...ended.values()];
  };
  const withUsage = (entry: Entry): Row => {
    if (!entry.isRead && entry.row.startedAt !== undefined) {
      entry.row = { ...entry.row, usage: entry.readUsage() };
      // A run in progress is another entry the next time.
      entry.isRead = true;
    }
    return entry.row;
  };
  const readAll = async (entries: readonly Entry[]): Promise<void> => {
    if (isReading) return;
    isReading = true;
    try {
      let began = performance.now();
      for (const entry of entries) {
        withUsage(entry);
        if (performance.now() - began < SLICE_MS) continue;
        await yieldToOthers();
        began = performance.now();
      }
    } finally {
      isReading = false;
    }
  };
  const select = (filter: RunFilter): readonly Entry[] => {
    const entries = refresh();
    const isChosen = matcher(filter);
    return entries.filter(isChosen);
  };
  const startReading = (entries: readonly Entry[]): number => {
    const unread = entries.filter(({ isRead, row }) => !isRead && row.startedAt !== undefined);
    // What cannot be read says so where the run is opened.
    if (unread.length > 0) readAll(unread).catch(() => undefined);
    return unread.length;
  };
  return {
    list(page) {
      const { offset, limit, sort, order, model, isCounted = false } = page;
      const needsUsage = isCounted || sort === 'tokens' || sort === 'money' || model !== undefined;
      const unread = needsUsage ? startReading(refresh()) : 0;
      const key = SORT_KEYS[sort];
      const factor = order === 'up' ? 1 : -1;
      const found = select(page)
        .map((entry) => ({ entry, value: key(entry.row) }))
        // What is not known comes last in both orders.
        .toSorted((one, two) => compare(one.value, two.value, factor));
      const runs = found.slice(offset, offset + limit).map(({ entry }) => (isCounted ? entry.row : withUsage(entry)));
      return { directory, total: found.length, unread, runs };
    },
  };
}

function compare(one: number | undefined, two: number | undefined, factor: number): number {
  if (one === two) return 0;
  if (one === undefined) return 1;
  return two === undefined ? -1 : (one - two) * factor;
}

/** Without a time in the record, that in the id counts. */
function readStart({ run, startedAt }: Row): number {
  return Date.parse(startedAt ?? run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, '$1-$2-$3T$4:$5:$6Z'));
}

const SORT_KEYS: Readonly<Record<RunPage['sort'], (row: Row) => number | undefined>> = {
  started: readStart,
  duration: ({ startedAt, endedAt }) =>
    startedAt === undefined || endedAt === undefined ? undefined : Date.parse(endedAt) - Date.parse(startedAt),
  tokens: ({ usage }) => (usage === undefined ? undefined : usage.inputTokens + usage.outputTokens),
  money: ({ usage }) => usage?.usd,
};

function matcher({ query, state, label = [], key, since, until, skill, model }: RunFilter): (entry: Entry) => boolean {
  const needle = query.toLowerCase();
  const labels = label.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)] as const);
  return ({ row, key: own }) => {
    const at = row.startedAt === undefined ? undefined : Date.parse(row.startedAt);
    return (
      (state === undefined || row.state === state) &&
      labels.every(([name, value]) => row.labels?.[name] === value) &&
      (key === undefined || own === key) &&
      (since === undefined || (at !== undefined && at >= since.getTime())) &&
      (until === undefined || (at !== undefined && at < until.getTime())) &&
      (skill === undefined || row.skills.includes(skill)) &&
      (model === undefined || row.usage?.models.includes(model) === true) &&
      (needle === '' || [row.run, row.request, ...row.skills].some((text) => text.toLowerCase().includes(needle)))
    );
  };
}
