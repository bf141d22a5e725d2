import type { ScanFile, ScanSeverity } from '../../src/scan/finding.ts';

export interface RuleCase {
  readonly path: string;
  readonly text: string;
  readonly binary?: ScanFile['binary'];
  readonly isExecutable?: boolean;
}

interface FiringCase extends RuleCase {
  /** Severity, line, column and message of each finding of the rule. */
  readonly found: readonly (readonly [ScanSeverity, number, number, string])[];
}

export type RuleCases = Readonly<
  Record<string, { readonly fires: readonly FiringCase[]; readonly misses: readonly RuleCase[] }>
>;
