/** Formats the comparison of two reports for a terminal and as Markdown. */
import { CHANGES, type BeforeAfter, type CaseChange, type Change, type ReportComparison } from './compare-reports.ts';
import { comparisonTitle, type ComparisonVerdict } from './compare-verdict.ts';
import { liveText, markdownText, modelsText, rateText } from './report-text.ts';
import { numberText } from './cost-text.ts';
import { countText, durationText, printable } from '#core';
import { padText } from '#platform';
import type { Look } from './terminal.ts';

const TONES = {
  broken: 'red',
  fixed: 'green',
  unclear: 'yellow',
  other: 'yellow',
  added: 'cyan',
  removed: 'dim',
} as const satisfies Record<Change, string>;
const MOST_CHANGES = 100;
const CELL = 160;

export function terminalComparison(
  comparison: ReportComparison,
  verdict: ComparisonVerdict,
  { wrap, style }: Look,
): readonly string[] {
  const shown = comparison.changes.slice(0, MOST_CHANGES);
  const left = comparison.changes.length - shown.length;
  const { validity, result, reasons, warnings, skills } = verdict;
  const tone = validity === 'invalid' || result === 'failed' ? 'red' : validity === 'incomplete' ? 'yellow' : 'green';
  return [
    style(tone, style('bold', comparisonTitle(verdict))),
    ...[...reasons, ...warnings.map(toWarning)].map((line) => wrap(`  ${printable(line)}`, 4)),
    ...skills.map(({ skill, before = 'absent', after = 'absent' }) =>
      wrap(`  ${printable(skill)}: ${before === after ? after : `${before} to ${after}`}`, 4),
    ),
    '',
    ...shown.flatMap((change) => [
      wrap(
        `${style(TONES[change.change], padText(change.change, 9))}${printable(change.case)}${armText(change)}  ${verdicts(change)}`,
        9,
      ),
      ...change.checks.map(({ id, before, after, found }) => {
        const what = found === '' ? '' : `, found ${printable(found)}`;
        return style('dim', wrap(`  ${printable(id)}: ${before} to ${after}${what}`, 4));
      }),
    ]),
    ...(left > 0 ? [style('dim', `and ${countText(left, 'more change')}`)] : []),
    ...(shown.length > 0 ? [''] : []),
    ...facts(comparison).map(([label, text]) => wrap(`${style('dim', padText(label, 11))}${printable(text)}`, 11)),
  ];
}

export function markdownComparison(comparison: ReportComparison, verdict: ComparisonVerdict): string {
  const shown = comparison.changes.slice(0, MOST_CHANGES);
  const left = comparison.changes.length - shown.length;
  const cell = (text: string): string => markdownText(text, CELL);
  const notes = [...verdict.reasons, ...verdict.warnings.map(toWarning)];
  const lines = [
    `### Comparison: ${comparisonTitle(verdict)}`,
    '',
    ...notes.map((note) => `- ${cell(note)}`),
    ...(notes.length === 0 ? [] : ['']),
    ...(verdict.skills.length === 0 ? [] : ['| skill | before | after |', '|---|---|---|']),
    ...verdict.skills
      .slice(0, MOST_CHANGES)
      .map(({ skill, before = 'absent', after = 'absent' }) => `| ${cell(skill)} | ${cell(before)} | ${cell(after)} |`),
    ...(verdict.skills.length === 0 ? [] : ['']),
    '| | |',
    '|---|---|',
    ...facts(comparison).map(([label, text]) => `| ${label} | ${cell(text)} |`),
    ...(shown.length === 0 ? [] : ['', '| change | case | outcome | checks |', '|---|---|---|---|']),
    ...shown.map(
      (change) =>
        `| ${change.change} | ${cell(change.case)}${armText(change)} | ${verdicts(change)} | ${cell(change.checks.map(({ id, before, after }) => `${id}: ${before} to ${after}`).join(', '))} |`,
    ),
    ...(left > 0 ? ['', `and ${countText(left, 'more change')}`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

const toWarning = (text: string): string => `warning: ${text}`;

function facts(comparison: ReportComparison): readonly (readonly [string, string])[] {
  const { counts, same, passRate, live, models, skills, cost } = comparison;
  const changed = CHANGES.filter((change) => counts[change] > 0).map(
    (change) => `${numberText(counts[change])} ${change}`,
  );
  const [before, after] = [modelsText(models.before), modelsText(models.after)];
  return [
    ['changes', [...changed, `${numberText(same)} unchanged`].join(', ')],
    ['pass rate', `${rateText(passRate.before)} to ${rateText(passRate.after)}`],
    ...(live === undefined ? [] : [['live cases', liveText(live)] as const]),
    ['tokens', pairText(cost.tokens, numberText)],
    ['tool calls', pairText(cost.toolCalls, numberText)],
    ['time', pairText(cost.wallMs, durationText)],
    ...(before === after ? [] : [['models', `${before} to ${after}`] as const]),
    ...skills.map(
      (skill) => ['skill', `${skill.name}: ${digestText(skill.before)} to ${digestText(skill.after)}`] as const,
    ),
  ];
}

function pairText({ before, after }: BeforeAfter<number>, text: (value: number) => string): string {
  return `${text(before)} to ${text(after)}`;
}

/** Shortens to `sha256-tree:0123456789ab`. */
function digestText(digest: string): string {
  return digest === '' ? 'absent' : digest.replace(/([0-9a-f]{12})[0-9a-f]+$/, '$1');
}

function armText({ arm }: CaseChange): string {
  return arm === 'with' ? '' : ` (${arm})`;
}

function verdicts({ before, after }: CaseChange): string {
  return `${verdictText(before)} to ${verdictText(after)}`;
}

function verdictText(verdict: CaseChange['before']): string {
  if (verdict === undefined) return 'absent';
  const { status, passed, attempts } = verdict;
  return attempts === 1 ? status : `${status} (${String(passed)} of ${String(attempts)} passed)`;
}
