/** Compares the steps of two runs of one case. */
import { numberText } from '../../report/report-text.ts';
import { countText, durationText } from '../../../core/text/line-text.ts';
import { diffLines } from '../../../core/text/text-diff.ts';
import type { PageData, RunView } from '../view.ts';
import { h, line, list } from './dom.ts';
import { section } from './marks.ts';

/** Returns undefined if the page has no other run of this case. */
export function runDiff({ report, views }: PageData, place: number): HTMLElement | undefined {
  const [own, view] = [report.results[place], views[String(place)]];
  if (own === undefined || view === undefined) return undefined;
  const others = [...report.results.entries()].flatMap(([at, other]) => {
    const seen = views[String(at)];
    return at === place || other.case !== own.case || seen === undefined ? [] : [{ at, other, seen }];
  });
  const [first] = others;
  if (first === undefined) return undefined;
  const box = h('div', differences(view, first.seen));
  const choice = h(
    'select',
    {
      'aria-label': 'Other run',
      change: () => {
        const chosen = others.find(({ at }) => String(at) === choice.value);
        if (chosen !== undefined) box.replaceChildren(differences(view, chosen.seen));
      },
    },
    list(others, ({ at, other }) =>
      h('option', { value: at }, `${other.arm}, attempt ${String(other.attempt)}: ${other.status}`),
    ),
  );
  return section('Compared with another run of this case', h('div', { class: 'panel run-diff' }, h('p', choice), box));
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const;

/** Steps of only the other run count as removed. */
function differences(own: RunView, other: RunView): HTMLElement {
  const { hunks, added, removed } = diffLines(textOf(other), textOf(own));
  const facts = `${numberText(lastTokens(own))} tokens in the last request against ${numberText(lastTokens(other))}; ${durationText(own.elapsedMs)} against ${durationText(other.elapsedMs)}`;
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return h(
    'div',
    h('p.faint', facts),
    h(
      'p.faint',
      lines.length === 0
        ? 'The steps are equal.'
        : `${countText(added, 'step')} only in this run, ${String(removed)} only in the other`,
    ),
    lines.length === 0
      ? undefined
      : h(
          'ol.diff',
          list(lines, ({ kind, text }) =>
            h('li', { class: kind }, h('span', { 'aria-label': kind }, SIGNS[kind]), ` ${line(text)}`),
          ),
        ),
  );
}

/** Omits times, which always differ. */
function textOf({ steps }: RunView): string {
  return steps
    .map(
      ({ turn, kind, text, tone }) =>
        `turn ${String(turn)}  ${kind}  ${text}${tone === 'bad' ? '  (denied or failed)' : ''}\n`,
    )
    .join('');
}

function lastTokens({ turns }: RunView): number {
  return turns.at(-1)?.tokens ?? 0;
}
