/** Hands the results of a run to its caller: copied to a folder, kept in the record, or as bytes to be stored elsewhere. */
import path from 'node:path';

import { countText, isSkillError, printable, SkillError, type Approve } from '#core';
import type { Run } from '../start-run.ts';
import type { Session } from '../session.ts';
import { redactedChunks } from '#sandbox';
import { readResults, type LeftOutFile, type ResultFile } from './results.ts';
import { isFreeFor, takeOutputs, writeResults } from './take-outputs.ts';

interface DeliveryOptions {
  readonly cwd: string;
  /** The folder that the user named: its files may be replaced, and a result that is left out is a problem. */
  readonly out: string | undefined;
  /** Asked if no folder is named: whether the files are saved in this one, in which nothing is replaced. */
  readonly mayUse: (folder: string, files: string) => Promise<boolean>;
  readonly approve: Approve;
  readonly signal: AbortSignal;
}

interface Delivery {
  /** Paths of the written files. */
  readonly copied: readonly string[];
  /** Files in the record. */
  readonly kept: readonly { readonly name: string; readonly bytes: number; readonly isRedacted: boolean }[];
  /** Number and names of the files that were not copied; absent if there are none, or they are lost. */
  readonly uncopied?: string;
  readonly leftOut: readonly Omit<LeftOutFile, 'isMissed'>[];
  /** Why files that should be copied were not. */
  readonly problem?: SkillError;
  /** The same, where the files are in the record instead and the user named no folder. */
  readonly warning?: string;
}

const OUT = 'out';

export async function deliverResults(run: Run, options: DeliveryOptions): Promise<Delivery> {
  const { cwd, out, approve, signal } = options;
  const { files, leftOut } = await readResults(run.session);
  const redact = (text: string): string => printable(run.session.execution?.redactor?.text(text) ?? text);
  const missed = leftOut.map((file) => ({ ...file, name: redact(file.name) }));
  const nothing = { copied: [], kept: [], leftOut: missed };
  if (files.length === 0) return { ...nothing, problem: missedProblem(missed, out) };
  const list = listText(files, redact);
  const folder = out ?? (await askFolder(files, list, options));
  let problem: SkillError | undefined;
  if (folder !== undefined) {
    try {
      const mayReplace = out !== undefined;
      const copied = await takeOutputs(run.session, files, path.resolve(cwd, folder), { approve, signal, mayReplace });
      return { ...nothing, copied, problem: missedProblem(missed, out) };
    } catch (error) {
      if (!isSkillError(error)) throw error;
      problem = error;
    }
  }
  try {
    const kept = files.flatMap(({ name, bytes, isExecutable }) => {
      const how = run.keepFile(bytes, { name, isExecutable });
      return how === undefined ? [] : [{ name: redact(name), bytes: bytes.length, isRedacted: how === 'redacted' }];
    });
    const found = { ...nothing, kept, uncopied: list };
    return out === undefined ? { ...found, warning: problem?.message } : { ...found, problem };
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'record/failed') throw error;
    return { ...nothing, problem: problem ?? lostFiles(error, list) };
  }
}

/** The programs have run, and the record can no longer keep their files. */
function lostFiles(error: SkillError, list: string): SkillError {
  const { code, message, data } = error;
  return new SkillError({
    code,
    message: `the program ran, but ${list} could not be kept: ${message}`,
    hint: `check the free disk space and the folder of the record; to get the files, repeat the command with --out ${OUT}`,
    data,
    cause: error,
  });
}

/** With --out, a caller must not take part of the results for all of them. */
function missedProblem(leftOut: readonly LeftOutFile[], out: string | undefined): SkillError | undefined {
  const missed = leftOut.filter(({ isMissed }) => isMissed);
  const [first] = missed;
  if (out === undefined || first === undefined) return undefined;
  const more = missed.length === 1 ? '' : `, and ${String(missed.length - 1)} more`;
  const message = `not all files were copied to ${printable(out)}: ${first.name} was left out (${first.reason})${more}`;
  const hint = 'let the program write regular files with plain names, at most 10,000 of at most 64 MiB, or one archive';
  return new SkillError({ code: 'io/failed', message, hint, data: { path: out, cause: first.reason } });
}

/** The folder for results that no flag names: ./out, or the first of ./out-2, ./out-3, ... in which nothing is replaced. */
async function askFolder(
  files: readonly ResultFile[],
  list: string,
  { cwd, signal, mayUse }: DeliveryOptions,
): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  let folder = OUT;
  for (let count = 2; !isFreeFor(files, path.resolve(cwd, folder)); count += 1) folder = `${OUT}-${String(count)}`;
  return (await mayUse(path.resolve(cwd, folder), list)) ? folder : undefined;
}

const SHOWN_NAMES = 5;

function listText(files: readonly ResultFile[], redact: (text: string) => string): string {
  const names = files.slice(0, SHOWN_NAMES).map(({ name }) => redact(name));
  const more = files.length - names.length;
  return `${countText(files.length, 'file')} (${names.join(', ')}${more > 0 ? `, and ${String(more)} more` : ''})`;
}

/** Copies each result that may be copied, and returns notes for the record about the others. */
export async function copyResults(session: Session, folder: string): Promise<readonly string[]> {
  const { files, leftOut } = await readResults(session);
  const refused: Omit<LeftOutFile, 'isMissed'>[] = [];
  for (const file of files)
    await writeResults([file], folder, {}).catch((error: unknown) => {
      if (!isSkillError(error)) throw error;
      refused.push({ name: file.name, reason: error.message });
    });
  return leftOutNotes([...leftOut, ...refused]);
}

/** The results without known secrets, and notes for the record about those that are missing. */
export async function readCleanResults(session: Pick<Session, 'execution'>): Promise<{
  readonly files: readonly { readonly name: string; readonly bytes: Buffer }[];
  readonly notes: readonly string[];
}> {
  const redactor = session.execution?.redactor;
  const { files, leftOut } = await readResults(session);
  return {
    files: files.map(({ name, bytes }) => ({
      name: redactor?.text(name) ?? name,
      bytes: Buffer.concat([...redactedChunks([bytes], redactor)]),
    })),
    notes: leftOutNotes(leftOut),
  };
}

const MAX_NAMED = 100;
const NOT_STORED = 'output not stored: ';

/** A note for the record about each file of `out/` that is missing from the results. */
function leftOutNotes(leftOut: readonly Omit<LeftOutFile, 'isMissed'>[]): readonly string[] {
  const more = leftOut.length - MAX_NAMED;
  return [
    ...leftOut.slice(0, MAX_NAMED).map(({ name, reason }) => `${NOT_STORED}${printable(name)} (${reason})`),
    ...(more > 0 ? [`${NOT_STORED}${countText(more, 'more file')}`] : []),
  ];
}

/** Whether a note of a record is about a result that is missing. */
export function isLeftOutNote(message: string): boolean {
  return message.startsWith(NOT_STORED);
}
