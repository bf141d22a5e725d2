/** Prints a report, writes it to files, and derives the exit code. */
import path from 'node:path';

import { printable } from '#core';
import { renderReport, REPORT_FILES, terminalReport, verdictOf, type EvalReport, type Thresholds } from '#evals';
import { makeFolders, writeNamedFile } from '#platform';
import { EXIT } from '../exit.ts';
import { jsonText } from '../json.ts';
import { readReportFlags, resolveCwd, type EvalInvocation, type ReportFlag } from './flags.ts';

export interface ReportContext {
  /** Folder of the evaluation, for reports without a file name. Without a folder they are printed. */
  readonly folder?: string;
  /** An earlier report; HTML and Markdown then show what changed. */
  readonly before?: EvalReport;
  /** Writes this format only, next to the results. */
  readonly only?: ReportFlag['format'];
}

const EXITS = { passed: EXIT.done, failed: EXIT.failed, invalid: EXIT.invalidEvaluation } as const;

/** Prints the report, writes the requested files, and returns the exit code. */
export async function printReport(
  report: EvalReport,
  invocation: EvalInvocation,
  { thresholds, ...context }: ReportContext & { readonly thresholds: Thresholds },
): Promise<number> {
  const { flags, terminal } = invocation;
  const isPrinted = readReportFlags(flags).some(({ file }) => file === '-');
  if (!terminal.printJson(report) && !isPrinted) terminal.out(terminalReport(report, terminal));
  await writeReports(report, invocation, context);
  const verdict = verdictOf(report, thresholds);
  if (verdict.type !== 'passed') terminal.err(verdict.reasons.map((reason) => `${verdict.type}: ${printable(reason)}`));
  return EXITS[verdict.type];
}

/** Writes the reports of --report. */
export async function writeReports(
  report: EvalReport,
  invocation: EvalInvocation,
  { folder, before, only }: ReportContext,
): Promise<void> {
  const cwd = resolveCwd(invocation);
  for (const { format, file } of readReportFlags(invocation.flags)) {
    if (only !== undefined && only !== format) continue;
    const written = await renderReport(report, format, { cwd, before });
    const files = written.type === 'text' ? [{ path: '', text: written.text }] : written.files;
    const name = only === undefined ? file : undefined;
    if (name === '-' || (name === undefined && folder === undefined))
      invocation.terminal.out(written.type === 'text' ? written.text.trimEnd() : jsonText(files));
    else
      writeFiles(files, path.resolve(cwd, name ?? path.join(folder ?? '', REPORT_FILES[format])), format, invocation);
  }
}

/** Writes the files of a report below `place`, or one file there, and tells the user. */
export function writeFiles(
  files: readonly { readonly path: string; readonly text: string }[],
  place: string,
  format: string,
  invocation: EvalInvocation,
): void {
  for (const { path: name, text } of files) {
    const target = path.join(place, name);
    makeFolders(path.dirname(target));
    writeNamedFile(target, text);
  }
  const shown = path.relative(resolveCwd(invocation), place) || place;
  invocation.terminal.remark(`${format}: ${printable(shown)}`);
}
