import { printable } from '../../core/text/text.ts';
import type { ScanFinding } from './finding.ts';

/** Said wherever findings are shown, and where there are none. */
export const SCAN_NOTE =
  'the scan is triage: it finds what is careless or crude, and proves nothing about what it does not find';

/** A finding on one line, as compilers write theirs; safe to print. */
export function findingText({ path, line, column, severity, message, rule }: ScanFinding): string {
  return `${printable(path)}:${String(line)}:${String(column)} ${severity} ${printable(message)} (${rule})`;
}
