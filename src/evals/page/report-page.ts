/**
 * Writes a report as one HTML file that needs no server and makes no requests. The data is JSON that cannot end its element, the script
 * inserts it as text only, and the content security policy blocks everything else.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { packageFile } from '#platform';
import { compareReports } from '../report/compare-reports.ts';
import { failuresFirst } from '../report/report-text.ts';
import type { CaseResult, EvalReport } from '../report/result.ts';
import { buildTrend } from '../report/trend.ts';
import { findVerdict } from '../report/verdict.ts';
import type { PageData, RunView } from './view.ts';

export function htmlReport(report: EvalReport, options: PageOptions = {}): string {
  const data = pageData(report, options);
  const [script, style] = [readPageFile('script.js'), readPageFile('style.css')];
  const policy = [
    "default-src 'none'",
    `script-src '${hashText(script)}'`,
    `style-src '${hashText(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<title>Evaluation report</title>',
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<div id="app"><noscript>This report needs JavaScript, which runs in this file only.</noscript></div>',
    // Escapes `<`, so that no element can start or end in the data.
    `<script type="application/json" id="data">${JSON.stringify(data).replaceAll('<', String.raw`\u003c`)}</script>`,
    `<script>${script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/** `scripts/build-page.js` writes these files from `console/report-file.tsx`. */
function readPageFile(name: string): string {
  return readFileSync(packageFile(`dist/report-page/${name}`), 'utf8');
}

function hashText(text: string): string {
  return `sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}`;
}

/** The data of the page: all results, shortened if necessary, and as many runs as fit. */
export interface PageOptions {
  /** Returns the run of a result for display. Called for failures first, and only while there is room. */
  readonly view?: (result: CaseResult) => RunView | undefined;
  readonly before?: EvalReport;
  readonly earlier?: readonly EvalReport[];
  /** Size limit of the data (default: 4 MB). */
  readonly maxBytes?: number;
  /** Limit for runs of passed results (default: 50). */
  readonly maxPassedViews?: number;
}

const MAX_BYTES = 4_000_000;
const MAX_PASSED_VIEWS = 50;
/** The share of the size for results; the rest is for runs. */
const RESULTS_PART = 0.75;
const TEXT_LIMITS = [20_000, 4000, 2000, 1000, 500, 200, 80] as const;

export function pageData(report: EvalReport, options: PageOptions = {}): PageData {
  const maxBytes = options.maxBytes ?? MAX_BYTES;
  const shown = fitted(report, maxBytes * RESULTS_PART);
  const views = selectViews(report, options, maxBytes - measureJson(shown));
  const trend = buildTrend([...(options.earlier ?? []), report]);
  return {
    verdict: findVerdict(report),
    report: shown,
    views,
    isCut: shown !== report,
    trend: trend.length > 1 ? trend : [],
    comparison: options.before === undefined ? undefined : compareReports(options.before, report),
  };
}

/** Returns the report itself if nothing must be shortened. */
function fitted(report: EvalReport, maxBytes: number): EvalReport {
  if (!report.results.some((result) => isLong(result, TEXT_LIMITS[0])) && measureJson(report) <= maxBytes)
    return report;
  for (const limit of TEXT_LIMITS) {
    const shorter = { ...report, results: report.results.map((one) => cutResult(one, limit)) };
    if (measureJson(shorter) <= maxBytes) return shorter;
  }
  // Too many results even for the shortest texts: keep only their numbers.
  return {
    ...report,
    results: report.results.map((one) => cutResult({ ...one, input: '', answer: '', checks: [] }, 40)),
  };
}

function isLong({ input, answer, checks }: CaseResult, limit: number): boolean {
  return (
    Math.max(input.length, answer.length, ...checks.map(({ found, asked }) => found.length + asked.length)) > limit
  );
}

function cutResult(result: CaseResult, limit: number): CaseResult {
  return {
    ...result,
    input: cutText(result.input, limit),
    answer: cutText(result.answer, limit),
    reason: cutText(result.reason, limit),
    checks: result.checks.map((check) => ({
      ...check,
      asked: cutText(check.asked, limit),
      found: cutText(check.found, limit),
      events: check.events.slice(0, 20),
    })),
  };
}

function cutText(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}…`;
}

function selectViews(
  { results }: EvalReport,
  { view, maxPassedViews = MAX_PASSED_VIEWS }: PageOptions,
  room: number,
): PageData['views'] {
  const places = new Map(results.map((result, place) => [result, place]));
  const views: Record<string, RunView> = {};
  let [free, passed] = [room, 0];
  if (view === undefined) return views;
  for (const result of failuresFirst(results)) {
    if (result.run === undefined) continue;
    const isPassed = result.status === 'passed';
    const seen = free <= 0 || (isPassed && passed >= maxPassedViews) ? undefined : view(result);
    const size = seen === undefined ? 0 : measureJson(seen);
    if (seen === undefined || size > free) continue;
    views[String(places.get(result) ?? 0)] = seen;
    free -= size;
    if (isPassed) passed += 1;
  }
  return views;
}

function measureJson(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
