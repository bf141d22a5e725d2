/** Whether a skill helps: two arms of the same cases, with how sure that is. */
import { chanceText, differenceText, numberText, percentText, pointsText } from '../../report/report-text.ts';
import { countText, durationText } from '../../../core/text/line-text.ts';
import { h, line, list, styled } from './dom.ts';
import { part, section } from './marks.ts';
const ARM_NAMES = {
    with: 'With the skill',
    without: 'without it',
    old: 'its old version',
};
const MOST_CHECKS = 200;
export function comparisonSection(comparison) {
    const { of, against, difference, p, pairs, better, worse, smallestVisible, sayNothing, tokens, wallMs } = comparison;
    // Both must agree: with few pairs the interval alone promises too much.
    const isSeen = p < 0.05 && (difference.low > 0 || difference.high < 0);
    const verdict = isSeen ? (difference.mean > 0 ? 'better' : 'worse') : 'no clear difference';
    const fact = (label, value) => h('div', {}, h('dt', {}, label), h('dd', {}, value));
    return section(`${ARM_NAMES[of]} against ${ARM_NAMES[against]}`, h('div', { class: 'panel comparison' }, h('div', { class: 'headline' }, h('b', { class: isSeen ? (difference.mean > 0 ? 'good' : 'bad') : '' }, pointsText(difference.mean)), h('span', { class: 'faint' }, verdict)), differencePlot(comparison), h('dl', { class: 'facts' }, fact('difference', differenceText(difference)), fact('p, exact McNemar', chanceText(p)), fact('smallest visible', percentText(smallestVisible).replace(' %', ' points')), fact('pairs', `${numberText(pairs)}: ${numberText(better)} better, ${numberText(worse)} worse`), fact('tokens', `${numberText(tokens.of)} against ${numberText(tokens.against)}`), fact('time', `${durationText(wallMs.of)} against ${durationText(wallMs.against)}`)), sayNothing.length === 0
        ? undefined
        : h('details', {}, h('summary', {}, `${countText(sayNothing.length, 'check')} passed in both arms: they say nothing about the skill`), h('ul', {}, list(sayNothing.slice(0, MOST_CHECKS), (one) => h('li', {}, line(`${one.case}: ${one.check}`)))))));
}
/** From −100 to +100 points: the interval, and what so many pairs could not have shown. */
function differencePlot({ difference, smallestVisible }) {
    const at = (value) => part((value + 1) / 2);
    return h('div', { class: 'difference', role: 'img', 'aria-label': differenceText(difference) }, styled(h('span', { class: 'unseen', title: 'smaller than so many pairs can show' }), {
        left: at(-smallestVisible),
        width: part(smallestVisible),
    }), h('span', { class: 'zero' }), styled(h('span', { class: 'band' }), {
        left: at(difference.low),
        width: part((difference.high - difference.low) / 2),
    }), styled(h('span', { class: 'tick' }), { left: at(difference.mean) }), h('span', { class: 'scale' }, h('span', {}, '−100'), h('span', {}, '0'), h('span', {}, '+100 points')));
}
