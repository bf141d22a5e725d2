/** The changes since an earlier report. */
import type { JSX } from 'preact';

import { chanceText } from '#evals/report';
import type { CaseChange, PageData, ReportComparison } from './data.ts';
import { t } from '../language.ts';
import { Badge, Card, Empty, Facts, Section, State, type Tone } from '../parts/parts.tsx';
import { date, duration, line, number, short, visible } from '../text.ts';
import { RowsTable, Titled, armName, rateText, useReportLink } from './marks.tsx';

const MOST = 500;
const TONES: Readonly<Record<CaseChange['change'], Tone>> = {
  broken: 'bad',
  fixed: 'good',
  unclear: 'warning',
  other: 'warning',
  added: 'plain',
  removed: 'plain',
};
const CHANGES: readonly CaseChange['change'][] = ['broken', 'fixed', 'unclear', 'other', 'added', 'removed'];

interface ChangesProps {
  readonly data: PageData;
  readonly comparison: ReportComparison;
}

export function ChangesView({ data, comparison }: ChangesProps): JSX.Element {
  const { counts, same, passRate, live, cost, skills, startedAt } = comparison;
  const pair = (value: ReportComparison['cost']['tokens'], text: (one: number) => string): string =>
    `${text(value.before)} → ${text(value.after)}`;
  return (
    <>
      <div class="cards">
        {CHANGES.filter((change) => counts[change] > 0 || change === 'broken' || change === 'fixed').map((change) => (
          <Card
            key={change}
            label={t(change)}
            value={number(counts[change])}
            tone={counts[change] === 0 ? undefined : TONES[change]}
          />
        ))}
        <Card label={t('unchanged')} value={number(same)} />
      </div>
      <Section title={t('Before and after')}>
        <Facts
          facts={[
            [t('Started'), `${date(startedAt.before)} → ${date(startedAt.after)}`],
            [t('Pass rate'), `${rateText(passRate.before)} → ${rateText(passRate.after)}`],
            ...(live === undefined
              ? []
              : [
                  [
                    t('Live cases'),
                    `${number(live.cases)}: ${rateText(live.before)} → ${rateText(live.after)}, p ${chanceText(live.p)}: ${t(live.p < 0.05 ? 'a regression' : 'no clear regression')}`,
                  ] as const,
                ]),
            [t('Tokens'), pair(cost.tokens, number)],
            [t('Tool calls'), pair(cost.toolCalls, number)],
            [t('Time'), pair(cost.wallMs, duration)],
            ...skills
              .slice(0, 50)
              .map(
                ({ name, before, after }) =>
                  [
                    `${t('Skill')} ${line(name)}`,
                    [before, after].map((one) => line(short(one)) || '–').join(' → '),
                  ] as const,
              ),
          ]}
        />
      </Section>
      <Titled title={t('Changes')}>
        {comparison.changes.length === 0 ? (
          <Empty title={t('No outcome changed')} />
        ) : (
          <ChangeTable data={data} comparison={comparison} />
        )}
      </Titled>
    </>
  );
}

function ChangeTable({ data: { report }, comparison }: ChangesProps): JSX.Element {
  const link = useReportLink();
  return (
    <RowsTable
      label={t('Changes')}
      heads={['Change', 'Case', 'Before', 'After', 'Checks']}
      header={1}
      columns={['', '', '', '', 'text']}
      rows={comparison.changes.slice(0, MOST).map(({ change, case: id, arm, before, after, checks }) => {
        const place = report.results.findIndex((result) => result.case === id && result.arm === arm);
        const name = place < 0 ? line(id) : <a href={link('case', String(place))}>{line(id)}</a>;
        return {
          cells: [
            <Badge tone={TONES[change]}>{t(change)}</Badge>,
            <>
              {name}
              <div class="faint">{armName(arm)}</div>
            </>,
            <Verdict verdict={before} />,
            <Verdict verdict={after} />,
            checks.slice(0, 10).map((check) => (
              <div key={check.id}>
                <code>{line(check.id)}</code> {t(check.before)} → {t(check.after)}{' '}
                <span class="faint">{visible(check.found.slice(0, 300))}</span>
              </div>
            )),
          ],
        };
      })}
    />
  );
}

function Verdict({ verdict }: { readonly verdict: CaseChange['before'] }): JSX.Element {
  if (verdict === undefined) return <span class="faint">{t('absent')}</span>;
  return (
    <>
      <State name={verdict.status} />{' '}
      {verdict.attempts === 1 ? null : (
        <span class="faint">
          {verdict.passed} / {verdict.attempts}
        </span>
      )}
    </>
  );
}
