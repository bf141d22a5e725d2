/** Reads a run: its summary, its lines, or its lines while they are written. */
import { closeSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { readField, isSkillError, quoted, SkillError, type JournalLine, type RunInfo } from '#core';
import { openConfined, writeFileAtomically, type ConfinedDirectory } from '#platform';
import { isWholeEvent, restoredValue, startText, type ContentReference } from './references.ts';
import { contentText } from './content.ts';
import { LineReader, endsTorn, openJournal, parseLine, type StoredLine } from './journal-lines.ts';
import { RUN_FILE, readRunAt, readRunInfo, runLife, runState } from './run-folder.ts';
import { fileText, toRunInfo, summarize, type RunSummary } from './run-info.ts';
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
  /** The outcome, or `killed` if it has none and its process is gone. */
  readonly state: RunInfo['outcome'] | 'killed';
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
export function readRun(folder: string, { content = 'whole' }: ReadRunOptions = {}): ReadRun {
  const journal = openJournal(folder);
  if (journal.type !== 'open')
    throw notARun(folder, journal.type === 'absent' ? 'it has no events.jsonl' : `events.jsonl: ${journal.reason}`);
  const torn = endsTorn(journal);
  closeSync(journal.descriptor);
  const lines: Iterable<JournalLine> = { [Symbol.iterator]: () => journalLines(folder, content) };
  const reading = readRunAt(folder);
  if (reading.type === 'newer')
    throw notARun(
      folder,
      `its schema version is ${String(reading.schema)}, which a later version of skillwright wrote`,
    );
  if (reading.type === 'run')
    return { path: folder, info: reading.info, state: runState(reading.info), torn, problems: [], lines };
  const info = infoFromEvents(folder);
  if (info === undefined) throw notARun(folder, 'it has no run.json, and its events do not start with run-start');
  const problem = reading.type === 'absent' ? 'run.json is missing' : `run.json: ${reading.reason}`;
  return { path: folder, info, state: runState(info), torn, problems: [problem], lines };
}

/** The summary that the events give, without `run.json`; undefined if they do not start with run-start. */
export function infoFromEvents(folder: string): RunInfo | undefined {
  let summary: RunSummary | undefined;
  for (const line of journalLines(folder, 'start')) {
    summary = summarize(summary, line);
    if (summary === undefined) return undefined;
  }
  return summary === undefined ? undefined : toRunInfo(summary);
}

/** Writes `run.json` of a run without one from its events, unless these have an end. Returns false if they do not start with run-start. */
export function writeSummary(folder: string): boolean {
  const info = infoFromEvents(folder);
  const file = path.join(folder, RUN_FILE);
  if (info?.endedAt !== undefined) rmSync(file, { force: true });
  else if (info !== undefined) writeFileAtomically(file, Buffer.from(fileText(info)));
  return info !== undefined;
}

function* journalLines(folder: string, content: Content): Generator<JournalLine> {
  const opening = openConfined(folder);
  const journal = openJournal(folder);
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
  folder: string,
  { signal, pollMs = 100, content = 'whole' }: FollowOptions,
): AsyncGenerator<JournalLine> {
  const opening = openConfined(folder);
  const journal = openJournal(folder);
  try {
    if (opening.type === 'failed' || journal.type !== 'open') throw notARun(folder, 'it has no events.jsonl');
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

function notARun(folder: string, reason: string): SkillError {
  return new SkillError({
    code: 'run/invalid',
    message: `${quoted(folder, 200)} cannot be read as a run: ${reason}`,
    hint: 'name a run from skillwright runs list, or the path of a run folder',
    data: { path: folder },
  });
}
