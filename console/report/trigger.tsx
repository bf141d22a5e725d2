/** The trigger evaluation: controls, scores, confusion matrix and distractor sweep. */
import type { JSX } from 'preact';

import { percentText } from '#evals/report';
import type { Rate, TriggerReport } from './data.ts';
import { t } from '../language.ts';
import { Banner, Section, State } from '../parts/parts.tsx';
import { line, number } from '../text.ts';
import { RateCell, RowsTable, Titled, rateText } from './marks.tsx';

const MOST_LABELS = 40;

export function TriggerView({ trigger }: { readonly trigger: TriggerReport }): JSX.Element {
  return (
    <>
      {trigger.isValid ? null : <Banner tone="bad" title={t('Invalid: a control failed, so there is no score')} />}
      <Controls trigger={trigger} />
      {trigger.isValid ? (
        <>
          <Scores trigger={trigger} />
          <Matrix trigger={trigger} />
          <Sweep trigger={trigger} />
        </>
      ) : null}
    </>
  );
}

function Controls({ trigger: { controls } }: { readonly trigger: TriggerReport }): JSX.Element {
  return (
    <Titled title={t('Controls')}>
      <p class="faint">
        {t(
          'Controls test the evaluation itself: one made-up skill must load for each of its own requests, another must never load, and shuffled labels must score like chance. If one fails there is no score.',
        )}
      </p>
      <RowsTable
        label={t('Controls')}
        heads={['Outcome', 'Control', 'Expected', 'Found']}
        header={1}
        rows={controls.map(({ name, asked, found, isKept }) => ({
          cells: [<State name={isKept ? 'passed' : 'failed'} />, name, line(asked), line(found)],
        }))}
      />
    </Titled>
  );
}

function Scores({ trigger: { scores, overall, split } }: { readonly trigger: TriggerReport }): JSX.Element {
  return (
    <Titled title={t('Scores')}>
      <RowsTable
        label={t('Scores')}
        heads={['Skill', 'Precision', 'Recall', 'F1']}
        columns={['', '', '', 'number']}
        rows={[...scores, { skill: t('all'), ...overall }].map(({ skill, precision, recall, f1 }) => ({
          cells: [line(skill), <RateCell rate={precision} />, <RateCell rate={recall} />, f1.toFixed(2)],
        }))}
      />
      <p>
        {t('No skill loaded where none was expected')}: {rateText(overall.quiet)}
        {split === undefined
          ? ''
          : `; ${t('Train')} ${rateText(split.train)}, ${t('Validation')} ${rateText(split.validation)}`}
      </p>
    </Titled>
  );
}

function Matrix({ trigger: { confusion } }: { readonly trigger: TriggerReport }): JSX.Element {
  const weight = new Map<string, number>();
  for (const { wanted, took, count } of confusion)
    for (const label of [wanted, took])
      weight.set(label, (weight.get(label) ?? 0) + count * (wanted === took ? 1 : 1_000));
  // The most confused labels by name, with the label for no skill at the end.
  const labels = [...weight]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, MOST_LABELS)
    .map(([label]) => label)
    .toSorted((a, b) => Number(a === '-') - Number(b === '-') || (a < b ? -1 : 1));
  const cell = (expected: string, took: string): JSX.Element => {
    const row = confusion.filter((one) => one.wanted === expected);
    const count = row.find((one) => one.took === took)?.count ?? 0;
    if (count === 0) return <td key={took} class="none" />;
    const all = row.reduce((sum, one) => sum + one.count, 0);
    const share = `${String(Math.round(12 + (count / Math.max(1, all)) * 34))}%`;
    return (
      <td key={took} class={expected === took ? 'right' : 'wrong'} style={{ '--share': share }}>
        {number(count)}
      </td>
    );
  };
  return (
    <Titled title={t('Confusion matrix')}>
      <p class="faint">
        {t('Rows: expected skill. Columns: loaded skill.')}{' '}
        {weight.size > labels.length
          ? t('The {shown} most confused of {all} skills.', { shown: labels.length, all: number(weight.size) })
          : ''}
      </p>
      <div class="table-box" tabIndex={0} role="region" aria-label={t('Confusion matrix')}>
        <table class="confusion">
          <thead>
            <tr>
              <td />
              {labels.map((label) => (
                <th scope="col" key={label}>
                  <span>{showLabel(label)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((expected) => (
              <tr key={expected}>
                <th scope="row">{showLabel(expected)}</th>
                {labels.map((took) => cell(expected, took))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Titled>
  );
}

function showLabel(label: string): string {
  return label === '-' ? t('none') : line(label);
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [560, 220, 44, 28, 10] as const;

/** Recall and precision over the number of other skills, on a logarithmic axis. */
function Sweep({ trigger: { sweep } }: { readonly trigger: TriggerReport }): JSX.Element | null {
  if (sweep.length < 2) return null;
  const places = sweep.map(({ distractors }) => Math.log10(Math.max(1, distractors)));
  const [first, last] = [Math.min(...places), Math.max(...places)];
  const x = (at: number): number =>
    LEFT + (((places[at] ?? 0) - first) / Math.max(0.001, last - first)) * (WIDTH - LEFT - 24);
  const y = (value: number): number => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM);
  const point = (value: number, at: number): string => `${String(x(at))},${String(y(value))}`;
  const curve = (name: 'recall' | 'precision'): JSX.Element => {
    const rates = sweep.map((one) => one[name]);
    const area = [
      ...rates.map(({ high }, at) => point(high, at)),
      ...rates.map(({ low }, at) => point(low, at)).toReversed(),
    ];
    return (
      <g class={name} key={name}>
        <polygon points={area.join(' ')} />
        <polyline points={rates.map((rate, at) => point(toFraction(rate), at)).join(' ')} />
        {rates.map((rate, at) => (
          <circle key={at} cx={x(at)} cy={y(toFraction(rate))} r="3.5">
            <title>{`${t(name)} ${rateText(rate)}`}</title>
          </circle>
        ))}
      </g>
    );
  };
  const label = sweep
    .map(({ distractors, recall, precision }) =>
      [number(distractors), t('recall'), rateText(recall), t('precision'), rateText(precision)].join(' '),
    )
    .join('; ');
  return (
    <Section title={t('More installed skills')}>
      <ul class="legend">
        {['recall', 'precision'].map((name) => (
          <li key={name}>
            <span class={`swatch ${name}`} aria-hidden="true" />
            {t(name)}
          </li>
        ))}
      </ul>
      <svg class="sweep" viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} role="img" aria-label={label}>
        {[0, 0.25, 0.5, 0.75, 1].map((value) => (
          <g key={value}>
            <line class="guide" x1={LEFT} x2={WIDTH - 24} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 8} y={y(value) + 4} text-anchor="end">
              {percentText(value)}
            </text>
          </g>
        ))}
        {sweep.map(({ distractors }, at) => (
          <text key={distractors} x={x(at)} y={HEIGHT - 8} text-anchor="middle">
            {number(distractors)}
          </text>
        ))}
        {curve('precision')}
        {curve('recall')}
      </svg>
    </Section>
  );
}

function toFraction({ count, of }: Rate): number {
  return of === 0 ? 0 : count / of;
}
