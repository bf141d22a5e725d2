/** Writes a report as JUnit XML: the verdict, then one test per case and attempt with the skill. */
import { armCostRows, costDifferenceRows } from './cost-text.ts';
import { attemptNames, sumCosts } from './report-text.ts';
import { findVerdict, verdictLines, verdictTitle } from './verdict.ts';
import { groupBy, isCounted, type CaseResult, type CheckResult, type EvalReport } from './result.ts';
import { escapeXml } from '#core';

/** The arm without the skill is part of the comparison, not a test of the skill. */
export function junitReport(report: EvalReport): string {
  const own = report.results.filter(({ arm }) => arm === 'with');
  const attemptName = attemptNames({ ...report, results: own });
  const suites = groupBy(own, ({ place }) => place.file);
  const verdict = verdictCase(report);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="skillwright eval"${counts(own, verdict)} time="${seconds(report.wallMs)}">`,
    ...verdict.lines,
    ...[...suites].flatMap(([file, results]) => [
      `  <testsuite name="${xmlAttribute(file)}"${counts(results)} time="${seconds(sumCosts(results).wallMs)}" timestamp="${xmlAttribute(report.startedAt)}">`,
      ...results.flatMap((result) => testCase(result, attemptName(result))),
      '  </testsuite>',
    ]),
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

interface VerdictCase {
  readonly tests: number;
  readonly lines: readonly string[];
  readonly failures: number;
  readonly errors: number;
}

/** The verdict is the first test, so that CI does not pass an evaluation that cannot be believed. */
function verdictCase(report: EvalReport): VerdictCase {
  const { validity, result, effect, reasons } = findVerdict(report);
  const title = verdictTitle(report);
  const costs = costProperties(report).map((line) => `  ${line}`);
  const isError = validity !== 'valid';
  const isFailure = !isError && result === 'failed';
  const skills = skillCases(report);
  const errors = skills.reduce((sum, one) => sum + one.errors, isError ? 1 : 0);
  const failures = skills.reduce((sum, one) => sum + one.failures, isFailure ? 1 : 0);
  const tests = 1 + skills.length;
  const message = `message="${xmlAttribute(reasons.join('; '))}"`;
  const outcome = isError
    ? [`      <error ${message} type="${validity}"/>`]
    : isFailure
      ? [`      <failure ${message} type="failed"/>`]
      : [];
  return {
    tests,
    errors,
    failures,
    lines: [
      `  <testsuite name="verdict" tests="${String(tests)}" failures="${String(failures)}" errors="${String(errors)}" skipped="0" time="0">`,
      '    <properties>',
      property('validity', validity),
      ...(effect === undefined ? [] : [property('effect', effect)]),
      '    </properties>',
      '    <testcase name="verdict" classname="verdict" time="0">',
      ...outcome,
      `      <system-out>${xmlText([title, ...verdictLines(report)].join('\n'))}</system-out>`,
      ...(costs.length === 0 ? [] : ['      <properties>', ...costs, '      </properties>']),
      '    </testcase>',
      ...skills.flatMap(({ lines }) => lines),
      '  </testsuite>',
    ],
  };
}

/** A test per skill, if there are several: a suite shows which of them failed. */
function skillCases(report: EvalReport): readonly VerdictCase[] {
  const { skills = [] } = findVerdict(report);
  if (skills.length < 2) return [];
  return skills.map(({ skill, title, validity, result }) => {
    const [isError, isFailure] = [validity !== 'valid', validity === 'valid' && result === 'failed'];
    const message = `message="${xmlAttribute(title)}"`;
    const head = `    <testcase name="${xmlAttribute(skill)}" classname="verdict" time="0"`;
    const outcome = isError ? `<error ${message} type="${validity}"/>` : `<failure ${message} type="failed"/>`;
    return {
      tests: 1,
      errors: isError ? 1 : 0,
      failures: isFailure ? 1 : 0,
      lines: isError || isFailure ? [`${head}>`, `      ${outcome}`, '    </testcase>'] : [`${head}/>`],
    };
  });
}

/** `cost.with.tokens` and so on; the differences are `cost.with-without.tokens`. */
function costProperties(report: EvalReport): readonly string[] {
  const { arms, comparisons } = report;
  return [
    ...arms.flatMap((arm) =>
      armCostRows(arm, report).map(({ label, text }) => property(`cost.${arm.arm}.${label.replace(' ', '-')}`, text)),
    ),
    ...comparisons.flatMap((comparison) =>
      costDifferenceRows(comparison).map(({ label, text }) =>
        property(`cost.${comparison.of}-${comparison.against}.${label}`, text),
      ),
    ),
  ];
}

function property(name: string, value: string): string {
  return `      <property name="${name}" value="${xmlAttribute(value)}"/>`;
}

function testCase(result: CaseResult, attempt: string): readonly string[] {
  const { case: id, place, cost } = result;
  const name = attempt === '' ? id : `${id} (${attempt})`;
  const head = `    <testcase name="${xmlAttribute(name)}" classname="${xmlAttribute(place.file)}" file="${xmlAttribute(place.file)}" line="${String(place.line)}" time="${seconds(cost.wallMs)}"`;
  const outcome = renderOutcome(result);
  return outcome.length === 0 ? [`${head}/>`] : [`${head}>`, ...outcome, '    </testcase>'];
}

/** A flaky case fails no test. */
function junitStatus(result: CaseResult): CaseResult['status'] {
  return isCounted(result) || result.status === 'passed' ? result.status : 'skipped';
}

function renderOutcome(result: CaseResult): readonly string[] {
  const { quarantine, reason, checks } = result;
  switch (junitStatus(result)) {
    case 'passed':
      return [];
    case 'skipped':
      return [
        `      <skipped message="${xmlAttribute(quarantine === undefined ? reason : `${result.status}; in quarantine until ${quarantine.until}`)}"/>`,
      ];
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

/** `more` is the test of the verdict. */
function counts(results: readonly CaseResult[], more?: VerdictCase): string {
  const count = (status: CaseResult['status'], other = 0): string =>
    String(results.filter((result) => junitStatus(result) === status).length + other);
  const tests = results.length + (more?.tests ?? 0);
  return ` tests="${String(tests)}" failures="${count('failed', more?.failures)}" errors="${count('error', more?.errors)}" skipped="${count('skipped')}"`;
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
