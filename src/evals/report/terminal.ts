/** Formats a report for a terminal: the verdict, failures, then totals. Untrusted text is escaped and stays on one line. */
import {
  ARM_TITLES,
  armTexts,
  attemptNames,
  chanceText,
  comparisonTexts,
  confusedPairs,
  differenceText,
  isRated,
  listFacts,
  listFailures,
  rateText,
  verdictText,
} from './report-text.ts';
import { armCostRows, costDifferenceRows, numberText } from './cost-text.ts';
import type { CaseResult, CheckResult, Comparison, EvalReport, TriggerReport } from './result.ts';
import { findVerdict, verdictLines, verdictTitle } from './verdict.ts';
import { countText, printable } from '#core';
import { fitText, padText, textWidth } from '#platform';

/** How an answer is shown. Without a terminal, the width is infinite: a log and another program get whole lines. */
export interface Look {
  /** Bounds the columns of tables only. */
  readonly width: number;
  /** Wraps a text by words at a terminal. */
  readonly wrap: (text: string, indent: number) => string;
  /** Applies the colors of the terminal. */
  readonly style: (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan', text: string) => string;
}

const MOST_RESULTS = 50;
const MOST_NAMES = 10;
const MOST_ROWS = 30;
const LABEL = 11;

export function terminalReport(report: EvalReport, look: Look): readonly string[] {
  const blocks = [
    verdictBlock(report, look),
    skillBlock(report, look),
    resultLines(report, look),
    totalLines(report, look),
    ...report.comparisons.map((comparison) => comparisonLines(comparison, look)),
    triggerLines(report, look),
  ];
  return blocks.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

function verdictBlock(report: EvalReport, { wrap, style }: Look): readonly string[] {
  const { validity, result } = findVerdict(report);
  const tone = validity === 'invalid' || result === 'failed' ? 'red' : validity === 'incomplete' ? 'yellow' : 'green';
  return [
    style(tone, style('bold', verdictTitle(report))),
    ...verdictLines(report).map((line) => wrap(`  ${printable(line)}`, 4)),
  ];
}

/** Only where there are several skills; the verdict on a single one is that of the report. */
function skillBlock(report: EvalReport, { width, wrap, style }: Look): readonly string[] {
  const { skills = [] } = findVerdict(report);
  if (skills.length < 2) return [];
  const room = nameColumns(
    skills.map(({ skill }) => skill),
    width,
  );
  return skills.slice(0, MOST_RESULTS).map(({ skill, title, validity, result, effect, interval }) => {
    const name = padText(fitText(printable(skill), room), room);
    const what = interval === undefined ? '' : `; ${effect ?? ''}, ${differenceText(interval)}`;
    const line = wrap(`${name}  ${title}${what}`, room + 2);
    return validity === 'invalid' || result === 'failed' ? style('red', line) : line;
  });
}

/** The columns of a table that names may take. */
function nameColumns(names: readonly string[], width: number): number {
  return Math.min(Math.floor(width / 3), Math.max(...names.map((name) => textWidth(printable(name)))));
}

function resultLines(report: EvalReport, look: Look): readonly string[] {
  const bad = listFailures(report);
  const attemptName = attemptNames(report);
  const left = bad.length - MOST_RESULTS;
  return [
    ...bad.slice(0, MOST_RESULTS).flatMap((result) => oneResult(result, attemptName(result), look)),
    ...(left > 0 ? [look.style('dim', `and ${countText(left, 'more result')} with failures or errors`)] : []),
  ];
}

const TONES = { passed: 'green', failed: 'red', error: 'yellow', skipped: 'dim' } as const;

function oneResult(result: CaseResult, attempt: string, { wrap, style }: Look): readonly string[] {
  const { case: id, name, place, status, reason, checks, quarantine } = result;
  const title = name === id ? printable(id) : `${printable(id)}  ${printable(name)}`;
  const head = `${title}${attempt === '' ? '' : ` (${printable(attempt)})`}`;
  const where = `${printable(place.file)}:${String(place.line)}`;
  const word = quarantine === undefined ? status.toUpperCase() : 'FLAKY';
  const mark = style(quarantine === undefined ? TONES[status] : 'yellow', style('bold', padText(word, 8)));
  return [
    wrap(`${mark}${head}`, 8),
    style('dim', wrap(`  ${where}`, 4)),
    ...(reason === '' ? [] : [wrap(`  ${printable(reason)}`, 4)]),
    ...checks.filter((check) => check.status !== 'passed').flatMap((check) => checkLines(check, { wrap, style })),
    // A command to copy, so that it is not wrapped.
    ...(result.run === undefined ? [] : [style('dim', `  record: skillwright runs show ${printable(result.run)}`)]),
  ];
}

function checkLines(
  { id, status, asked, found, events }: CheckResult,
  { wrap, style }: Pick<Look, 'wrap' | 'style'>,
): readonly string[] {
  const numbers = `${events.length === 1 ? 'event' : 'events'} ${events.slice(0, MOST_NAMES).join(', ')}`;
  const seen = events.length === 0 ? '' : `  [${numbers}]`;
  return [
    style(TONES[status], wrap(`  ${status === 'failed' ? 'x' : '-'} ${printable(id)}: ${printable(asked)}`, 4)),
    ...(found === '' && seen === '' ? [] : [wrap(`      found: ${printable(found)}${seen}`, 8)]),
  ];
}

function totalLines(report: EvalReport, { wrap, style }: Look): readonly string[] {
  const { arms } = report;
  const row = (label: string, text: string): string => wrap(`${style('dim', padText(label, LABEL))}${text}`, LABEL);
  const hasArms = arms.length > 1;
  return [
    ...arms.flatMap((arm) => {
      const { results: counts, rate, cost } = armTexts(arm);
      return [
        ...(hasArms ? [style('bold', ARM_TITLES[arm.arm])] : []),
        row('results', counts),
        ...(isRated(arm, report) ? [row('pass rate', rate)] : []),
        row('cost', cost),
        ...armCostRows(arm, report).map(({ label, text }) => row(label, printable(text))),
      ];
    }),
    ...(hasArms ? [''] : []),
    ...listFacts(report, namesText).map(({ label, text, isOdd }) =>
      isOdd ? style('yellow', row(label, text)) : row(label, text),
    ),
  ];
}

function comparisonLines(comparison: Comparison, { wrap, style }: Look): readonly string[] {
  const { of, against, difference, p, sayNothing } = comparison;
  const { cases, passed, better, worse, alike, detectable, excluded, facts } = comparisonTexts(comparison);
  const line = (text: string): string => wrap(`  ${text}`, 4);
  const names = namesText(sayNothing.map((one) => `${one.case} ${one.check}`));
  return [
    style('bold', wrap(`${ARM_TITLES[of]} against ${ARM_TITLES[against]}, outcomes only`, 0)),
    line(`${differenceText(difference)}, p ${chanceText(p)}: ${verdictText(comparison)}`),
    line(`${cases}: ${better} better, ${worse} worse, ${alike} equal`),
    line(passed),
    ...facts.map((fact) => line(printable(fact))),
    ...(excluded === '' ? [] : [line(`not compared: ${excluded}`)]),
    line(`smallest detectable difference: ${detectable}`),
    ...costDifferenceRows(comparison).map(({ label, text }) => line(`${label} a run: ${text}`)),
    ...(sayNothing.length === 0
      ? []
      : [line(`${countText(sayNothing.length, 'check')} passed in both arms: ${names}`)]),
  ];
}

function triggerLines({ trigger }: EvalReport, look: Look): readonly string[] {
  if (trigger === undefined || !trigger.isValid) return [];
  const { overall, split } = trigger;
  const [precision, recall] = [rateText(overall.precision), rateText(overall.recall)];
  const { wrap, style } = look;
  const line = (text: string): string => wrap(`  ${text}`, 4);
  return [
    style('bold', 'trigger'),
    ...scoreLines(trigger, look),
    line(`all: precision ${precision}, recall ${recall}, F1 ${overall.f1.toFixed(2)}`),
    line(`no skill loaded where none was expected: ${rateText(overall.quiet)}`),
    ...(split === undefined ? [] : [line(`train ${rateText(split.train)}, validation ${rateText(split.validation)}`)]),
    ...trigger.sweep.map((step) => {
      const both = `recall ${rateText(step.recall)}, precision ${rateText(step.precision)}`;
      return line(`with ${numberText(step.distractors)} other skills: ${both}`);
    }),
    ...confusionLines(trigger).map((text) => style('yellow', line(text))),
  ];
}

function scoreLines({ scores }: TriggerReport, { width, style }: Look): readonly string[] {
  const rows = scores.slice(0, MOST_ROWS);
  const name = nameColumns(['skill', ...rows.map(({ skill }) => skill)], width);
  const cells = (first: string, ...rest: readonly string[]): string =>
    fitText(
      `  ${padText(fitText(first, name), name)}  ${rest.map((cell, place) => padText(cell, place === 2 ? 4 : 22)).join('  ')}`,
      width,
    ).trimEnd();
  return [
    style('dim', cells('skill', 'precision', 'recall', 'F1')),
    ...rows.map((score) =>
      cells(printable(score.skill), rateText(score.precision), rateText(score.recall), score.f1.toFixed(2)),
    ),
    ...(scores.length > rows.length ? [`  and ${countText(scores.length - rows.length, 'more skill')}`] : []),
  ];
}

function confusionLines(trigger: TriggerReport): readonly string[] {
  return confusedPairs(trigger)
    .slice(0, MOST_NAMES)
    .map(({ wanted, took, count }) => {
      const queries = countText(count, 'query', 'queries');
      if (took === '-') return `${queries} for ${printable(wanted)}: no skill loaded`;
      if (wanted === '-') return `${printable(took)} loaded for ${queries} without an expected skill`;
      return `${printable(took)} loaded for ${queries} for ${printable(wanted)}`;
    });
}

function namesText(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => printable(name));
  const left = names.length - shown.length;
  return `${shown.join(', ')}${left > 0 ? ` and ${String(left)} more` : ''}`;
}
