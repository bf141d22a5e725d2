/** What a run costs in each arm, and the differences between arms, with their uncertainty. */
import type { JSX } from 'preact';

import { listMoneySources, usdText } from '#evals/report';
import type { EvalReport, Measure } from './data.ts';
import { t } from '../language.ts';
import { duration, line, number } from '../text.ts';
import { RowsTable, Titled, armName } from './marks.tsx';

type AmountText = (amount: number) => string;

const count: AmountText = (amount) => number(Math.round(amount));

const ROWS = [
  ['tokens', 'Tokens', count],
  ['inputTokens', 'Tokens in', count],
  ['cachedTokens', 'Tokens from the cache', count],
  ['outputTokens', 'Tokens out', count],
  ['usd', 'Money', usdText],
  ['wallMs', 'Latency', duration],
] as const;

export function Costs({ report }: { readonly report: EvalReport }): JSX.Element | null {
  const { arms, comparisons } = report;
  const rows = ROWS.filter(([name]) => arms.some(({ perRun }) => perRun[name].of > 0));
  if (rows.length === 0) return null;
  const differences = comparisons.map(({ of, against }) =>
    t('{of} against {against}', { of: armName(of), against: armName(against) }),
  );
  return (
    <Titled title={t('Cost of a run: mean and 95 % interval')}>
      <RowsTable
        label={t('Cost of a run: mean and 95 % interval')}
        heads={['Cost', ...arms.map(({ arm }) => armName(arm)), ...differences]}
        class="numbers"
        rows={rows.map(([name, title, format]) => ({
          cells: [
            t(title),
            ...arms.map(({ perRun }) => measureText(perRun[name], format)),
            ...comparisons.map(({ costs }) =>
              measureText(costs[name].difference, (amount) => `${amount < 0 ? '−' : '+'}${format(Math.abs(amount))}`),
            ),
          ],
        }))}
      />
      <p class="faint">{moneyText(report)}</p>
    </Titled>
  );
}

function measureText({ mean, low, high, cases, of }: Measure, format: AmountText): string {
  if (of === 0) return '–';
  if (mean === undefined) return t('unknown');
  const interval =
    low === undefined || high === undefined ? t('fewer than 6 cases') : `${format(low)} … ${format(high)}`;
  const known =
    cases === of ? '' : `, ${t('known for {cases} of {all} cases', { cases: number(cases), all: number(of) })}`;
  return `${format(mean)} (${interval})${known}`;
}

/** The money is only as good as its prices, so that their date stands beside it. */
function moneyText(report: EvalReport): string {
  const { dates, isReported, unpriced } = listMoneySources(report);
  return [
    ...(dates.length === 0 ? [] : [t('Prices of {date}', { date: line(dates.join(', ')) })]),
    ...(isReported ? [t('Money as reported by the agent')] : []),
    ...(unpriced.length === 0 ? [] : [t('No price for {models}', { models: line(unpriced.join(', ')) })]),
  ].join('. ');
}
