/** Writes failed checks and errors as SARIF 2.1.0, each at the line of its case. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { printable, visibleJson } from '#core';
import { attemptNames } from './report-text.ts';
import type { CaseResult, CheckKind, EvalReport } from './result.ts';
import { VERSION } from '../../version.ts';

const RULES = {
  'eval/trigger': 'A skill loaded unexpectedly, or did not load when expected.',
  'eval/sequence': 'Actions did not occur, or not in the expected order.',
  'eval/disclosure': 'More skill content was read than allowed.',
  'eval/security': 'An action was not denied, or no approval was requested.',
  'eval/budget': 'The run exceeded its budget.',
  'eval/output': 'The answer or a file is not as expected.',
  'eval/outcome': 'The run ended with an unexpected outcome.',
  'eval/streaming': 'The streamed text differs from the answer.',
  'eval/judge': 'The judge found that a rubric line does not hold.',
  'eval/error': 'The case could not be evaluated.',
} as const satisfies Record<`eval/${CheckKind}` | 'eval/error', string>;

type Rule = keyof typeof RULES;

interface Finding {
  readonly rule: Rule;
  readonly level: 'error' | 'warning';
  readonly text: string;
  readonly place: CaseResult['place'];
}

/** Paths below `base` are relative to it. */
export function sarifReport(report: EvalReport, base: string): string {
  const nameOf = attemptNames(report);
  const findings = report.results.flatMap((result) => toFindings(result, nameOf(result)));
  const used = [...new Set(findings.map(({ rule }) => rule))].toSorted();
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'skillwright',
            semanticVersion: VERSION,
            rules: used.map((id) => ({ id, shortDescription: { text: RULES[id] } })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: findings.map(({ rule, level, text, place }) => ({
          ruleId: rule,
          ruleIndex: used.indexOf(rule),
          level,
          message: { text },
          locations: [
            {
              physicalLocation: {
                artifactLocation: location(place.file, base),
                region: { startLine: Math.max(1, place.line), startColumn: Math.max(1, place.column) },
              },
            },
          ],
        })),
      },
    ],
  };
  return `${visibleJson(JSON.stringify(log, undefined, 2))}\n`;
}

function toFindings({ case: id, status, reason, checks, place }: CaseResult, attempt: string): readonly Finding[] {
  const what = `case ${printable(id)}${attempt === '' ? '' : ` (${attempt})`}`;
  if (status === 'error') {
    // An error of the harness proves nothing about the skill.
    return [{ rule: 'eval/error', level: 'warning', text: `${what}: ${printable(reason)}`, place }];
  }
  return checks
    .filter((check) => check.status === 'failed')
    .map((check) => ({
      rule: `eval/${check.kind}`,
      level: 'error',
      text: `${what}: ${printable(check.asked)}${check.found === '' ? '' : `; found ${printable(check.found)}`}`,
      place,
    }));
}

function location(file: string, base: string): object {
  const relative = path.relative(base, path.resolve(base, file));
  if (relative.startsWith('..') || path.isAbsolute(relative)) return { uri: pathToFileURL(file).href };
  const names = relative
    .split(path.sep)
    .map((name) => encodeURIComponent(name.replaceAll(/\p{Surrogate}/gu, '\uFFFD')));
  return { uri: names.join('/'), uriBaseId: '%SRCROOT%' };
}
