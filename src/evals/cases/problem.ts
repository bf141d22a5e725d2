/** Problems of case files, by file and line. */
import type { JsonPath, positionOf, Problem } from '#core';

export interface CaseProblem extends Problem<'input/invalid'> {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** An error excludes the case; a warning does not. */
  readonly severity: 'error' | 'warning';
}

export interface CaseReport {
  readonly file: string;
  readonly locate: (path: JsonPath) => ReturnType<typeof positionOf>;
  /** The key as the author wrote it, for a case that was converted to our format. */
  readonly writtenPath?: (path: JsonPath) => JsonPath;
  readonly problems: CaseProblem[];
}

export function addProblem(
  report: CaseReport,
  at: JsonPath,
  message: string,
  hint: string,
  severity: CaseProblem['severity'] = 'error',
): void {
  const { line, column } = report.locate(at);
  report.problems.push({ code: 'input/invalid', file: report.file, line, column, message, hint, severity });
}

export function relocated(report: CaseReport, place: (path: JsonPath) => JsonPath): CaseReport {
  return { ...report, locate: (path) => report.locate(place(path)) };
}

/** Whether no error was added since the list had `since` entries. */
export function isClean(report: CaseReport, since: number): boolean {
  return report.problems.slice(since).every(({ severity }) => severity === 'warning');
}
