import { DIAGNOSTIC_RULES } from './diagnostic-codes.ts';
import type { DiagnosticCode, Severity } from './diagnostic-codes.ts';

/** `strict` is for publishing and CI: any breach is an error. `lenient` is for loading: what can be understood is used. */
export type Mode = 'strict' | 'lenient';

/** A replacement in the decoded text of the file; offsets count UTF-16 units, a BOM included. */
export interface Edit {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/** Something wrong with a skill, a root or a configuration file: returned beside the value, never thrown. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  readonly path: string;
  /** 1-based; 1 where the whole file is meant. */
  readonly line: number;
  /** 1-based, in UTF-16 units. */
  readonly column: number;
  /** What is wrong, with the thing named; safe to print (control characters are escaped). */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
  /** A mechanical repair that `check --fix` may apply. */
  readonly edit?: Edit;
}

/** What a place in the code knows about a problem; severity, and a hint where none is given, come from the table of codes. */
export interface Finding {
  readonly code: DiagnosticCode;
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
  readonly hint?: string;
  readonly edit?: Edit;
}

/** Turns a finding into a diagnostic of the given mode. */
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
    ...(finding.edit === undefined ? {} : { edit: finding.edit }),
  };
}

/** Orders diagnostics for people: by file, then position, then code. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return compareText(a.path, b.path) || a.line - b.line || a.column - b.column || compareText(a.code, b.code);
}

export function sortDiagnostics(all: readonly Diagnostic[]): readonly Diagnostic[] {
  return all.toSorted(compareDiagnostics);
}

/** Compares by UTF-16 units: the same on every machine and in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
