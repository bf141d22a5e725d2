/** What is wrong with case files, by file and line. */
import type { Position } from '../../core/json/json-position.ts';
import type { JsonPath } from '../../core/json/json-schema.ts';

export interface CaseProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint: string;
  /** An error takes its case out of the suite; after a warning it stays. */
  readonly severity: 'error' | 'warning';
}

/** Where the problems of one file are gathered. */
export interface CaseReport {
  readonly file: string;
  readonly locate: (path: JsonPath) => Position;
  readonly problems: CaseProblem[];
}

export interface Told {
  readonly at: JsonPath;
  readonly message: string;
  readonly hint: string;
  readonly severity?: CaseProblem['severity'];
}

export function tell(report: CaseReport, { at, message, hint, severity = 'error' }: Told): void {
  const { line, column } = report.locate(at);
  report.problems.push({ file: report.file, line, column, message, hint, severity });
}

/** A report that goes into the same list and knows its own places: for values that were put together from several. */
export function relocated(report: CaseReport, place: (path: JsonPath) => JsonPath): CaseReport {
  return { ...report, locate: (path) => report.locate(place(path)) };
}

/** Whether nothing was told that takes a case out, since the list had so many entries. */
export function isClean(report: CaseReport, since: number): boolean {
  return report.problems.slice(since).every(({ severity }) => severity === 'warning');
}
