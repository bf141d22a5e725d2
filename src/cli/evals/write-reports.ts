/** Prints what an evaluation ended with, writes it to files, and derives the exit code. */
import { statSync, truncateSync } from 'node:fs';
import path from 'node:path';

import { printable } from '#core';
import type { compareRuns } from '#evals';
import { makeFolders, writeTextFile } from '#platform';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';
import { readReportFlags, type EvalInvocation } from './flags.ts';

const EXITS = {
  passed: EXIT.done,
  failed: EXIT.failed,
  incomplete: EXIT.invalidEvaluation,
  invalid: EXIT.invalidEvaluation,
  impossible: EXIT.impossible,
} as const;

/** Empties what is to be replaced: an evaluation that ends without a verdict leaves no report of an earlier one that says passed. */
export function emptyOldReports(invocation: EvalInvocation): void {
  for (const { file } of readReportFlags(invocation)) {
    const place = file === undefined || file === '-' ? undefined : path.resolve(invocation.surroundings.cwd, file);
    if (place !== undefined && statSync(place, { throwIfNoEntry: false })?.isFile() === true) truncateSync(place);
  }
}

/** `folder` is that of the evaluation, for reports without a file name. Without a folder they are printed. */
export async function printOutcome(
  outcome: ReturnType<typeof compareRuns>,
  invocation: EvalInvocation,
  folder?: string,
): Promise<number> {
  const { terminal } = invocation;
  const { wrap, style, isAnswerOnTerminal } = terminal;
  const { cwd } = invocation.surroundings;
  const reports = readReportFlags(invocation).map(({ format, file }) => ({
    format,
    file: file ?? (folder === undefined ? '-' : undefined),
  }));
  if (!terminal.printJson(outcome.json) && !reports.some(({ file }) => file === '-'))
    terminal.out(
      outcome.toText({ wrap, style, width: isAnswerOnTerminal ? terminal.width : Number.POSITIVE_INFINITY }),
    );
  for (const { format, file } of reports) {
    const own = file === undefined ? folder : path.dirname(path.resolve(cwd, file));
    const written = await outcome.render(format, own);
    const files = written.type === 'text' ? [{ path: '', text: written.text }] : written.files;
    if (file === '-') terminal.out(written.type === 'text' ? written.text.trimEnd() : jsonText(files));
    else {
      const place = path.resolve(cwd, file ?? path.join(folder ?? '', written.file));
      for (const { path: name, text } of files) {
        const target = path.join(place, name);
        makeFolders(path.dirname(target));
        writeTextFile(target, text);
      }
      terminal.remark(`${format}: ${printable(path.relative(cwd, place) || place)}`);
    }
  }
  terminal.err(outcome.reasons.map((reason) => `${outcome.verdict}: ${printable(reason)}`));
  return EXITS[outcome.verdict];
}
