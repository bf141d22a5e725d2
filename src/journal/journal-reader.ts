/** Reading a run back: at a glance, line by line, or as it goes on. */
import { closeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

import { SkillError, isSkillError } from '../core/errors.ts';
import type { JournalLine, RunInfo } from '../core/run-events.ts';
import { quoted } from '../core/text/text.ts';
import { openConfined } from '../platform/fs/confined-directory.ts';
import type { ConfinedDirectory } from '../platform/fs/confined-directory.ts';
import { contentText } from './content.ts';
import { LineReader, endsTorn, openJournal, parseLine } from './journal-lines.ts';
import type { StoredLine } from './journal-lines.ts';
import { isWholeEvent, restoredValue, startText } from './references.ts';
import { inFolder, readRunInfo, runLife } from './run-folder.ts';
import { infoOf, summarise } from './run-info.ts';
import type { RunSummary } from './run-info.ts';
import { isRunEvent } from './shape.ts';

export interface ReadRunOptions {
  /** `whole`: long texts are put back and checked. `start`: only their start is given, and no other file is opened. */
  readonly content?: 'whole' | 'start';
}

export interface ReadRun {
  readonly path: string;
  /** As `run.json` has it; from the events where there is none. */
  readonly info: RunInfo;
  /** The journal ends in the middle of a line: it is being written, or was killed then. */
  readonly torn: boolean;
  /** What was odd about the folder at the first look; `verify` looks at everything. */
  readonly problems: readonly string[];
  /**
   * Every line that can be read, each time from the start and a piece at a time. Lines that cannot be read are left out. Throws
   * `run/invalid` where a long text is gone or changed.
   */
  readonly lines: Iterable<JournalLine>;
}

/** Opens a run folder for reading. Throws `run/invalid` where it is none, or was written by a later version. */
export function readRun(path: string, { content = 'whole' }: ReadRunOptions = {}): ReadRun {
  const journal = openJournal(path);
  if (journal.type !== 'open')
    throw notARun(path, journal.type === 'absent' ? 'it has no events.jsonl' : `events.jsonl: ${journal.reason}`);
  const torn = endsTorn(journal);
  closeSync(journal.descriptor);
  const lines: Iterable<JournalLine> = { [Symbol.iterator]: () => journalLines(path, content) };
  const reading = inFolder(path, readRunInfo) ?? { type: 'absent' };
  if (reading.type === 'newer') throw notARun(path, `its schema is ${String(reading.schema)}, of a later version`);
  if (reading.type === 'run') return { path, info: reading.info, torn, problems: [], lines };
  const info = infoFromEvents(path);
  if (info === undefined) throw notARun(path, 'it has no run.json, and its events do not begin with a start');
  const problem = reading.type === 'absent' ? 'run.json is missing' : `run.json: ${reading.reason}`;
  return { path, info, torn, problems: [problem], lines };
}

function infoFromEvents(path: string): RunInfo | undefined {
  let summary: RunSummary | undefined;
  for (const line of journalLines(path, 'start')) {
    summary = summarise(summary, line);
    if (summary === undefined) return undefined;
  }
  return summary === undefined ? undefined : infoOf(summary);
}

function* journalLines(path: string, content: 'whole' | 'start'): Generator<JournalLine> {
  const opening = openConfined(path);
  const journal = openJournal(path);
  try {
    if (opening.type === 'failed' || journal.type !== 'open') return;
    for (const piece of new LineReader(journal.descriptor).lines()) {
      const line = piece.type === 'line' ? lineOf(piece.bytes, opening.directory, content) : undefined;
      if (line !== undefined) yield line;
    }
  } finally {
    if (journal.type === 'open') closeSync(journal.descriptor);
    if (opening.type === 'open') opening.directory.close();
  }
}

function lineOf(bytes: Buffer, folder: ConfinedDirectory, content: 'whole' | 'start'): JournalLine | undefined {
  const parsed = parseLine(bytes);
  return parsed.type === 'line' ? restoredLine(parsed.line, folder, content) : undefined;
}

/** The line with its texts; nothing where its event is none that this program knows. Throws `run/invalid` for lost content. */
export function restoredLine(
  { event: stored, ...rest }: StoredLine,
  folder: ConfinedDirectory,
  content: 'whole' | 'start',
): JournalLine | undefined {
  try {
    // An event that is kept apart as a whole is nothing without its file.
    const event = restoredValue(stored, (reference) =>
      content === 'whole' || isWholeEvent(reference) ? contentText(folder, reference) : startText(reference),
    );
    return isRunEvent(event) ? { ...rest, event } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (isSkillError(error) && error.code === 'input/invalid')) return undefined;
    throw error;
  }
}

export interface FollowOptions extends ReadRunOptions {
  readonly signal: AbortSignal;
  /** Between two looks; 100. */
  readonly pollMs?: number;
}

/** The lines of a run as they come, from the first one to the end of the run, of its process, or of the reader's patience. */
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
      // Asked before the last look: what was written before the end is still seen.
      const isOver = !isRunning(opening.directory);
      for (const piece of reader.lines()) {
        if (piece.type !== 'line') return;
        const line = lineOf(piece.bytes, opening.directory, content);
        if (line === undefined) continue;
        yield line;
        if (line.event.type === 'run-end') return;
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
    hint: 'name a run of skillwright runs list, or the path of a run folder',
    data: { path },
  });
}
