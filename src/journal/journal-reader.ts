/** Reads a run: its summary, its lines, or its lines while they are written. */
import { closeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

import { readField, isSkillError, quoted, SkillError, type JournalLine, type RunInfo } from '#core';
import { openConfined, type ConfinedDirectory } from '#platform';
import { isWholeEvent, restoredValue, startText, type ContentReference } from './references.ts';
import { contentText } from './content.ts';
import { LineReader, endsTorn, openJournal, parseLine, type StoredLine } from './journal-lines.ts';
import { readRunAt, readRunInfo, runLife } from './run-folder.ts';
import { toRunInfo, summarize, type RunSummary } from './run-info.ts';
import { isRunEvent } from './shape.ts';

export interface ReadRunOptions {
  readonly content?: Content;
}

/**
 * `whole` restores and checks long texts. `start` returns only their start and opens no other file. `answer` is `start` with the whole
 * final answer, unless its file is missing or changed.
 */
export type Content = 'whole' | 'start' | 'answer';

export interface ReadRun {
  readonly path: string;
  /** From `run.json`, or from the events if that file is missing. */
  readonly info: RunInfo;
  /** The journal ends in the middle of a line: it is being written, or its writer was killed. */
  readonly torn: boolean;
  /** Problems found when the folder was opened; `verifyRun` checks everything. */
  readonly problems: readonly string[];
  /**
   * Every readable line, read from the start on each iteration. Unreadable lines are skipped. Throws `run/invalid` if a long text is
   * missing or changed.
   */
  readonly lines: Iterable<JournalLine>;
}

/** Opens a run folder. Throws `run/invalid` if it is not a run, or was written by a later version. */
export function readRun(path: string, { content = 'whole' }: ReadRunOptions = {}): ReadRun {
  const journal = openJournal(path);
  if (journal.type !== 'open')
    throw notARun(path, journal.type === 'absent' ? 'it has no events.jsonl' : `events.jsonl: ${journal.reason}`);
  const torn = endsTorn(journal);
  closeSync(journal.descriptor);
  const lines: Iterable<JournalLine> = { [Symbol.iterator]: () => journalLines(path, content) };
  const reading = readRunAt(path);
  if (reading.type === 'newer')
    throw notARun(path, `its schema version is ${String(reading.schema)}, which a later version of skillwright wrote`);
  if (reading.type === 'run') return { path, info: reading.info, torn, problems: [], lines };
  const info = infoFromEvents(path);
  if (info === undefined) throw notARun(path, 'it has no run.json, and its events do not start with run-start');
  const problem = reading.type === 'absent' ? 'run.json is missing' : `run.json: ${reading.reason}`;
  return { path, info, torn, problems: [problem], lines };
}

/** The summary that the events give, without `run.json`; undefined if they do not start with run-start. */
export function infoFromEvents(path: string): RunInfo | undefined {
  let summary: RunSummary | undefined;
  for (const line of journalLines(path, 'start')) {
    summary = summarize(summary, line);
    if (summary === undefined) return undefined;
  }
  return summary === undefined ? undefined : toRunInfo(summary);
}

function* journalLines(path: string, content: Content): Generator<JournalLine> {
  const opening = openConfined(path);
  const journal = openJournal(path);
  try {
    if (opening.type === 'failed' || journal.type !== 'open') return;
    for (const piece of new LineReader(journal.descriptor).lines()) {
      const line = piece.type === 'line' ? parseJournalLine(piece.bytes, opening.directory, content) : undefined;
      if (line !== undefined) yield line;
    }
  } finally {
    if (journal.type === 'open') closeSync(journal.descriptor);
    if (opening.type === 'open') opening.directory.close();
  }
}

function parseJournalLine(bytes: Buffer, folder: ConfinedDirectory, content: Content): JournalLine | undefined {
  const parsed = parseLine(bytes);
  return parsed.type === 'line' ? restoredLine(parsed.line, folder, content) : undefined;
}

/** Restores the texts of a line. Returns undefined for an unknown event. Throws `run/invalid` for missing content. */
export function restoredLine(
  { event: stored, ...rest }: StoredLine,
  folder: ConfinedDirectory,
  content: Content,
): JournalLine | undefined {
  try {
    // An event that is stored in a file of its own is lost without that file.
    const event = restoredValue(stored, (reference) => {
      if (content === 'whole' || isWholeEvent(reference)) return contentText(folder, reference);
      return content === 'answer' && isFinalAnswer(stored) ? answerText(folder, reference) : startText(reference);
    });
    return isRunEvent(event) ? { ...rest, event } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (isSkillError(error) && error.code === 'input/invalid')) return undefined;
    throw error;
  }
}

function isFinalAnswer(stored: unknown): boolean {
  return readField(stored, 'type') === 'action' && readField(readField(stored, 'action'), 'type') === 'final_answer';
}

function answerText(folder: ConfinedDirectory, reference: ContentReference): string {
  try {
    return contentText(folder, reference);
  } catch (error) {
    if (!isSkillError(error)) throw error;
    return startText(reference);
  }
}

export interface FollowOptions extends ReadRunOptions {
  readonly signal: AbortSignal;
  /** The polling interval in milliseconds (default: 100). */
  readonly pollMs?: number;
}

const SEAL_MS = 10;
const MAX_SEAL_MS = 5_000;

/** Yields the lines of a run as they are written, until the run ends, its process ends, or the reader stops. */
export async function* followRun(
  path: string,
  { signal, pollMs = 100, content = 'whole' }: FollowOptions,
): AsyncGenerator<JournalLine> {
  const opening = openConfined(path);
  const journal = openJournal(path);
  try {
    if (opening.type === 'failed' || journal.type !== 'open') throw notARun(path, 'it has no events.jsonl');
    const reader = new LineReader(journal.descriptor);
    while (!signal.aborted) {
      // Checked before the last read, so that lines written before the end are still yielded.
      const isOver = !isRunning(opening.directory);
      for (const piece of reader.lines()) {
        if (piece.type !== 'line') return;
        const line = parseJournalLine(piece.bytes, opening.directory, content);
        if (line === undefined) continue;
        yield line;
        if (line.event.type !== 'run-end') continue;
        // The summary is written after the last event. Who reads the run at the end of this stream must find it complete.
        for (let waited = 0; waited < MAX_SEAL_MS && !signal.aborted && isRunning(opening.directory); waited += SEAL_MS)
          await pause(SEAL_MS, signal);
        return;
      }
      if (isOver) return;
      await pause(pollMs, signal);
    }
  } finally {
    if (journal.type === 'open') closeSync(journal.descriptor);
    if (opening.type === 'open') opening.directory.close();
  }
}

function isRunning(folder: ConfinedDirectory): boolean {
  const reading = readRunInfo(folder);
  return reading.type === 'run' && runLife(reading.info) === 'running';
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function notARun(path: string, reason: string): SkillError {
  return new SkillError({
    code: 'run/invalid',
    message: `${quoted(path, 200)} cannot be read as a run: ${reason}`,
    hint: 'name a run from skillwright runs list, or the path of a run folder',
    data: { path },
  });
}
