/** Writes a report as Markdown for a pull request comment. Untrusted text is escaped, so that it cannot act as markup. */
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
  markdownText,
  rateText,
  verdictOfDifference,
  f1Text,
} from './report-text.ts';
import { armCostRows, costDifferenceRows, numberText } from './cost-text.ts';
import type { CaseResult, EvalReport, TriggerReport } from './result.ts';
import { findVerdict, verdictLines, verdictTitle } from './verdict.ts';
import { countText } from '#core';

/** Code hosts limit comments to 65,536 characters; this leaves room for surrounding text. */
const LIMIT_BYTES = 59_800;
const MOST_ROWS = 50;
const CELL = 160;

export function markdownReport(report: EvalReport): string {
  const start = [...headLines(report), ...comparisonLines(report), ...triggerLines(report)].join('\n');
  let [text, left] = [cutTo(start, LIMIT_BYTES), 0];
  for (const detail of renderDetails(report)) {
    if (Buffer.byteLength(text) + Buffer.byteLength(detail) > LIMIT_BYTES) left += 1;
    else text += detail;
  }
  return left === 0
    ? `${text}\n`
    : `${text}\n\n${countText(left, 'more result')} with failures or errors: see the full report.\n`;
}

function headLines(report: EvalReport): readonly string[] {
  const { arms } = report;
  const lines = verdictLines(report);
  return [
    `### Evaluation: ${verdictTitle(report)}`,
    '',
    ...lines.map((line) => `- ${cell(line, 400)}`),
    ...(lines.length === 0 ? [] : ['']),
    ...skillLines(report),
    ...head('arm', 'results', 'pass rate', 'cost'),
    ...arms.map((arm) => {
      const { results, rate, cost } = armTexts(arm);
      return row(ARM_TITLES[arm.arm], results, isRated(arm, report) ? rate : 'no score', cost);
    }),
    ...costLines(report),
    '',
    '| | |',
    '|---|---|',
    ...listFacts(report, (names) => cell(names.join(', '))).map(({ label, text }) => row(label, text)),
  ];
}

function skillLines(report: EvalReport): readonly string[] {
  const { skills = [] } = findVerdict(report);
  if (skills.length === 0) return [];
  return [
    ...head('skill', 'verdict', 'effect'),
    ...skills
      .slice(0, MOST_ROWS)
      .map(({ skill, title, effect, interval }) =>
        row(
          cell(skill),
          cell(title),
          interval === undefined ? '' : `${cell(effect ?? '')}, ${differenceText(interval)}`,
        ),
      ),
    ...(skills.length > MOST_ROWS ? [row(`and ${countText(skills.length - MOST_ROWS, 'more skill')}`, '', '')] : []),
    '',
  ];
}

/** What a run costs in each arm, and the differences. */
function costLines(report: EvalReport): readonly string[] {
  const { arms, comparisons } = report;
  const rows = [
    ...arms.flatMap((arm) =>
      armCostRows(arm, report).map(({ label, text }) => row(label, ARM_TITLES[arm.arm], cell(text, 400))),
    ),
    ...comparisons.flatMap((comparison) =>
      costDifferenceRows(comparison).map(({ label, text }) =>
        row(label, `${comparison.of} against ${comparison.against}`, cell(text, 400)),
      ),
    ),
  ];
  return rows.length === 0 ? [] : ['', ...head('cost of a run', 'arm', 'mean, 95 % interval'), ...rows];
}

function comparisonLines({ comparisons }: EvalReport): readonly string[] {
  if (comparisons.length === 0) return [];
  return [
    '',
    '| outcomes compared | difference | p | cases | better | worse | smallest detectable |',
    '|---|---|---|---|---|---|---|',
    ...comparisons.map((comparison) => {
      const { of, against, difference, p } = comparison;
      const { cases, passed, better, worse, detectable } = comparisonTexts(comparison);
      const chance = `${chanceText(p).replace('<', '&lt;')}, ${verdictOfDifference(comparison)}`;
      const counts = [`${cases}; ${passed}`, better, worse, detectable];
      return row(`${of} against ${against}`, differenceText(difference), chance, ...counts);
    }),
    ...comparisons.flatMap((comparison) => comparisonTexts(comparison).facts.map((fact) => `\n${cell(fact, 400)}`)),
    ...comparisons
      .map((comparison) => comparisonTexts(comparison).excluded)
      .filter((text) => text !== '')
      .map((text) => `\nNot compared: ${cell(text, 400)}`),
    ...comparisons
      .filter(({ sayNothing }) => sayNothing.length > 0)
      .map(({ of, against, sayNothing }) => {
        const names = sayNothing.slice(0, 20).map((one) => `${one.case} ${one.check}`);
        const count = countText(sayNothing.length, 'check');
        return `\n${count} passed in both arms (${of}, ${against}): ${cell(names.join(', '))}`;
      }),
  ];
}

function triggerLines({ trigger }: EvalReport): readonly string[] {
  if (trigger === undefined || !trigger.isValid) return [];
  const { scores, overall } = trigger;
  const shown = scores.slice(0, MOST_ROWS);
  return [
    '',
    ...head('skill', 'precision', 'recall', 'F1'),
    ...shown.map((score) => row(cell(score.skill), rateText(score.precision), rateText(score.recall), f1Text(score))),
    ...(scores.length > shown.length
      ? [row(`and ${countText(scores.length - shown.length, 'more skill')}`, '', '', '')]
      : []),
    row('**all**', rateText(overall.precision), rateText(overall.recall), f1Text(overall)),
    row('**no skill loaded where none was expected**', '', rateText(overall.quiet), ''),
    ...sweepLines(trigger),
    ...confusionLines(trigger),
  ];
}

function sweepLines({ sweep }: TriggerReport): readonly string[] {
  if (sweep.length === 0) return [];
  return [
    '',
    ...head('other skills', 'recall', 'precision'),
    ...sweep.map(({ distractors, recall, precision }) =>
      row(numberText(distractors), rateText(recall), rateText(precision)),
    ),
  ];
}

function confusionLines(trigger: TriggerReport): readonly string[] {
  const wrong = confusedPairs(trigger);
  if (wrong.length === 0) return [];
  return [
    '',
    ...head('expected', 'loaded', 'queries'),
    ...wrong
      .slice(0, MOST_ROWS)
      .map(({ wanted, took, count }) =>
        row(wanted === '-' ? 'none' : cell(wanted), took === '-' ? 'none' : cell(took), numberText(count)),
      ),
  ];
}

function renderDetails(report: EvalReport): readonly string[] {
  const attemptName = attemptNames(report);
  return listFailures(report).map((result) => renderDetail(result, attemptName(result)));
}

function renderDetail(result: CaseResult, attempt: string): string {
  const { case: id, name, place, status, reason, checks, quarantine } = result;
  const title = name === id ? cell(id) : `${cell(id)}: ${cell(name)}`;
  return [
    '',
    '',
    `<details><summary><b>${quarantine === undefined ? status : 'flaky'}</b> ${title}${attempt === '' ? '' : ` (${cell(attempt)})`}</summary>`,
    '',
    `${cell(place.file)}:${String(place.line)}`,
    ...(reason === '' ? [] : ['', cell(reason, 500)]),
    ...renderTable(checks.filter((check) => check.status !== 'passed').slice(0, MOST_ROWS)),
    '',
    '</details>',
  ].join('\n');
}

function renderTable(checks: CaseResult['checks']): readonly string[] {
  if (checks.length === 0) return [];
  return [
    '',
    ...head('check', 'expected', 'found', 'events'),
    ...checks.map(({ id, asked, found, events }) =>
      row(cell(id), cell(asked), cell(found), events.slice(0, 20).join(', ')),
    ),
  ];
}

function head(...cells: readonly string[]): readonly string[] {
  return [row(...cells), `|${'---|'.repeat(cells.length)}`];
}

function row(...cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function cell(text: string, limit = CELL): string {
  return markdownText(text, limit);
}

/** Cuts at line ends, since a partial row would break the table. */
function cutTo(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  const lines: string[] = [];
  let size = 0;
  for (const line of text.split('\n')) {
    size += Buffer.byteLength(line) + 1;
    if (size > limit) break;
    lines.push(line);
  }
  return lines.join('\n');
}
