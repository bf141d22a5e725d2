/** What a skill uses against what it declares. A declaration that leaves something out is a promise; one that is absent is none. */
import type { ScanFinding } from './finding.ts';
import { SCAN_RULES } from './rules.ts';
import type { ScannedFile } from './combined-rules.ts';

const RUNS = /^(?:bash|shell|run_script|exec|execute|terminal|computer|\*)/i;
const REACHES = /^(?:webfetch|websearch|web_fetch|fetch|http|browser|mcp__|\*)/i;
const SENDING: ReadonlySet<string> = new Set(['send', 'exfiltration', 'download-and-run', 'covert-channel']);

/** A skill whose tools neither run programs nor reach the network, and whose text does. */
export function findUndeclared(
  scanned: readonly ScannedFile[],
  allowedTools: readonly string[] | undefined,
): readonly ScanFinding[] {
  if (allowedTools === undefined || allowedTools.length === 0) return [];
  if (allowedTools.some((tool) => RUNS.test(tool) || REACHES.test(tool))) return [];
  return scanned.flatMap(({ path, hits }) =>
    hits
      .filter(({ means }) => SENDING.has(means))
      .slice(0, 1)
      .map(({ line, column, excerpt }) => ({
        rule: 'undeclared-access',
        severity: SCAN_RULES['undeclared-access'].severity,
        path,
        line,
        column,
        message: `reaches the network, which its allowed-tools do not: ${excerpt}`,
      })),
  );
}
