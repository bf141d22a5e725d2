import { sarifLocations, sarifReport } from '../../core/sarif.ts';
import type { ScanFinding, ScanSeverity } from './finding.ts';
import { SCAN_NOTE } from './finding-text.ts';
import { SCAN_RULES, isRuleId } from './rules.ts';

const LEVELS = { critical: 'error', high: 'error', medium: 'warning', low: 'note' } as const satisfies Record<
  ScanSeverity,
  string
>;
/** What code hosts sort by, on the scale of CVSS. */
const SCORES = { critical: '9.5', high: '7.5', medium: '5.0', low: '2.0' } as const satisfies Record<
  ScanSeverity,
  string
>;

export interface SarifTool {
  readonly version: string;
  /** Put before every path: where the skill lies below the folder that the report is about. */
  readonly prefix?: string;
}

/** The findings as SARIF 2.1.0, in the shape of the other reports of this program. */
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
    results: findings.map(({ rule, severity, message, path, ...place }) => ({
      ruleId: rule,
      ...(isRuleId(rule) ? { ruleIndex: used.indexOf(rule) } : {}),
      level: LEVELS[severity],
      message: { text: isRuleId(rule) ? `${message}. ${SCAN_RULES[rule].advice}` : message },
      locations: sarifLocations(
        { uri: `${prefix}${path}`.split('/').map(encodePart).join('/'), uriBaseId: '%SRCROOT%' },
        place,
      ),
    })),
  });
}

/** Half a character cannot be encoded. */
function encodePart(part: string): string {
  return encodeURIComponent(part.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
}
