/**
 * Copies the records of a run to the database while they are written to a folder of the worker: the record of the run itself and those of
 * its subagents. The agent waits for the copy before each model call and before each action with effects, so the database knows of
 * everything that may have happened.
 */
import { closeSync, openSync, readFileSync, readSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import { EVENTS_FILE, FINAL_FILE, RUN_FILE, STATE_FILE, isRunId } from '../../journal/run-folder.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { sha256 } from '../../platform/hash.ts';
import type { RecordPart, RunStore } from './run-store.ts';

export interface Mirror {
  /** Resolves when everything that was recorded so far is stored. Throws `record/failed` if the run belongs to another worker now. */
  push(): Promise<void>;
  /** As `push`, with the files that are derived from the events, after the run has ended. */
  finish(): Promise<void>;
}

interface Sent {
  /** Digests by path. */
  readonly files: Map<string, string>;
  offset: number;
  lines: number;
}

export function openMirror(store: RunStore, directory: string): Mirror {
  const records = new Map<string, Sent>();
  let last: Promise<void> = Promise.resolve();

  const pushOnce = async (isEnded: boolean): Promise<void> => {
    const parts = readdirSync(directory)
      .filter(isRunId)
      .map((record) => ({ record, sent: sentOf(records, record) }))
      .map(({ record, sent }) => ({ sent, ...newPart(path.join(directory, record), record, { sent, isEnded }) }))
      .filter(({ part: { lines, files } }) => lines.length > 0 || files.length > 0);
    if (parts.length === 0) return;
    const isStored = await store.append(parts.map(({ part }) => part));
    if (!isStored) throw handedOver(directory);
    for (const { sent, part, end } of parts) {
      for (const file of part.files) sent.files.set(file.path, file.digest);
      sent.offset = end;
      sent.lines += part.lines.length;
    }
  };

  const inOrder = (isEnded: boolean): Promise<void> => {
    const mine = last.then(() => pushOnce(isEnded));
    last = mine.catch(() => undefined);
    return mine;
  };
  return { push: () => inOrder(false), finish: () => inOrder(true) };
}

function sentOf(records: Map<string, Sent>, record: string): Sent {
  const known = records.get(record) ?? { files: new Map<string, string>(), offset: 0, lines: 0 };
  records.set(record, known);
  return known;
}

/**
 * The lines are read after `run.json`, which must not count more lines than are sent, and before the files of contents, which are written
 * before the lines that name them.
 */
function newPart(
  folder: string,
  record: string,
  { sent, isEnded }: { readonly sent: Sent; readonly isEnded: boolean },
): { readonly part: RecordPart; readonly end: number } {
  const summary = (isEnded ? [RUN_FILE, STATE_FILE, FINAL_FILE] : [RUN_FILE]).flatMap((name) =>
    readNew(folder, name, sent),
  );
  const { text, end } = readLines(path.join(folder, EVENTS_FILE), sent.offset);
  const lines = text.split('\n').slice(0, -1);
  const contents = contentNames(folder)
    .filter((name) => !sent.files.has(name))
    .flatMap((name) => readNew(folder, name, sent));
  return { part: { record, from: sent.lines, lines, files: [...summary, ...contents] }, end };
}

const SUMMARIES = new Set([RUN_FILE, STATE_FILE, FINAL_FILE, EVENTS_FILE]);

/** Files that are written once: the skills at the start, and contents by hash. */
function contentNames(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) =>
      entry.isDirectory()
        ? readdirSync(path.join(folder, entry.name)).map((name) => `${entry.name}/${name}`)
        : [entry.name],
    )
    .filter((name) => !SUMMARIES.has(name) && !path.basename(name).startsWith('.'));
}

function readNew(folder: string, name: string, { files }: Sent): RecordPart['files'] {
  const bytes = readIfPresent(path.join(folder, name));
  if (bytes === undefined) return [];
  const digest = sha256(bytes);
  return files.get(name) === digest ? [] : [{ path: name, digest, bytes }];
}

function readIfPresent(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

/** The whole lines after an offset; an unfinished one is read the next time. */
function readLines(file: string, offset: number): { readonly text: string; readonly end: number } {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
    return { text: '', end: offset };
  }
  try {
    const pieces: Buffer[] = [];
    for (let at = offset; ;) {
      const piece = Buffer.alloc(65_536);
      const count = readSync(descriptor, piece, 0, piece.length, at);
      if (count === 0) break;
      pieces.push(piece.subarray(0, count));
      at += count;
    }
    const bytes = Buffer.concat(pieces);
    const whole = bytes.lastIndexOf(0x0a) + 1;
    return { text: bytes.toString('utf8', 0, whole), end: offset + whole };
  } finally {
    closeSync(descriptor);
  }
}

function handedOver(place: string): SkillError {
  return new SkillError({
    code: 'record/failed',
    message: 'another worker has this run now',
    hint: 'this worker was not heard for too long; the other one continues the run from its record',
    data: { path: place, cause: 'handed over' },
  });
}
