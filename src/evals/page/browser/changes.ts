/** The changes since an earlier report. */
import { CHANGES } from '../../report/compare-reports.ts';
import type { BeforeAfter, CaseVerdict, Change, ReportComparison } from '../../report/compare-reports.ts';
import { dateText, liveText, numberText, rateText } from '../../report/report-text.ts';
import { durationText } from '../../../core/text/line-text.ts';
import type { PageData } from '../view.ts';
import { h, line, list, visible } from './dom.ts';
import { factList, section, shortDigest, statusMark, table } from './marks.ts';

const MOST = 500;
const TONES = {
  broken: 'bad',
  fixed: 'good',
  unclear: 'warning',
  other: 'warning',
  added: 'plain',
  removed: 'faint',
} as const satisfies Record<Change, string>;

export function changesView({ report }: PageData, comparison: ReportComparison): HTMLElement {
  const { counts, same, passRate, live, cost, skills, startedAt } = comparison;
  return h(
    'div.view',
    h(
      'div.cards',
      list(
        CHANGES.filter((change) => counts[change] > 0 || change === 'broken' || change === 'fixed'),
        (change) =>
          h(
            'div.card',
            h('div.label', change),
            h('div', { class: `value ${counts[change] === 0 ? 'faint' : TONES[change]}` }, numberText(counts[change])),
          ),
      ),
      h('div.card', h('div.label', 'unchanged'), h('div.value', numberText(same))),
    ),
    section(
      'Before and after',
      factList(
        [
          ['started', `${line(dateText(startedAt.before))} → ${line(dateText(startedAt.after))}`],
          ['pass rate', `${rateText(passRate.before)} → ${rateText(passRate.after)}`],
          ...(live === undefined ? [] : [['live cases', liveText(live)] as const]),
          ['tokens', pair(cost.tokens, numberText)],
          ['tool calls', pair(cost.toolCalls, numberText)],
          ['time', pair(cost.wallMs, durationText)],
          ...skills
            .slice(0, 50)
            .map(
              ({ name, before, after }) =>
                [`skill ${line(name)}`, `${shortDigest(before)} → ${shortDigest(after)}`] as const,
            ),
        ],
        'facts panel',
      ),
    ),
    section(
      'Changes',
      comparison.changes.length === 0
        ? h('p.panel', 'No outcome changed.')
        : changeTable(comparison, (id, arm) =>
            report.results.findIndex((result) => result.case === id && result.arm === arm),
          ),
    ),
  );
}

function changeTable({ changes }: ReportComparison, placeOf: (id: string, arm: string) => number): HTMLElement {
  const rows = changes.slice(0, MOST).map(({ change, case: id, arm, before, after, checks }) => {
    const place = placeOf(id, arm);
    const name = place < 0 ? line(id) : h('a', { href: `#case:${String(place)}` }, line(id));
    const checkLines = checks
      .slice(0, 10)
      .map((check) =>
        h(
          'div',
          h('code', line(check.id)),
          ` ${check.before} → ${check.after} `,
          h('span.faint', visible(check.found.slice(0, 300))),
        ),
      );
    return h(
      'tr',
      h('td', { class: TONES[change] }, change),
      h('th', { scope: 'row' }, name, h('div.faint', arm)),
      h('td', verdict(before)),
      h('td', verdict(after)),
      h('td.text', ...checkLines),
    );
  });
  return table('Changes', ['Change', 'Case', 'Before', 'After', 'Checks'], rows);
}

function verdict(one: CaseVerdict | undefined): HTMLElement {
  if (one === undefined) return h('span.faint', 'absent');
  return h(
    'span',
    statusMark(one.status),
    one.attempts === 1 ? undefined : h('span.faint', ` ${String(one.passed)} of ${String(one.attempts)}`),
  );
}

function pair({ before, after }: BeforeAfter<number>, text: (value: number) => string): string {
  return `${text(before)} → ${text(after)}`;
}
