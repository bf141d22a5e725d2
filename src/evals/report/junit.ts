/** A report as the XML that CI servers read: one test a case, arm and attempt. An error is no failure, and what was skipped says why. */
import { attemptNames, brokenControls, isInvalid } from './report-text.ts';
import type { CaseResult, CheckResult, EvalReport } from './result.ts';
import { xmlAttribute, xmlText } from './xml-text.ts';

export function junitReport(report: EvalReport): string {
  const nameOf = attemptNames(report);
  const suites = bySuite(report.results);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="skillwright eval"${counts(report.results)} time="${seconds(report.wallMs)}">`,
    ...(isInvalid(report) ? controlSuite(report) : []),
    ...[...suites].flatMap(([file, results]) => [
      `  <testsuite name="${xmlAttribute(file)}"${counts(results)} time="${seconds(sum(results))}" timestamp="${xmlAttribute(report.startedAt)}">`,
      ...results.flatMap((result) => testCase(result, nameOf(result))),
      '  </testsuite>',
    ]),
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

/** A suite is a file of cases. */
function bySuite(results: readonly CaseResult[]): ReadonlyMap<string, readonly CaseResult[]> {
  const suites = new Map<string, CaseResult[]>();
  for (const result of results) {
    const known = suites.get(result.place.file);
    if (known === undefined) suites.set(result.place.file, [result]);
    else known.push(result);
  }
  return suites;
}

/** Controls that were not kept are errors: a server that looks at tests only must not be green. */
function controlSuite(report: EvalReport): readonly string[] {
  const broken = brokenControls(report);
  const count = String(broken.length);
  return [
    `  <testsuite name="controls" tests="${count}" failures="0" errors="${count}" skipped="0" time="0">`,
    ...broken.flatMap(({ name, asked, found }) => [
      `    <testcase name="${name}" classname="controls" time="0">`,
      `      <error message="${xmlAttribute(`asked for ${asked}, found ${found}`)}" type="invalid"/>`,
      '    </testcase>',
    ]),
    '  </testsuite>',
  ];
}

function testCase(result: CaseResult, attempt: string): readonly string[] {
  const { case: id, place, cost } = result;
  const name = attempt === '' ? id : `${id} (${attempt})`;
  const head = `    <testcase name="${xmlAttribute(name)}" classname="${xmlAttribute(place.file)}" file="${xmlAttribute(place.file)}" line="${String(place.line)}" time="${seconds(cost.wallMs)}"`;
  const outcome = outcomeOf(result);
  return outcome.length === 0 ? [`${head}/>`] : [`${head}>`, ...outcome, '    </testcase>'];
}

function outcomeOf({ status, reason, checks }: CaseResult): readonly string[] {
  switch (status) {
    case 'passed':
      return [];
    case 'skipped':
      return [`      <skipped message="${xmlAttribute(reason)}"/>`];
    case 'error':
      return [`      <error message="${xmlAttribute(reason)}" type="error">${details(checks, 'error')}</error>`];
    case 'failed': {
      const failed = checks.filter((check) => check.status === 'failed');
      const message = failed.map(({ id }) => id).join(', ');
      const type = failed[0]?.kind ?? 'failed';
      return [
        `      <failure message="${xmlAttribute(message)}" type="${type}">${details(checks, 'failed')}</failure>`,
      ];
    }
  }
}

function details(checks: readonly CheckResult[], status: CheckResult['status']): string {
  return xmlText(
    checks
      .filter((check) => check.status === status)
      .map(({ id, asked, found, events }) =>
        [
          `${id}: ${asked}`,
          `  found: ${found}`,
          ...(events.length === 0 ? [] : [`  events: ${events.join(', ')}`]),
        ].join('\n'),
      )
      .join('\n'),
  );
}

function counts(results: readonly CaseResult[]): string {
  const count = (status: CaseResult['status']): string =>
    String(results.filter((result) => result.status === status).length);
  return ` tests="${String(results.length)}" failures="${count('failed')}" errors="${count('error')}" skipped="${count('skipped')}"`;
}

function sum(results: readonly CaseResult[]): number {
  return results.reduce((total, { cost }) => total + cost.wallMs, 0);
}

function seconds(ms: number): string {
  return Number.isFinite(ms) ? (ms / 1000).toFixed(3) : '0';
}
