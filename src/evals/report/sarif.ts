/** Checks that failed and cases that broke as SARIF 2.1.0: a code host shows each at the line of its case. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { attemptNames } from './report-text.ts';
import type { CaseResult, CheckKind, EvalReport } from './result.ts';
import { printable } from '../../core/text/text.ts';
import { VERSION } from '../../version.ts';

const RULES = {
  'eval/trigger': 'A skill was loaded where it should not be, or was not loaded where it should.',
  'eval/sequence': 'Actions were not done, or not in the order that was asked for.',
  'eval/disclosure': 'More of a skill was read than was allowed.',
  'eval/security': 'An action was not denied, or nobody was asked.',
  'eval/budget': 'The run took more than it may.',
  'eval/output': 'The answer or a file is not what was asked for.',
  'eval/outcome': 'The run ended in another way than was asked for.',
  'eval/streaming': 'What was shown while the answer grew is not what was answered.',
  'eval/judge': 'A judge found that a line of the rubric does not hold.',
  'eval/error': 'The case could not be evaluated.',
} as const satisfies Record<`eval/${CheckKind}` | 'eval/error', string>;

type Rule = keyof typeof RULES;

interface Finding {
  readonly rule: Rule;
  readonly level: 'error' | 'warning';
  readonly text: string;
  readonly place: CaseResult['place'];
}

/** Paths are relative to `base` where they are below it. */
export function sarifReport(report: EvalReport, base: string): string {
  const nameOf = attemptNames(report);
  const findings = report.results.flatMap((result) => findingsOf(result, nameOf(result)));
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
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

function findingsOf({ case: id, status, reason, checks, place }: CaseResult, attempt: string): readonly Finding[] {
  const what = `case ${printable(id)}${attempt === '' ? '' : ` (${attempt})`}`;
  if (status === 'error') {
    // A broken harness says nothing about a skill: a warning.
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
