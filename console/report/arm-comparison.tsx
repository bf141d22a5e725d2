/** The comparison of two arms, with its uncertainty. */
import type { JSX } from 'preact';

import { chanceText, signedNumber, verdictOfDifference } from '#evals/report';
import type { Comparison } from './data.ts';
import { counted, t } from '../language.ts';
import { Facts } from '../parts/parts.tsx';
import { line, number } from '../text.ts';
import { Titled, armName, part } from './marks.tsx';

const MOST_CHECKS = 200;

export function ArmComparison({ comparison }: { readonly comparison: Comparison }): JSX.Element {
  const { of, against, cases, pairs, passed, missing, better, worse, difference, method, p } = comparison;
  const { smallestVisible, sayNothing, excluded, differing, used, merged } = comparison;
  const verdict = verdictOfDifference(comparison);
  const interval = `${points(difference.mean)} (${signedNumber(difference.low)} … ${signedNumber(difference.high)})`;
  const left = [
    ...excluded.checks.map(({ kind, count }) => `${t(kind)} ${number(count)}`),
    ...new Set(excluded.cases.map(({ reason }) => line(reason))),
  ];
  return (
    <Titled title={t('Outcomes {of} against {against}', { of: armName(of), against: armName(against) })}>
      <div class="panel">
        <p class="headline">
          <b class={verdict === 'better' ? 'good' : verdict === 'worse' ? 'bad' : ''}>{points(difference.mean)}</b>{' '}
          <span class="faint">
            {comparison.used?.count === 0 ? t(verdict) : t('{verdict} on these cases', { verdict: t(verdict) })}
          </span>
        </p>
        <DifferencePlot comparison={comparison} label={interval} />
        <Facts
          facts={[
            [t('Difference, 95 % interval'), interval],
            [t(method === 'fixed' ? 'p, exact test over cases' : 'p, valid at every stop'), chanceText(p)],
            [t('Smallest detectable'), points(smallestVisible)],
            [
              t('Different cases'),
              t('{cases}: {better} better, {worse} worse, {alike} equal', {
                cases: number(cases),
                better: number(better),
                worse: number(worse),
                alike: number(cases - better - worse),
              }),
            ],
            [
              t('Passed'),
              `${armName(of)} ${number(passed.of)}, ${armName(against)} ${number(passed.against)} / ${number(pairs)}`,
            ],
            [t('Missing attempts'), `${number(missing.of)} / ${number(missing.against)}`],
            ...(used === undefined ? [] : [[t('Skill loaded'), `${number(used.count)} / ${number(used.of)}`] as const]),
            ...(differing.length === 0 ? [] : [[t('Difference of the arms'), line(differing.join(', '))] as const]),
            ...(merged.length === 0
              ? []
              : [[t('Near-identical cases'), line(merged.map((ids) => ids.join(' + ')).join(', '))] as const]),
          ]}
        />
        {left.length === 0 ? null : (
          <p class="faint">
            {t('Not compared')}: {left.join(', ')}
          </p>
        )}
        {sayNothing.length === 0 ? null : (
          <details>
            <summary>
              {counted('{count} checks', sayNothing.length)}{' '}
              {t('passed in both arms and so prove nothing about the skill')}
            </summary>
            <ul class="plain">
              {sayNothing.slice(0, MOST_CHECKS).map((one) => (
                <li key={`${one.case} ${one.check}`}>{line(`${one.case}: ${one.check}`)}</li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </Titled>
  );
}

function points(value: number): string {
  return t('{count} points', { count: signedNumber(value) });
}

interface DifferencePlotProps {
  readonly comparison: Comparison;
  readonly label: string;
}

/** The interval between −100 and +100 points, and the range that is too small to detect. */
function DifferencePlot({ comparison: { difference, smallestVisible }, label }: DifferencePlotProps): JSX.Element {
  const at = (value: number): string => part((value + 1) / 2);
  return (
    <div class="difference" role="img" aria-label={label}>
      <span
        class="unseen"
        title={t('too small to detect with this number of cases')}
        style={{ left: at(-smallestVisible), width: part(smallestVisible) }}
      />
      <span class="zero" />
      <span class="band" style={{ left: at(difference.low), width: part((difference.high - difference.low) / 2) }} />
      <span class="tick" style={{ left: at(difference.mean) }} />
      <span class="scale">
        <span>−100</span>
        <span>0</span>
        <span>+100</span>
      </span>
    </div>
  );
}
