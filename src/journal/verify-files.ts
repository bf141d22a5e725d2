/** Checks the files beside the journal: each must match the lines, and no other file may exist. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { readField, isSkillError, parseJson, printable, cleanText, type SessionState } from '#core';
import { quietly, sha256, type ConfinedDirectory } from '#platform';
import { CONTENT_KINDS, isContentPath, referencesIn, restoredValue, type ContentReference } from './references.ts';
import { contentText, readContent } from './content.ts';
import type { StoredLine } from './journal-lines.ts';
import { EVENTS_FILE, FINAL_FILE, INDEX_FILE, RUN_FILE, SCAN_FILE, STATE_FILE, readRunFile } from './run-folder.ts';
import { fileText, type RunSummary } from './run-info.ts';
import { VERSION } from '../version.ts';

const MAX_FILE_BYTES = 512 * 1024 * 1024;
/** A large event may refer to texts in files; there are no further levels. */
const MAX_LEVELS = 2;

/** A problem and its position: a file of the folder, and the line if it has one. */
export interface RunProblem {
  readonly code:
    | 'folder/not-a-run'
    | 'folder/newer'
    | 'folder/renamed'
    | 'run/missing'
    | 'run/edited'
    | 'journal/missing'
    | 'journal/cut'
    | 'journal/added'
    | 'line/unreadable'
    | 'line/edited'
    | 'line/order'
    | 'file/missing'
    | 'file/edited'
    | 'file/added'
    | 'seal/wrong';
  readonly path: string;
  readonly line?: number;
  readonly message: string;
}

export interface FileChecks {
  /** Collects what a line says about files, and checks the content that it refers to. */
  see(line: StoredLine): void;
  /** Returns the problems. `isWhole`: the run has ended, so no other files may exist. */
  problems(known: { readonly summary: RunSummary | undefined; readonly isWhole: boolean }): readonly RunProblem[];
}

export function openFileChecks(run: string, folder: ConfinedDirectory): FileChecks {
  const contents = new Map<string, RunProblem | undefined>();
  let answer: unknown;
  const seeContent = (reference: Pick<ContentReference, '$ref' | 'bytes' | 'json'>, level: number): void => {
    if (contents.has(reference.$ref) && reference.json !== true) return;
    const reading = readContent(folder, reference);
    contents.set(reference.$ref, reading.type === 'read' ? undefined : contentProblem(reference.$ref, reading));
    if (reading.type !== 'read' || reference.json !== true || level >= MAX_LEVELS) return;
    for (const inner of safeReferences(parseJson(reading.bytes.toString('utf8')))) seeContent(inner, level + 1);
  };
  return {
    see({ event }) {
      for (const reference of safeReferences(event)) seeContent(reference, 0);
      const kept = keptBy(event);
      if (kept !== undefined) seeContent(kept, 0);
      const observation = readField(event, 'observation');
      if (readField(observation, 'type') === 'answered') answer = readField(observation, 'answer');
    },
    problems({ summary, isWhole }) {
      const broken = [...contents.values()].filter((problem) => problem !== undefined);
      if (summary === undefined) return broken;
      const expected = expectedFiles(summary, isWhole ? answerText(answer, folder) : undefined, isWhole);
      // If the answer is missing, its file cannot be checked.
      const known = [...expected.map(({ name }) => name), ...(answer === undefined ? [] : [FINAL_FILE])];
      return [
        ...broken,
        ...expected.flatMap((file) => fileProblem(folder, file) ?? []),
        ...(isWhole ? unexpectedFiles(run, new Set([...known, ...contents.keys()])) : []),
      ];
    },
  };
}

interface ExpectedFile {
  readonly name: string;
  /** Absent if the content cannot be derived. */
  readonly digest?: string;
}

function expectedFiles(
  { info, state }: RunSummary,
  answer: string | undefined,
  isWhole: boolean,
): readonly ExpectedFile[] {
  return [
    { name: INDEX_FILE, digest: info.indexDigest },
    ...(info.scanDigest === '' ? [] : [{ name: SCAN_FILE, digest: info.scanDigest }]),
    ...(state === undefined || !isWhole ? [] : [expectedState(info.version, state)]),
    ...(answer === undefined ? [] : [{ name: FINAL_FILE, digest: sha256(cleanText(answer)) }]),
  ];
}

/** Versions count failures differently, so the events of another one do not give its state. Nothing reads the file. */
function expectedState(version: string, state: SessionState): ExpectedFile {
  return { name: STATE_FILE, ...(version === VERSION && { digest: sha256(fileText(state)) }) };
}

function fileProblem(folder: ConfinedDirectory, { name, digest }: ExpectedFile): RunProblem | undefined {
  const read = readRunFile(folder, name, MAX_FILE_BYTES);
  if (read.type === 'absent') return { code: 'file/missing', path: name, message: 'it is missing' };
  if (read.type === 'failed') return { code: 'file/edited', path: name, message: read.reason };
  if (digest === undefined || sha256(read.bytes) === digest) return undefined;
  return { code: 'file/edited', path: name, message: 'it does not match the event log' };
}

function contentProblem(
  $ref: string,
  reading: Exclude<ReturnType<typeof readContent>, { readonly type: 'read' }>,
): RunProblem {
  if (reading.type === 'missing') return { code: 'file/missing', path: $ref, message: 'it is missing' };
  return { code: 'file/edited', path: $ref, message: reading.reason };
}

/** Returns the last answer, or undefined if the run has no answer or its content is missing, which is reported separately. */
function answerText(stored: unknown, folder: ConfinedDirectory): string | undefined {
  try {
    const answer = restoredValue(stored, (reference) => contentText(folder, reference));
    return typeof answer === 'string' ? answer : undefined;
  } catch (error) {
    if (isSkillError(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function keptBy(event: object): Pick<ContentReference, '$ref' | 'bytes'> | undefined {
  const [$ref, bytes] = [readField(event, 'path'), readField(event, 'bytes')];
  if (readField(event, 'type') !== 'content-keep' || typeof $ref !== 'string' || typeof bytes !== 'number')
    return undefined;
  return isContentPath($ref) ? { $ref, bytes } : undefined;
}

/** An event that is nested too deeply is reported as a problem of its line. */
function safeReferences(value: unknown): readonly ContentReference[] {
  try {
    return referencesIn(value);
  } catch (error) {
    if (isSkillError(error)) return [];
    throw error;
  }
}

/** Finds files that no event refers to. */
function unexpectedFiles(run: string, known: ReadonlySet<string>): readonly RunProblem[] {
  const kinds: readonly string[] = CONTENT_KINDS;
  const own = new Set<string>([EVENTS_FILE, RUN_FILE, ...known]);
  const names = namesIn(run);
  const found = [
    ...names.filter((name) => !kinds.includes(name)),
    ...names.filter((name) => kinds.includes(name)).flatMap((kind) => inKind(run, kind)),
  ];
  return found
    .filter((name) => !own.has(name))
    .map((name) => ({ code: 'file/added', path: printable(name), message: 'no event refers to it' }));
}

/** Returns the files of a content folder, or its name if it is not a folder. */
function inKind(run: string, kind: string): readonly string[] {
  return quietly(() => namesIn(path.join(run, kind)).map((name) => `${kind}/${name}`), [kind]);
}

function namesIn(folder: string): readonly string[] {
  return readdirSync(folder).toSorted();
}
