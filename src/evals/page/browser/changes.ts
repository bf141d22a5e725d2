/** What is different from an earlier report. */
import { CHANGES } from '../../report/compare-reports.ts';
import type { BeforeAfter, CaseVerdict, Change, ReportComparison } from '../../report/compare-reports.ts';
import { dateText, numberText, rateText } from '../../report/report-text.ts';
import { durationText } from '../../../core/text/line-text.ts';
import type { PageData } from '../view.ts';
import { h, line, list, visible } from './dom.ts';
import { headRow, section, statusMark, tableBox } from './marks.ts';

const MOST = 500;
const TONES = {
  broken: 'bad',
  fixed: 'good',
  other: 'warning',
  added: 'plain',
  removed: 'faint',
} as const satisfies Record<Change, string>;

export function changesView({ report }: PageData, comparison: ReportComparison): HTMLElement {
  const { counts, same, passRate, cost, skills, startedAt } = comparison;
  const fact = (label: string, value: string): HTMLElement => h('div', {}, h('dt', {}, label), h('dd', {}, value));
  return h(
    'div',
    { class: 'view' },
    h(
      'div',
      { class: 'cards' },
      list(
        CHANGES.filter((change) => counts[change] > 0 || change === 'broken' || change === 'fixed'),
        (change) =>
          h(
            'div',
            { class: 'card' },
            h('div', { class: 'label' }, change),
            h('div', { class: `value ${counts[change] === 0 ? 'faint' : TONES[change]}` }, numberText(counts[change])),
          ),
      ),
      h(
        'div',
        { class: 'card' },
        h('div', { class: 'label' }, 'the same'),
        h('div', { class: 'value' }, numberText(same)),
      ),
    ),
    section(
      'Before and after',
      h(
        'dl',
        { class: 'facts panel' },
        fact('started', `${line(dateText(startedAt.before))} → ${line(dateText(startedAt.after))}`),
        fact('pass rate', `${rateText(passRate.before)} → ${rateText(passRate.after)}`),
        fact('tokens', pair(cost.tokens, numberText)),
        fact('tool calls', pair(cost.toolCalls, numberText)),
        fact('time', pair(cost.wallMs, durationText)),
        ...skills
          .slice(0, 50)
          .map(({ name, before, after }) => fact(`skill ${line(name)}`, `${digest(before)} → ${digest(after)}`)),
      ),
    ),
    section(
      'Changes',
      comparison.changes.length === 0
        ? h('p', { class: 'panel' }, 'No case has another outcome.')
        : changeTable(comparison, (id, arm) =>
            report.results.findIndex((result) => result.case === id && result.arm === arm),
          ),
    ),
  );
}

function changeTable({ changes }: ReportComparison, placeOf: (id: string, arm: string) => number): HTMLElement {
  return tableBox(
    'Changes',
    h(
      'table',
      {},
      headRow('Change', 'Case', 'Before', 'After', 'Checks'),
      h(
        'tbody',
        {},
        list(changes.slice(0, MOST), ({ change, case: id, arm, before, after, checks }) => {
          const place = placeOf(id, arm);
          return h(
            'tr',
            {},
            h('td', { class: TONES[change] }, change),
            h(
              'th',
              { scope: 'row' },
              place < 0 ? line(id) : h('a', { href: `#case:${String(place)}` }, line(id)),
              h('div', { class: 'faint' }, arm),
            ),
            h('td', {}, verdict(before)),
            h('td', {}, verdict(after)),
            h(
              'td',
              { class: 'text' },
              list(checks.slice(0, 10), (check) =>
                h(
                  'div',
                  {},
                  h('code', {}, line(check.id)),
                  ` ${check.before} → ${check.after} `,
                  h('span', { class: 'faint' }, visible(check.found.slice(0, 300))),
                ),
              ),
            ),
          );
        }),
      ),
    ),
  );
}

function verdict(one: CaseVerdict | undefined): HTMLElement {
  if (one === undefined) return h('span', { class: 'faint' }, 'absent');
  return h(
    'span',
    {},
    statusMark(one.status),
    one.attempts === 1 ? undefined : h('span', { class: 'faint' }, ` ${String(one.passed)} of ${String(one.attempts)}`),
  );
}

function pair({ before, after }: BeforeAfter<number>, text: (value: number) => string): string {
  return `${text(before)} → ${text(after)}`;
}

function digest(text: string): string {
  return text === '' ? 'absent' : line(text.replace(/([0-9a-f]{12})[0-9a-f]+$/, '$1'));
}
