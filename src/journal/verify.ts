/**
 * Whether a run folder is what was recorded. The chain says what became of the lines, the lines say what all other files must be, and
 * the seal says who wrote the whole. What no look at a folder can know: that an unsealed run was written anew from the first line on,
 * or that a whole run was removed.
 */
import { closeSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';

import { isSkillError } from '../core/errors.ts';
import type { JournalLine, RunInfo } from '../core/run-events.ts';
import type { ConfinedDirectory } from '../platform/fs/confined-directory.ts';
import { FIRST_HASH, isLinked } from './chain.ts';
import { restoredLine } from './journal-reader.ts';
import { LineReader, openJournal, parseLine } from './journal-lines.ts';
import type { ParsedLine, StoredLine } from './journal-lines.ts';
import { INDEX_FILE, inFolder, isRunId, readRunInfo, runLife } from './run-folder.ts';
import type { RunReading } from './run-folder.ts';
import { infoOf, infoText, summarise } from './run-info.ts';
import type { RunSummary } from './run-info.ts';
import { checkSeal } from './seal.ts';
import type { SealState } from './seal.ts';
import { openFileChecks } from './verify-files.ts';
import type { FileChecks, RunProblem } from './verify-files.ts';

/**
 * `torn`: it was killed, and what there is of it is whole. `running`: it is being written. `unreadable`: no run, or one of a later
 * version.
 */
export interface Verification {
  readonly status: 'intact' | 'torn' | 'running' | 'tampered' | 'unreadable';
  /** In the order of their finding; at most 100. */
  readonly problems: readonly RunProblem[];
  readonly seal: SealState;
}

const MAX_PROBLEMS = 100;

export interface VerifyOptions {
  /** The user's key, where there is one. */
  readonly sealKey?: Uint8Array;
}

export function verifyRun(path: string, { sealKey }: VerifyOptions = {}): Verification {
  const checked = inFolder(path, (folder) => verifyFolder(path, folder, sealKey));
  return checked ?? unreadable('folder/not-a-run', 'it is no folder that can be opened');
}

function verifyFolder(path: string, folder: ConfinedDirectory, sealKey: Uint8Array | undefined): Verification {
  const reading = readRunInfo(folder);
  if (reading.type === 'newer')
    return unreadable('folder/newer', `its schema is ${String(reading.schema)}: a later version wrote it`);
  const journal = openJournal(path);
  if (journal.type !== 'open') {
    const reason = journal.type === 'absent' ? 'it is not there' : journal.reason;
    if (journal.type === 'absent' && reading.type === 'absent' && hasOnlyBegun(path))
      return { status: 'torn', problems: [], seal: 'absent' };
    if (reading.type !== 'run') return unreadable('folder/not-a-run', `events.jsonl: ${reason}`);
    return { status: 'tampered', problems: [missingJournal(reason)], seal: sealState(reading, sealKey) };
  }
  try {
    const files = openFileChecks(path, folder);
    const walked = walkLines(new LineReader(journal.descriptor), reading, folder, files);
    return judge(reading, walked, files, sealKey);
  } finally {
    closeSync(journal.descriptor);
  }
}

/** The folder of a run that was killed before its first line. */
function hasOnlyBegun(path: string): boolean {
  return isRunId(basename(path)) && readdirSync(path).every((name) => name === INDEX_FILE || name.startsWith('.'));
}

/** What the lines came to. */
interface Walked {
  readonly problems: readonly RunProblem[];
  readonly count: number;
  readonly summary: RunSummary | undefined;
  /** After as many lines as `run.json` speaks of. */
  readonly atCheckpoint: RunSummary | undefined;
  readonly isTorn: boolean;
}

const TOO_LONG: ParsedLine = { type: 'bad', reason: 'it is too long' };

function walkLines(reader: LineReader, reading: RunReading, folder: ConfinedDirectory, files: FileChecks): Walked {
  const problems: RunProblem[] = [];
  const checkpoint = reading.type === 'run' ? reading.info.events.count : 0;
  let position: Position = { place: 0, seq: 0, head: FIRST_HASH };
  let summary: RunSummary | undefined;
  let atCheckpoint: RunSummary | undefined;
  let isLastBad = false;
  for (const piece of reader.lines()) {
    const parsed = piece.type === 'line' ? parseLine(piece.bytes) : TOO_LONG;
    const problem = linkProblem(position, parsed);
    position = positionAfter(position, parsed);
    isLastBad = parsed.type === 'bad';
    const restored = parsed.type === 'line' ? readEvent(parsed.line, folder, files) : undefined;
    const unknown = typeof restored === 'string' ? lineProblem('line/unreadable', position.place, restored) : undefined;
    for (const found of [problem, unknown])
      if (found !== undefined && problems.length < MAX_PROBLEMS) problems.push(found);
    if (typeof restored === 'object' && problems.length === 0) summary = summarise(summary, restored);
    if (position.place === checkpoint) atCheckpoint = summary;
  }
  const isTorn = reader.rest().length > 0;
  const walked = { problems, count: position.place, summary, atCheckpoint, isTorn };
  // A power cut may leave anything where the last line was to be.
  const isCutShort = isLastBad && !isTorn && problems.length === 1 && isUnfinished(reading);
  return isCutShort ? { ...walked, problems: [], count: position.place - 1, isTorn: true } : walked;
}

/** Where the walk stands: the line in the file, the number it should have, and the hash that the next one follows from. */
interface Position {
  readonly place: number;
  readonly seq: number;
  /** Absent after a line that nobody can read. */
  readonly head: string | undefined;
}

function positionAfter({ place, seq }: Position, parsed: ParsedLine): Position {
  if (parsed.type === 'bad') return { place: place + 1, seq: seq + 1, head: undefined };
  // By what the line says of itself: one change is then one problem, and not one for every line after it.
  return { place: place + 1, seq: parsed.line.seq, head: parsed.line.hash };
}

function linkProblem({ place, seq, head }: Position, parsed: ParsedLine): RunProblem | undefined {
  if (parsed.type === 'bad') return lineProblem('line/unreadable', place + 1, parsed.reason);
  if (parsed.line.seq !== seq + 1) return lineProblem('line/order', place + 1, orderText(parsed.line.seq, seq + 1));
  if (head === undefined || isLinked(head, parsed.split)) return undefined;
  return lineProblem('line/edited', place + 1, 'its hash does not follow from its text and the line before');
}

/** The line, or what is wrong with its event. */
function readEvent(line: StoredLine, folder: ConfinedDirectory, files: FileChecks): JournalLine | string {
  files.see(line);
  try {
    return restoredLine(line, folder, 'start') ?? 'its event is of no known form';
  } catch (error) {
    if (isSkillError(error)) return 'the file that holds its event is missing or changed';
    throw error;
  }
}

function judge(reading: RunReading, walked: Walked, files: FileChecks, sealKey: Uint8Array | undefined): Verification {
  const seal = sealState(reading, sealKey);
  const isWhole = !isUnfinished(reading);
  const journal = [...walked.problems, ...lengthProblems(reading, walked, isWhole)];
  // Only lines that are all there say what else there must be.
  const isComplete = journal.length === 0;
  const found = [
    ...journal,
    ...runProblems(reading, walked, isComplete),
    ...files.problems({ summary: isComplete ? walked.summary : undefined, isWhole }),
    ...(seal === 'bad' ? [sealProblem()] : []),
  ].slice(0, MAX_PROBLEMS);
  if (found.length > 0) return { status: 'tampered', problems: found, seal };
  if (isWhole) return { status: 'intact', problems: [], seal };
  const isAlive = reading.type === 'run' && runLife(reading.info) === 'running';
  return { status: isAlive ? 'running' : 'torn', problems: [], seal };
}

/** It has not come to an end that says what there is. */
function isUnfinished(reading: RunReading): boolean {
  if (reading.type === 'run') return reading.info.endedAt === undefined;
  return reading.type === 'absent';
}

/** Whether there are as many lines as `run.json` says. */
function lengthProblems(
  reading: RunReading,
  { problems, count, isTorn }: Walked,
  isWhole: boolean,
): readonly RunProblem[] {
  const told = reading.type === 'run' ? reading.info.events.count : 0;
  if (count < told)
    return [journalProblem('journal/cut', `it has ${String(count)} lines and run.json speaks of ${String(told)}`)];
  if (!isWhole) return [];
  if (isTorn) return [journalProblem('journal/cut', 'it ends in the middle of a line')];
  if (reading.type !== 'run' || count === told || problems.length > 0) return [];
  return [journalProblem('journal/added', `lines stand behind line ${String(told)}, the last one`)];
}

function runProblems(reading: RunReading, walked: Walked, isComplete: boolean): readonly RunProblem[] {
  if (reading.type === 'absent') {
    // Killed between the first line and the first run.json.
    return walked.count <= 1 ? [] : [runProblem('run/missing', 'it is not there')];
  }
  if (reading.type !== 'run')
    return [runProblem('run/edited', reading.type === 'invalid' ? reading.reason : 'it is of another schema')];
  if (!isComplete) return [];
  const { atCheckpoint } = walked;
  const isSame =
    atCheckpoint !== undefined && reading.text === infoText(expectedInfo(infoOf(atCheckpoint), reading.info));
  return isSame ? [] : [runProblem('run/edited', 'it says something else than the events do')];
}

/** That the record failed is the one thing which could not be recorded. */
function expectedInfo(made: RunInfo, { outcome, reason }: RunInfo): RunInfo {
  return outcome === 'record-failed' && made.outcome === 'running' ? { ...made, outcome, reason } : made;
}

function sealState(reading: RunReading, sealKey: Uint8Array | undefined): SealState {
  return reading.type === 'run' ? checkSeal(reading.seal, sealKey, reading.info, reading.text) : 'absent';
}

function orderText(found: number, expected: number): string {
  if (found > expected + 1)
    return `it has the number ${String(found)}: lines ${String(expected)} to ${String(found - 1)} are missing before it`;
  if (found === expected + 1)
    return `it has the number ${String(found)}: line ${String(expected)} is missing before it`;
  return `it has the number ${String(found)} where ${String(expected)} was expected`;
}

function lineProblem(code: RunProblem['code'], line: number, message: string): RunProblem {
  return { code, path: 'events.jsonl', line, message };
}

function journalProblem(code: RunProblem['code'], message: string): RunProblem {
  return { code, path: 'events.jsonl', message };
}

function missingJournal(reason: string): RunProblem {
  return journalProblem('journal/missing', reason);
}

function runProblem(code: RunProblem['code'], message: string): RunProblem {
  return { code, path: 'run.json', message };
}

function sealProblem(): RunProblem {
  return runProblem('seal/wrong', 'the seal was not made for this run with the key of this user');
}

function unreadable(code: RunProblem['code'], message: string): Verification {
  return { status: 'unreadable', problems: [{ code, path: '.', message }], seal: 'absent' };
}
