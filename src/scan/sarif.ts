import { sarifReport } from '#core';
import { SCAN_NOTE, type ScanFinding, type ScanSeverity } from './finding.ts';
import { SCAN_RULES, isRuleId } from './rules.ts';

const LEVELS = { critical: 'error', high: 'error', medium: 'warning', low: 'note' } as const satisfies Record<
  ScanSeverity,
  string
>;
/** CVSS scores, by which code hosts sort. */
const SCORES = { critical: '9.5', high: '7.5', medium: '5.0', low: '2.0' } as const satisfies Record<
  ScanSeverity,
  string
>;

export interface SarifTool {
  readonly version: string;
  /** Prepended to every path: the path of the skill relative to the folder of the report. */
  readonly prefix?: string;
}

/** Formats findings as SARIF 2.1.0. */
export function scanSarif(findings: readonly ScanFinding[], { version, prefix = '' }: SarifTool): object {
  const used = [...new Set(findings.map(({ rule }) => rule))].filter(isRuleId).toSorted();
  return sarifReport({
    version,
    about: SCAN_NOTE,
    rules: used.map((id) => {
      const { title, why, advice, severity } = SCAN_RULES[id];
      return {
        id,
        shortDescription: { text: title },
        fullDescription: { text: why },
        help: { text: advice },
        defaultConfiguration: { level: LEVELS[severity] },
        properties: { 'security-severity': SCORES[severity], tags: ['security'] },
      };
    }),
    results: findings.map(({ rule, severity, message, path, line, column }) => ({
      artifact: { uri: `${prefix}${path}`.split('/').map(encodePart).join('/'), uriBaseId: '%SRCROOT%' },
      line,
      column,
      about: {
        ruleId: rule,
        ruleIndex: isRuleId(rule) ? used.indexOf(rule) : undefined,
        level: LEVELS[severity],
        message: { text: isRuleId(rule) ? `${message}. ${SCAN_RULES[rule].advice}` : message },
      },
    })),
  });
}

/** Replaces lone surrogates, which `encodeURIComponent` rejects. */
function encodePart(part: string): string {
  return encodeURIComponent(part.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
}
