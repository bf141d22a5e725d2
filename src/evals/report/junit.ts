/** Writes a report as JUnit XML, with one test per case, arm and attempt. */
import { attemptNames, invalidLines, isInvalid, sumCosts } from './report-text.ts';
import { groupBy, type CaseResult, type CheckResult, type EvalReport } from './result.ts';
import { escapeXml } from '#core';

export function junitReport(report: EvalReport): string {
  const attemptName = attemptNames(report);
  const suites = groupBy(report.results, ({ place }) => place.file);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="skillwright eval"${counts(report.results)} time="${seconds(report.wallMs)}">`,
    ...(isInvalid(report) ? controlSuite(report) : []),
    ...[...suites].flatMap(([file, results]) => [
      `  <testsuite name="${xmlAttribute(file)}"${counts(results)} time="${seconds(sumCosts(results).wallMs)}" timestamp="${xmlAttribute(report.startedAt)}">`,
      ...results.flatMap((result) => testCase(result, attemptName(result))),
      '  </testsuite>',
    ]),
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

/** Errors, so that CI does not pass an invalid evaluation. */
function controlSuite(report: EvalReport): readonly string[] {
  const reasons = invalidLines(report);
  const count = String(reasons.length);
  return [
    `  <testsuite name="controls" tests="${count}" failures="0" errors="${count}" skipped="0" time="0">`,
    ...reasons.flatMap((reason) => [
      `    <testcase name="${xmlAttribute(reason.split(':')[0] ?? '')}" classname="controls" time="0">`,
      `      <error message="${xmlAttribute(reason)}" type="invalid"/>`,
      '    </testcase>',
    ]),
    '  </testsuite>',
  ];
}

function testCase(result: CaseResult, attempt: string): readonly string[] {
  const { case: id, place, cost } = result;
  const name = attempt === '' ? id : `${id} (${attempt})`;
  const head = `    <testcase name="${xmlAttribute(name)}" classname="${xmlAttribute(place.file)}" file="${xmlAttribute(place.file)}" line="${String(place.line)}" time="${seconds(cost.wallMs)}"`;
  const outcome = renderOutcome(result);
  return outcome.length === 0 ? [`${head}/>`] : [`${head}>`, ...outcome, '    </testcase>'];
}

function renderOutcome({ status, reason, checks }: CaseResult): readonly string[] {
  switch (status) {
    case 'passed':
      return [];
    case 'skipped':
      return [`      <skipped message="${xmlAttribute(reason)}"/>`];
    case 'error':
      return [`      <error message="${xmlAttribute(reason)}" type="error">${details(checks, 'error')}</error>`];
    case 'failed': {
      const failed = checks.filter((check) => check.status === 'failed');
      const head = `message="${xmlAttribute(failed.map(({ id }) => id).join(', '))}" type="${failed[0]?.kind ?? 'failed'}"`;
      return [`      <failure ${head}>${details(checks, 'failed')}</failure>`];
    }
  }
}

function details(checks: readonly CheckResult[], status: CheckResult['status']): string {
  return xmlText(
    checks
      .filter((check) => check.status === status)
      .map(({ id, asked, found, events }) => {
        const shown = events.length === 0 ? '' : `\n  events: ${events.join(', ')}`;
        return `${id}: ${asked}\n  found: ${found}${shown}`;
      })
      .join('\n'),
  );
}

function counts(results: readonly CaseResult[]): string {
  const count = (status: CaseResult['status']): string =>
    String(results.filter((result) => result.status === status).length);
  return ` tests="${String(results.length)}" failures="${count('failed')}" errors="${count('error')}" skipped="${count('skipped')}"`;
}

function seconds(ms: number): string {
  return Number.isFinite(ms) ? (ms / 1000).toFixed(3) : '0';
}

/** Characters that XML 1.0 cannot represent, not even as references. */
// oxlint-disable-next-line no-misleading-character-class
const NO_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const TERMINAL_SEQUENCE = /\u001B\[[0-9;:<=>?]*[ -/]*[@-~]/g;

/** Escapes element text; drops terminal sequences and characters that XML cannot represent. */
function xmlText(text: string): string {
  return escapeXml(text.replaceAll(TERMINAL_SEQUENCE, '').replaceAll(NO_XML, '')).replaceAll('\r', '&#13;');
}

/** Escapes an attribute, in which a parser would turn line ends into spaces. */
function xmlAttribute(text: string): string {
  return xmlText(text).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
}
