/** The comparison of two arms, with its uncertainty. */
import {
  ARM_TITLES,
  chanceText,
  comparisonTexts,
  differenceText,
  pointsText,
  verdictOfDifference,
} from '../../report/report-text.ts';
import type { Comparison } from '../../report/result.ts';
import { countText } from '../../../core/text/line-text.ts';
import { h, line, list, styled } from './dom.ts';
import { factList, part, section } from './marks.ts';

const MOST_CHECKS = 200;

export function comparisonSection(comparison: Comparison): HTMLElement {
  const { of, against, difference, p, method, sayNothing } = comparison;
  const { pairs, passed, better, worse, alike, detectable, tokens, time, excluded } = comparisonTexts(comparison);
  const verdict = verdictOfDifference(comparison);
  const tone = verdict === 'better' ? 'good' : verdict === 'worse' ? 'bad' : '';
  return section(
    `Outcomes ${ARM_TITLES[of]} against ${ARM_TITLES[against]}`,
    h(
      'div',
      { class: 'panel comparison' },
      h(
        'div.headline',
        h('b', { class: tone }, pointsText(difference.mean)),
        h('span.faint', `${verdict} on these cases`),
      ),
      differencePlot(comparison),
      factList([
        ['difference, 95 % interval', differenceText(difference)],
        [method === 'fixed' ? 'p, exact McNemar' : 'p, valid at every stop', chanceText(p)],
        ['smallest detectable', detectable],
        ['pairs', `${pairs}: ${better} better, ${worse} worse, ${alike} equal`],
        ['passed', passed],
        ['tokens per run', tokens],
        ['time per run', time],
      ]),
      excluded === '' ? undefined : h('p.faint', `Not compared: ${line(excluded)}.`),
      sayNothing.length === 0
        ? undefined
        : h(
            'details',
            h(
              'summary',
              `${countText(sayNothing.length, 'check')} passed in both arms and so prove nothing about the skill`,
            ),
            h(
              'ul',
              list(sayNothing.slice(0, MOST_CHECKS), (one) => h('li', line(`${one.case}: ${one.check}`))),
            ),
          ),
    ),
  );
}

/** Draws the interval between −100 and +100 points, and the undetectable range. */
function differencePlot({ difference, smallestVisible }: Comparison): HTMLElement {
  const at = (value: number): string => part((value + 1) / 2);
  return h(
    'div',
    { class: 'difference', role: 'img', 'aria-label': differenceText(difference) },
    styled(h('span', { class: 'unseen', title: 'too small to detect with this number of pairs' }), {
      left: at(-smallestVisible),
      width: part(smallestVisible),
    }),
    h('span.zero'),
    styled(h('span.band'), {
      left: at(difference.low),
      width: part((difference.high - difference.low) / 2),
    }),
    styled(h('span.tick'), { left: at(difference.mean) }),
    h('span.scale', h('span', '−100'), h('span', '0'), h('span', '+100 points')),
  );
}
