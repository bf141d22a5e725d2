/** Prints a report, writes it to files, and derives the exit code. */
import path from 'node:path';

import {
  compareReports,
  exitOf,
  markdownComparison,
  REPORT_FORMATS,
  terminalReport,
  verdictOf,
  type EvalReport,
  type Thresholds,
  type WrittenReport,
} from '#evals';
import { printable } from '#core';
import { jsonText } from '../json.ts';
import { wantedReports, type EvalInvocation, type WantedReport } from './flags.ts';
import { resolveCwd } from './inputs.ts';
import { storedReports } from './report-folder.ts';
import { makeFolders, writeNamedFile } from '#platform';

export interface ReportContext {
  /** Folder of the evaluation, for reports without a file name. Without a folder they are printed. */
  readonly folder?: string;
  /** An earlier report; HTML and Markdown then show what changed. */
  readonly before?: EvalReport;
  /** Writes this format only, next to the results. */
  readonly only?: WantedReport['format'];
}

/** Prints the report, writes the requested files, and returns the exit code. */
export async function printReport(
  report: EvalReport,
  invocation: EvalInvocation,
  { thresholds, ...place }: ReportContext & { readonly thresholds: Thresholds },
): Promise<number> {
  const { flags, terminal } = invocation;
  const wanted = wantedReports(flags);
  const isPrinted = wanted.some(({ file }) => file === '-');
  if (!terminal.printJson(report) && !isPrinted) terminal.out(terminalReport(report, terminal));
  await writeReports(report, invocation, place);
  const verdict = verdictOf(report, thresholds);
  if (verdict.type !== 'passed') terminal.err(verdict.reasons.map((reason) => `${verdict.type}: ${printable(reason)}`));
  return exitOf(report, thresholds);
}

/** Writes the reports of --report. */
export async function writeReports(
  report: EvalReport,
  invocation: EvalInvocation,
  place: ReportContext,
): Promise<void> {
  for (const wanted of wantedReports(invocation.flags)) {
    if (place.only === undefined) await writeReport(report, wanted, invocation, place);
    else if (place.only === wanted.format) await writeReport(report, { format: wanted.format }, invocation, place);
  }
}

async function writeReport(
  report: EvalReport,
  { format, file }: WantedReport,
  invocation: EvalInvocation,
  { folder, before }: ReportContext,
): Promise<void> {
  const cwd = resolveCwd(invocation);
  const written = await renderReport(report, format, cwd, before);
  if (file === '-' || (file === undefined && folder === undefined)) {
    if (written.type === 'text') invocation.terminal.out(written.text.trimEnd());
    else invocation.terminal.out(jsonText(written.files));
    return;
  }
  const place = file === undefined ? path.join(folder ?? cwd, defaultName(format)) : path.resolve(cwd, file);
  const files = written.type === 'text' ? [{ path: '', text: written.text }] : written.files;
  for (const one of files) {
    const target = path.join(place, one.path);
    makeFolders(path.dirname(target));
    writeNamedFile(target, one.text);
  }
  invocation.terminal.remark(`${format}: ${printable(path.relative(cwd, place) || place)}`);
}

async function renderReport(
  report: EvalReport,
  format: string,
  cwd: string,
  before: EvalReport | undefined,
): Promise<WrittenReport> {
  if (format === 'markdown' && before !== undefined)
    return { type: 'text', text: markdownComparison(compareReports(before, report)) };
  const known = Object.entries(REPORT_FORMATS).find(([name]) => name === format);
  if (known !== undefined) return known[1].write(report);
  const [{ htmlCompare, htmlReport }, { resultView: view }] = await Promise.all([
    import('#evals/report-page'),
    import('#evals/run-view'),
  ]);
  const earlier = storedReports(cwd).filter(({ startedAt }) => startedAt < report.startedAt);
  const options = { view, earlier };
  const text = before === undefined ? htmlReport(report, options) : htmlCompare(before, report, options);
  return { type: 'text', text };
}

function defaultName(format: string): string {
  return Object.entries(REPORT_FORMATS).find(([name]) => name === format)?.[1].file ?? 'report.html';
}
