import { DIAGNOSTIC_RULES, type DiagnosticCode, type Severity } from './diagnostic-codes.ts';
import type { Problem } from './problem.ts';

/** `strict` is for publishing and CI: every violation is an error. `lenient` is for loading: whatever can be understood is used. */
export type Mode = 'strict' | 'lenient';

/** A replacement in the decoded text; offsets are UTF-16 units and include a BOM. */
export interface Edit {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/** A problem with a place in a skill, a root or a configuration file. Its message is safe to print. Diagnostics are returned beside the value, never thrown. */
export interface Diagnostic extends Problem<DiagnosticCode> {
  readonly severity: Severity;
  readonly path: string;
  /** 1-based; 1 if the whole file is meant. */
  readonly line: number;
  /** 1-based, in UTF-16 units. */
  readonly column: number;
  /** A mechanical fix that `check --fix` can apply. */
  readonly edit?: Edit;
}

/** A problem as reported by a check; severity and default hint come from the table of codes. */
interface Finding {
  readonly code: DiagnosticCode;
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
  readonly hint?: string;
  readonly edit?: Edit;
}

export function diagnose(finding: Finding, mode: Mode): Diagnostic {
  const rule = DIAGNOSTIC_RULES[finding.code];
  return {
    code: finding.code,
    severity: rule[mode],
    path: finding.path,
    line: finding.line ?? 1,
    column: finding.column ?? 1,
    message: finding.message,
    hint: finding.hint ?? rule.hint,
    edit: finding.edit,
  };
}

/** Orders by file, then position, then code. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return compareText(a.path, b.path) || a.line - b.line || a.column - b.column || compareText(a.code, b.code);
}

/** Compares UTF-16 units, so the order does not depend on the locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
