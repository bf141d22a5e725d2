/** What an evaluation ends with: one report, the matrix of several, or the comparison of two. Each is shown and written in the same way. */
import path from 'node:path';

import { defined } from '#core';
import type { CaseProblem } from '../cases/problem.ts';
import { compareReports, type ReportComparison } from '../report/compare-reports.ts';
import { compareVerdicts } from '../report/compare-verdict.ts';
import { markdownComparison, terminalComparison } from '../report/compare-text.ts';
import { REPORT_FORMATS, type WrittenReport } from '../report/formats.ts';
import type { EvalReport } from '../report/result.ts';
import { terminalReport, type Look } from '../report/terminal.ts';
import type { Thresholds } from '../report/thresholds.ts';
import { findVerdict, verdictOf, withVerdict } from '../report/verdict.ts';
import { portabilityVerdict, type PortabilityReport } from '../subjects/portability.ts';
import { PORTABILITY_FILES, renderPortability, terminalPortability } from '../subjects/portability-text.ts';
import { storedReports } from './report-folder.ts';

type ReportFormat = keyof typeof REPORT_FORMATS | 'html';

/** `file` is the default name; a name without a dot is a folder. */
export type RenderedReport = WrittenReport & { readonly file: string };

export interface EvalOutcome {
  /** As `--json` prints it. */
  readonly json: object;
  /** `impossible`: no subject could run here. */
  readonly verdict: 'passed' | 'failed' | 'incomplete' | 'invalid' | 'impossible';
  readonly reasons: readonly string[];
  toText(look: Look): readonly string[];
  /** `folder` is where the file will be. */
  render(format: ReportFormat, folder?: string): Promise<RenderedReport>;
}

/** The report as it is stored and shown: with its verdict, and with paths from the project, which mean the same on other machines. */
export function completeReport(
  report: EvalReport,
  {
    cwd,
    thresholds,
    problems,
    leftOut,
  }: {
    readonly cwd: string;
    readonly thresholds: Thresholds;
    readonly problems: readonly CaseProblem[];
    readonly leftOut: NonNullable<EvalReport['leftOut']>;
  },
): EvalReport {
  const fromHere = (file: string): string =>
    path.isAbsolute(file) ? path.relative(cwd, file).split(path.sep).join('/') : file;
  const results = report.results.map((one) => ({ ...one, place: { ...one.place, file: fromHere(one.place.file) } }));
  const warnings = problems.map(({ file, line, message }) => `${fromHere(file)}:${String(line)}: ${message}`);
  const left = leftOut.map(({ file, cases }) => ({ file: fromHere(file), cases }));
  return withVerdict({ ...report, ...(left.length === 0 ? {} : { leftOut: left }), results }, thresholds, warnings);
}

/** `cwd` is the project, whose stored reports the page shows as a trend. */
export function toOutcome(report: EvalReport, cwd: string, thresholds: Thresholds): EvalOutcome {
  const verdict = verdictOf(report, thresholds);
  return {
    json: { verdict: findVerdict(report), ...report },
    verdict: verdict.type,
    reasons: verdict.type === 'passed' ? [] : verdict.reasons,
    toText: (look) => terminalReport(report, look),
    render: (format) => renderReport(report, format, cwd),
  };
}

/** HTML and Markdown show what changed since `before`; the other formats show `after`. All but the stored JSON have the verdict of the comparison. */
export function compareOutcomes(before: EvalReport, after: EvalReport, cwd: string): EvalOutcome {
  const comparison: ReportComparison = compareReports(before, after);
  const verdict = compareVerdicts(before, after, comparison);
  const { validity, result, reasons, warnings } = verdict;
  const own = findVerdict(after);
  const claims = validity === 'invalid' ? {} : { effect: own.effect, interval: own.interval, skills: own.skills };
  const shown = {
    ...after,
    ...(validity === 'invalid' ? { comparisons: [] } : {}),
    verdict: { validity, result, reasons, warnings: [...warnings, ...own.warnings], ...defined(claims) },
  };
  return {
    json: { verdict, ...comparison },
    verdict: validity === 'valid' ? (result === 'failed' ? 'failed' : 'passed') : validity,
    reasons: [],
    toText: (look) => terminalComparison(comparison, verdict, look),
    render: async (format) =>
      format === 'markdown'
        ? { type: 'text', text: markdownComparison(comparison, verdict), file: REPORT_FORMATS.markdown.file }
        : renderReport(format === 'json' ? after : shown, format, cwd, before),
  };
}

/** A matrix has no other formats than JSON, Markdown and HTML. */
export function toMatrixOutcome(matrix: PortabilityReport, ownFolder: string): EvalOutcome {
  return {
    json: matrix,
    verdict: portabilityVerdict(matrix),
    reasons: [],
    toText: (look) => terminalPortability(matrix, look),
    async render(format, folder) {
      const known = format === 'markdown' || format === 'html' ? format : 'json';
      const text = renderPortability(matrix, known, folder === ownFolder);
      return { type: 'text', text, file: PORTABILITY_FILES[known] };
    },
  };
}

export async function renderReport(
  report: EvalReport,
  format: ReportFormat,
  cwd: string,
  before?: EvalReport,
): Promise<RenderedReport> {
  if (format !== 'html') return { ...REPORT_FORMATS[format].write(report), file: REPORT_FORMATS[format].file };
  const [{ htmlReport }, { resultView: view }] = await Promise.all([
    import('../page/report-page.ts'),
    import('../page/run-view.ts'),
  ]);
  const earlier = storedReports(cwd).filter(({ startedAt }) => startedAt < report.startedAt);
  return { type: 'text', text: htmlReport(report, { view, earlier, before }), file: 'report.html' };
}
