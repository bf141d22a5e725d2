/**
 * Keeps the records of a run in memory until they are stored in the database: the record of the run itself and those of its subagents. The
 * agent waits for that before each model call and before each action with effects, so the database knows of everything that may have
 * happened.
 */
import path from 'node:path';

import { SkillError } from '#core';
import { newRunId, type RecordStorage } from '#journal';
import { sha256 } from '#platform';
import { appendRecords, type RecordFile, type RecordTables } from './run-store.ts';
import type { Claim, Ending } from './run-table.ts';

export interface Mirror {
  readonly openPlace: (directory: string, now: Date) => RecordStorage;
  /** Resolves when everything that was recorded so far is stored. Throws `record/failed` if the run belongs to another worker now. */
  push(): Promise<void>;
  /** Drops what is recorded from now on: the end of an attempt that was stopped is not the end of its run. */
  seal(): void;
  /** As `push`, with the files that are derived from the events, and ends the attempt in the same transaction. */
  finish(ending: Ending): Promise<void>;
}

interface OpenRecord {
  stored: number;
  lines: string[];
  files: RecordFile[];
  /** Files that change until the record ends. */
  readonly summaries: Map<string, RecordFile>;
}

/** The records of the attempt that a worker claimed. */
export function openMirror(tables: RecordTables, claim: Claim): Mirror {
  const records = new Map<string, OpenRecord>();
  let isSealed = false;
  let last: Promise<void> = Promise.resolve();

  const pushOnce = async (ending?: Ending): Promise<void> => {
    const parts = [...records].map(([record, open]) => ({
      record,
      open,
      from: open.stored,
      lines: [...open.lines],
      files: ending === undefined ? [...open.files] : [...open.files, ...open.summaries.values()],
    }));
    const fresh = parts.filter(({ lines, files }) => lines.length > 0 || files.length > 0);
    if (fresh.length === 0 && ending === undefined) return;
    if (!(await appendRecords(tables, claim, fresh, ending))) throw handedOver(claim.run);
    for (const { open, lines, files } of fresh) {
      open.stored += lines.length;
      open.lines = open.lines.slice(lines.length);
      open.files = open.files.slice(files.length);
    }
  };

  const inOrder = (ending?: Ending): Promise<void> => {
    const mine = last.then(() => pushOnce(ending));
    last = mine.catch(() => undefined);
    return mine;
  };

  return {
    openPlace(directory, now) {
      const id = newRunId(now);
      const open: OpenRecord = { stored: 0, lines: [], files: [], summaries: new Map() };
      const kept = new Set<string>();
      records.set(id, open);
      const add: RecordStorage['add'] = (name, bytes) => {
        if (isSealed) return;
        open.files.push({ path: name, digest: sha256(bytes), bytes, isOwn: false });
      };
      const replace = (files: Parameters<RecordStorage['prepare']>[0]): void => {
        if (isSealed) return;
        for (const [name, text] of files) {
          const bytes = Buffer.from(text, 'utf8');
          open.summaries.set(name, { path: name, digest: sha256(bytes), bytes, isOwn: true });
        }
      };
      return {
        id,
        path: path.join(directory, id),
        append(lines) {
          if (!isSealed) open.lines.push(...lines.split('\n').slice(0, -1));
        },
        add,
        keep(name, bytes, sync) {
          if (kept.has(name)) return false;
          kept.add(name);
          add(name, bytes, sync);
          return true;
        },
        replace,
        prepare: (files) => ({ descriptors: [], replace: () => replace(files), discard: () => undefined }),
        syncLines: () => undefined,
        close: () => undefined,
      };
    },
    seal() {
      isSealed = true;
    },
    push: () => inOrder(),
    finish: inOrder,
  };
}

function handedOver(run: string): SkillError {
  return new SkillError({
    code: 'record/failed',
    message: 'another worker has this run now',
    hint: 'this worker was not heard for too long; the other one continues the run from its record',
    data: { path: run, cause: 'handed over' },
  });
}
