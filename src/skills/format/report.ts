/** Collects the diagnostics of one file. Lines and columns are computed only for diagnostics. */
import { cleanText, compareDiagnostics, DIAGNOSTIC_RULES, type Diagnostic, type Mode } from '#core';
import type { ScalarNode } from './node.ts';

export type Edit = NonNullable<Diagnostic['edit']>;

export interface Report {
  readonly path: string;
  readonly text: string;
  readonly mode: Mode;
  /** The frontmatter has no hidden characters, so that only values with escapes need sanitizing. */
  readonly isVisible: boolean;
  /** Filled by `addDiagnostic`. */
  readonly diagnostics: Diagnostic[];
}

export interface Problem {
  readonly code: Diagnostic['code'];
  /** Offset of the offending character or value. */
  readonly at: number;
  readonly message: string;
  /** What lenient reading does instead, added to the message after a semicolon. Strict mode refuses the file, so it adds nothing. */
  readonly instead?: string | undefined;
  readonly hint?: string | undefined;
  readonly edit?: Edit | undefined;
  /** Report an error in every mode, because the configuration requires it. */
  readonly isError?: boolean;
}

/** What lenient reading does with a restricting field that it cannot read. */
export const STRICTEST = 'its strictest meaning is used';

/** A file with more problems than this is not fixed by hand. */
const MAX_DIAGNOSTICS = 100;

export function addDiagnostic(report: Report, problem: Problem): void {
  const { code, at, instead, hint, edit, isError = false } = problem;
  if (report.diagnostics.length >= MAX_DIAGNOSTICS && !DIAGNOSTIC_RULES[code].excludes) return;
  const { path, text, mode } = report;
  const { line, column } = findPosition(text, at);
  // No spread: most public skills have diagnostics, and a scan creates all of them.
  const rule = DIAGNOSTIC_RULES[code];
  const severity = isError ? 'error' : rule[mode];
  const isSaid = instead !== undefined && !(mode === 'strict' && severity === 'error');
  const message = isSaid ? `${problem.message}; ${instead}` : problem.message;
  const advice = hint ?? rule.hint;
  report.diagnostics.push(
    edit === undefined
      ? { code, severity, path, line, column, message, hint: advice }
      : { code, severity, path, line, column, message, hint: advice, edit },
  );
}

/** The text of a value, sanitized for a model. */
export function readScalarText(report: Report, node: ScalarNode): string {
  return (report.isVisible && node.style !== 'double' ? node.value : cleanText(node.value)).trim();
}

/** 1-based line and column. A byte order mark has no column, as in editors. */
export function findPosition(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let feed = text.indexOf('\n'); feed !== -1 && feed < offset; feed = text.indexOf('\n', start)) {
    line += 1;
    start = feed + 1;
  }
  const hidden = start === 0 && offset > 0 && text.charCodeAt(0) === 0xfeff ? 1 : 0;
  return { line, column: offset - start + 1 - hidden };
}

/** The diagnostics in the order of the text. */
export function sortedDiagnostics({ diagnostics }: Pick<Report, 'diagnostics'>): readonly Diagnostic[] {
  return diagnostics.length < 2 ? diagnostics : diagnostics.toSorted(compareDiagnostics);
}
