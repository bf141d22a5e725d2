/** Hands the files that programs left to the user: to --out, to ./out after a question, or into the record with the command that copies them. */
import path from 'node:path';

import { countText, isSkillError, printable, SkillError, typedWord, type Approve } from '#core';
import { isFreeFor, readResults, takeOutputs, type LeftOutFile, type ResultFile, type Run } from '#runtime';
import { askStreams, confirm } from '../terminal/ask.ts';
import type { SETTING_FLAGS } from '../command.ts';
import { reportWarning, type Terminal } from '../terminal/terminal.ts';
import { isAttended, withNextTicket } from './approval.ts';

export interface DeliveryOptions {
  readonly given: {
    readonly out?: string;
    readonly yes?: boolean;
    readonly json?: boolean;
    readonly [flag: string]: boolean | string | readonly string[] | undefined;
  };
  readonly cwd: string;
  readonly terminal: Terminal;
  readonly approve: Approve;
  readonly signal: AbortSignal;
  /** The command line, for runs without a record. */
  readonly words: readonly string[];
}

export interface Delivery {
  /** Paths of the written files. */
  readonly copied: readonly string[];
  /** Files in the record, and the command that copies them. */
  readonly kept: readonly { readonly name: string; readonly bytes: number }[];
  readonly fetch?: string;
  /** Lines for the user, apart from `copied`. */
  readonly lines: readonly string[];
  /** Why files that should be copied were not. */
  readonly problem?: SkillError;
}

const OUT = 'out';

export async function deliverOutputs(run: Run, options: DeliveryOptions): Promise<Delivery> {
  const { cwd, terminal, approve, signal, given } = options;
  const { files, leftOut } = await readResults(run.session);
  const redact = (text: string): string => printable(run.session.execution?.redactor?.text(text) ?? text);
  const lost = leftOut.map(
    ({ name, reason }) => `${terminal.style('yellow', 'warning')}: not kept or copied: ${redact(name)} (${reason})`,
  );
  const nothing = { copied: [], kept: [], lines: lost };
  if (files.length === 0) return { ...nothing, ...missedProblem(leftOut, given.out, redact) };
  const folder = given.out ?? (await askFolder(files, options, redact));
  let problem: SkillError | undefined;
  if (folder !== undefined) {
    try {
      const mayReplace = given.out !== undefined;
      const target = path.resolve(cwd, folder);
      const copied = await takeOutputs(run.session, files, target, { approve, signal, mayReplace });
      return { ...nothing, copied: copied.map(nearPath), ...missedProblem(leftOut, given.out, redact) };
    } catch (error) {
      if (!isSkillError(error)) throw error;
      const { code, message, hint, data } = error;
      problem = new SkillError({ code, message, hint: withNextTicket(hint), data, cause: error });
    }
  }
  let delivery: Delivery;
  try {
    delivery = keepFiles(run, files, options, redact);
  } catch (error) {
    if (!isSkillError(error) || error.code !== 'record/failed') throw error;
    return { ...nothing, problem: problem ?? lostFiles(error, files, redact) };
  }
  const isOwnChoice = given.out === undefined && problem !== undefined;
  if (isOwnChoice) reportWarning(terminal, problem?.message ?? '');
  return {
    ...delivery,
    lines: [...delivery.lines, ...lost],
    ...(problem === undefined || isOwnChoice ? {} : { problem }),
  };
}

/** The programs have run, and the record can no longer keep their files. */
function lostFiles(error: SkillError, files: readonly ResultFile[], redact: (text: string) => string): SkillError {
  const { code, message, data } = error;
  return new SkillError({
    code,
    message: `the program ran, but ${listText(files, redact)} could not be kept: ${message}`,
    hint: `check the free disk space and the folder of the record; to get the files, repeat the command with --out ${OUT}`,
    data,
    cause: error,
  });
}

/** With --out, a caller must not take part of the results for all of them. */
function missedProblem(
  leftOut: readonly LeftOutFile[],
  out: string | undefined,
  redact: (text: string) => string,
): Pick<Delivery, 'problem'> {
  const missed = leftOut.filter(({ isMissed }) => isMissed);
  const [first] = missed;
  if (out === undefined || first === undefined) return {};
  const more = missed.length === 1 ? '' : `, and ${String(missed.length - 1)} more`;
  const message = `not all files were copied to ${printable(out)}: ${redact(first.name)} was left out (${first.reason})${more}`;
  const hint = 'let the program write regular files with plain names, at most 10,000 of at most 64 MiB, or one archive';
  return { problem: new SkillError({ code: 'io/failed', message, hint, data: { path: out, cause: first.reason } }) };
}

/** The folder for results that no flag names: ./out, or the first of ./out-2, ./out-3, ... in which nothing is replaced. */
async function askFolder(
  files: readonly ResultFile[],
  { cwd, given, signal, terminal }: DeliveryOptions,
  redact: (text: string) => string,
): Promise<string | undefined> {
  if (!isAttended() || given.json === true || signal.aborted) return undefined;
  let folder = OUT;
  for (let count = 2; !isFreeFor(files, path.resolve(cwd, folder)); count += 1) folder = `${OUT}-${String(count)}`;
  if (given.yes === true) return folder;
  const text = terminal.wrap(`Save ${listText(files, redact)} to ${nearPath(path.resolve(cwd, folder))}?`);
  return (await confirm(askStreams(process), text, { signal })) ? folder : undefined;
}

/** Keeps the files in the record. */
function keepFiles(
  run: Run,
  files: readonly ResultFile[],
  { given, words }: DeliveryOptions,
  redact: (text: string) => string,
): Delivery {
  const kept = files.flatMap(({ name, bytes, isExecutable }) => {
    const how = run.keepFile(bytes, { name, isExecutable });
    return how === undefined ? [] : [{ name: redact(name), bytes: bytes.length, isRedacted: how === 'redacted' }];
  });
  if (run.id === undefined || kept.length === 0) {
    const end = words.indexOf('--');
    const at = end === -1 ? words.length : end;
    const again = ['skillwright', ...words.slice(0, at), '--out', OUT, ...words.slice(at)].map(typedWord).join(' ');
    return {
      copied: [],
      kept: [],
      lines: [`not kept, because the run is not recorded: ${listText(files, redact)}`, `to get them, repeat: ${again}`],
    };
  }
  const fetch = ['skillwright', 'runs', 'files', run.id, ...settingWords(given), '--out', OUT].map(typedWord).join(' ');
  const redacted = kept.filter(({ isRedacted }) => isRedacted);
  return {
    copied: [],
    kept: kept.map(({ name, bytes }) => ({ name, bytes })),
    fetch,
    lines: [
      `kept in the record: ${listText(files, redact)}`,
      ...(redacted.length === 0
        ? []
        : [`without the secrets in: ${redacted.map(({ name }) => name).join(', ')} (--out copies files unchanged)`]),
      `copy with: ${fetch}`,
    ],
  };
}

/** Flags that decide where records are. */
function settingWords(given: DeliveryOptions['given']): readonly string[] {
  return (['cwd', 'config', 'set'] as const satisfies readonly (keyof typeof SETTING_FLAGS)[]).flatMap((name) => {
    const value = given[name];
    if (typeof value === 'boolean' || value === undefined) return [];
    return (typeof value === 'string' ? [value] : value).flatMap((one) => [`--${name}`, one]);
  });
}

const SHOWN_NAMES = 5;

function listText(files: readonly ResultFile[], redact: (text: string) => string): string {
  const names = files.slice(0, SHOWN_NAMES).map(({ name }) => redact(name));
  const more = files.length - names.length;
  return `${countText(files.length, 'file')} (${names.join(', ')}${more > 0 ? `, and ${String(more)} more` : ''})`;
}

/** The path as the user would type it here. */
export function nearPath(file: string): string {
  const relative = path.relative(process.cwd(), file);
  return relative === '' || relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}
