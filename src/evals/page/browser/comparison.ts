/** The comparison of two arms, with its uncertainty. */
import { chanceText, differenceText, numberText, percentText, pointsText } from '../../report/report-text.ts';
import type { Arm, Comparison } from '../../report/result.ts';
import { countText, durationText } from '../../../core/text/line-text.ts';
import { h, line, list, styled } from './dom.ts';
import { factList, part, section } from './marks.ts';

const ARM_NAMES: Readonly<Record<Arm, string>> = {
  with: 'With the skill',
  without: 'without it',
  old: 'its old version',
};
const MOST_CHECKS = 200;

export function comparisonSection(comparison: Comparison): HTMLElement {
  const { of, against, difference, p, pairs, better, worse, smallestVisible, sayNothing, tokens, wallMs } = comparison;
  // The test and the interval must agree, since the interval alone is too optimistic for few pairs.
  const isSeen = p < 0.05 && (difference.low > 0 || difference.high < 0);
  const verdict = isSeen ? (difference.mean > 0 ? 'better' : 'worse') : 'no clear difference';
  return section(
    `${ARM_NAMES[of]} against ${ARM_NAMES[against]}`,
    h(
      'div',
      { class: 'panel comparison' },
      h(
        'div.headline',
        h('b', { class: isSeen ? (difference.mean > 0 ? 'good' : 'bad') : '' }, pointsText(difference.mean)),
        h('span.faint', verdict),
      ),
      differencePlot(comparison),
      factList([
        ['difference', differenceText(difference)],
        ['p, exact McNemar', chanceText(p)],
        ['smallest detectable', percentText(smallestVisible).replace(' %', ' points')],
        ['pairs', `${numberText(pairs)}: ${numberText(better)} better, ${numberText(worse)} worse`],
        ['tokens', `${numberText(tokens.of)} against ${numberText(tokens.against)}`],
        ['time', `${durationText(wallMs.of)} against ${durationText(wallMs.against)}`],
      ]),
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
