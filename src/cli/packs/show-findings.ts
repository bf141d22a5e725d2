/** Findings of the static scan for a terminal: critical ones one by one, the others as counts per rule. */
import { countByRule, findingText } from '../../packs/scan/finding.ts';
import type { RuleCount } from '../../packs/scan/finding.ts';
import type { PolicyResult } from '../../packs/scan/policy.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { toggle } from '../command.ts';

export const FINDINGS_FLAG = {
  findings: toggle('show every finding of the scan, not only the critical ones'),
} as const;

export interface FindingsView {
  /** Shows every finding with its file and line. */
  readonly all: boolean;
}

export function findingLines(
  { stops, warnings }: Pick<PolicyResult, 'stops' | 'warnings'>,
  { style }: Terminal,
  { all }: FindingsView,
): readonly string[] {
  const findings = [...stops, ...warnings];
  // What stops an install is shown in full even if the policy stops less than critical findings.
  const isShown = (finding: (typeof findings)[number]): boolean =>
    all || finding.severity === 'critical' || stops.includes(finding);
  const counted = countByRule(findings.filter((finding) => !isShown(finding)));
  return [
    ...findings.filter(isShown).map((finding) => `${style('yellow', 'scan')} ${findingText(finding)}`),
    ...(counted.length === 0 ? [] : [`${style('yellow', 'scan')} ${counted.map(countText).join(', ')}`]),
  ];
}

function countText({ rule, severity, count }: RuleCount): string {
  return `${severity} ${rule}${count === 1 ? '' : ` ×${String(count)}`}`;
}
