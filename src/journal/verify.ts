/**
 * Verifies that a run folder is what was recorded. The hash chain covers the lines, the lines determine all other files, and the seal
 * authenticates the whole. A folder cannot show that an unsealed run was rewritten from the first line on; that a whole run was removed
 * shows in the chain (`verify-chain.ts`).
 */
import { closeSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';

import { isSkillError, printable, type JournalLine, type RunInfo } from '#core';
import { inConfined, type ConfinedDirectory } from '#platform';
import {
  FIRST_HASH,
  isLinked,
  LineReader,
  openJournal,
  parseLine,
  type ParsedLine,
  type StoredLine,
} from './journal-lines.ts';
import { restoredLine } from './journal-reader.ts';
import { INDEX_FILE, SCAN_FILE, isRunId, readRunInfo, runLife, type RunReading } from './run-folder.ts';
import { toRunInfo, fileText, summarize, type RunSummary } from './run-info.ts';
import { checkSeal, type SealState } from './seal.ts';
import { openFileChecks, type FileChecks, type RunProblem } from './verify-files.ts';

/**
 * `unsealed`: complete, but without a seal by the given key, so it may have been rewritten as a whole. `torn`: the run was killed, and its
 * remains are intact. `running`: it is being written. `unreadable`: not a run, or written by a later version.
 */
export interface Verification {
  readonly status: 'intact' | 'unsealed' | 'torn' | 'running' | 'tampered' | 'unreadable';
  /** In the order of detection; at most 100. */
  readonly problems: readonly RunProblem[];
  readonly seal: SealState;
  /** The run was killed before its first event: it did nothing. */
  readonly isEmpty?: true;
}

const MAX_PROBLEMS = 100;

export interface VerifyOptions {
  /** The key of this user, if there is one. */
  readonly sealKey?: Uint8Array;
  /** Whether a run without a valid seal is `unsealed` (default: true if a key is given). */
  readonly expectsSeal?: boolean;
}

/** Checks the record of a run: every line, every stored file and the seal. */
export function verifyRun(
  path: string,
  { sealKey, expectsSeal = sealKey !== undefined }: VerifyOptions = {},
): Verification {
  const checked = inConfined(
    path,
    (folder) => verifyFolder(path, folder, sealKey),
    () => undefined,
  );
  if (checked?.status === 'intact' && expectsSeal && checked.seal !== 'good') return { ...checked, status: 'unsealed' };
  return checked ?? unreadable('folder/not-a-run', 'it is not a folder that can be opened');
}

function verifyFolder(path: string, folder: ConfinedDirectory, sealKey: Uint8Array | undefined): Verification {
  const reading = readRunInfo(folder);
  if (reading.type === 'newer')
    return unreadable(
      'folder/newer',
      `its schema version is ${String(reading.schema)}, which a later version of skillwright wrote`,
    );
  const journal = openJournal(path);
  if (journal.type !== 'open') {
    const reason = journal.type === 'absent' ? 'it is missing' : journal.reason;
    if (journal.type === 'absent' && reading.type === 'absent' && hasOnlyBegun(path))
      return { status: 'torn', problems: [], seal: 'absent', isEmpty: true };
    if (reading.type !== 'run') return unreadable('folder/not-a-run', `events.jsonl: ${reason}`);
    return {
      status: 'tampered',
      problems: [journalProblem('journal/missing', reason)],
      seal: sealState(reading, sealKey),
    };
  }
  try {
    const files = openFileChecks(path, folder);
    const checked = checkLines(new LineReader(journal.descriptor), reading, folder, files);
    return conclude(reading, checked, files, { sealKey, name: basename(path) });
  } finally {
    closeSync(journal.descriptor);
  }
}

/** The folder of a run that was killed before its first line. */
function hasOnlyBegun(path: string): boolean {
  const isFirst = (name: string): boolean => name === INDEX_FILE || name === SCAN_FILE || name.startsWith('.');
  return isRunId(basename(path)) && readdirSync(path).every(isFirst);
}

/** The result of checking the lines. */
interface CheckedLines {
  readonly problems: readonly RunProblem[];
  readonly count: number;
  readonly summary: RunSummary | undefined;
  /** The summary after as many lines as `run.json` covers. */
  readonly atCheckpoint: RunSummary | undefined;
  readonly isTorn: boolean;
}

const TOO_LONG: ParsedLine = { type: 'bad', reason: 'it is too long' };

function checkLines(
  reader: LineReader,
  reading: RunReading,
  folder: ConfinedDirectory,
  files: FileChecks,
): CheckedLines {
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
    if (typeof restored === 'object' && problems.length === 0) summary = summarize(summary, restored);
    if (position.place === checkpoint) atCheckpoint = summary;
  }
  const isTorn = reader.rest().length > 0;
  const checked = { problems, count: position.place, summary, atCheckpoint, isTorn };
  // After a power failure the last line may contain anything.
  const isCutShort = isLastBad && !isTorn && problems.length === 1 && isUnfinished(reading);
  return isCutShort ? { ...checked, problems: [], count: position.place - 1, isTorn: true } : checked;
}

/** The position of the check: the line in the file, its expected number, and the hash of the previous line. */
interface Position {
  readonly place: number;
  readonly seq: number;
  /** Absent after an unreadable line. */
  readonly head: string | undefined;
}

function positionAfter({ place, seq }: Position, parsed: ParsedLine): Position {
  if (parsed.type === 'bad') return { place: place + 1, seq: seq + 1, head: undefined };
  // Continues with the values of the line itself, so that one change is one problem and not one for every later line.
  return { place: place + 1, seq: parsed.line.seq, head: parsed.line.hash };
}

function linkProblem({ place, seq, head }: Position, parsed: ParsedLine): RunProblem | undefined {
  if (parsed.type === 'bad') return lineProblem('line/unreadable', place + 1, parsed.reason);
  if (parsed.line.seq !== seq + 1) return lineProblem('line/order', place + 1, orderText(parsed.line.seq, seq + 1));
  if (head === undefined || isLinked(head, parsed.split)) return undefined;
  return lineProblem('line/edited', place + 1, 'its hash does not match its text and the previous line');
}

/** Returns the line, or the problem with its event. */
function readEvent(line: StoredLine, folder: ConfinedDirectory, files: FileChecks): JournalLine | string {
  files.see(line);
  try {
    return restoredLine(line, folder, 'start') ?? 'its event has an unknown form';
  } catch (error) {
    if (isSkillError(error)) return 'the file with its event is missing or changed';
    throw error;
  }
}

function conclude(
  reading: RunReading,
  checked: CheckedLines,
  files: FileChecks,
  { sealKey, name }: { readonly sealKey: Uint8Array | undefined; readonly name: string },
): Verification {
  const seal = sealState(reading, sealKey);
  const isWhole = !isUnfinished(reading);
  const journal = [...checked.problems, ...lengthProblems(reading, checked, isWhole)];
  // Only a complete journal determines the other files.
  const isComplete = journal.length === 0;
  const found = [
    ...nameProblems(name, reading, checked),
    ...journal,
    ...runProblems(reading, checked, isComplete),
    ...files.problems({ summary: isComplete ? checked.summary : undefined, isWhole }),
    ...(seal === 'bad' ? [runProblem('seal/wrong', 'the seal is invalid for this run and the key of this user')] : []),
  ].slice(0, MAX_PROBLEMS);
  if (found.length > 0) return { status: 'tampered', problems: found, seal };
  if (isWhole) return { status: 'intact', problems: [], seal };
  const isAlive = reading.type === 'run' && runLife(reading.info) === 'running';
  return { status: isAlive ? 'running' : 'torn', problems: [], seal };
}

/** A folder that was exchanged with another one has the name of that one. Copies with other names are fine. */
function nameProblems(name: string, reading: RunReading, { summary }: CheckedLines): readonly RunProblem[] {
  const run = reading.type === 'run' ? reading.info.run : summary?.info.run;
  if (run === undefined || run === name || !isRunId(name)) return [];
  return [{ code: 'folder/renamed', path: '.', message: `it contains the run ${printable(run)}` }];
}

/** Whether the run has no recorded end. */
function isUnfinished(reading: RunReading): boolean {
  if (reading.type === 'run') return reading.info.endedAt === undefined;
  return reading.type === 'absent';
}

/** Checks that there are as many lines as `run.json` says. */
function lengthProblems(
  reading: RunReading,
  { problems, count, isTorn }: CheckedLines,
  isWhole: boolean,
): readonly RunProblem[] {
  const expectedCount = reading.type === 'run' ? reading.info.events.count : 0;
  if (count < expectedCount)
    return [journalProblem('journal/cut', `it has ${String(count)} lines; run.json says ${String(expectedCount)}`)];
  if (!isWhole) return [];
  if (isTorn) return [journalProblem('journal/cut', 'it ends in the middle of a line')];
  if (reading.type !== 'run' || count === expectedCount || problems.length > 0) return [];
  return [
    journalProblem(
      'journal/added',
      `it continues after line ${String(expectedCount)}, the last one according to run.json`,
    ),
  ];
}

function runProblems(reading: RunReading, checked: CheckedLines, isComplete: boolean): readonly RunProblem[] {
  if (reading.type === 'absent') {
    // Killed between the first line and the first run.json.
    return checked.count <= 1 ? [] : [runProblem('run/missing', 'it is missing')];
  }
  if (reading.type !== 'run')
    return [runProblem('run/edited', reading.type === 'invalid' ? reading.reason : 'it has another schema version')];
  if (!isComplete) return [];
  const { atCheckpoint } = checked;
  const isSame =
    atCheckpoint !== undefined && reading.text === fileText(expectedInfo(toRunInfo(atCheckpoint), reading.info));
  return isSame ? [] : [runProblem('run/edited', 'it does not match the event log')];
}

/** A failed record is the one outcome that the journal cannot contain. */
function expectedInfo(derived: RunInfo, { outcome, reason }: RunInfo): RunInfo {
  return outcome === 'record-failed' && derived.outcome === 'running' ? { ...derived, outcome, reason } : derived;
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

function runProblem(code: RunProblem['code'], message: string): RunProblem {
  return { code, path: 'run.json', message };
}

function unreadable(code: RunProblem['code'], message: string): Verification {
  return { status: 'unreadable', problems: [{ code, path: '.', message }], seal: 'absent' };
}
