/** One result: request, answer, checks, cost and run. */
import { ARM_TITLES, numberText } from '../../report/report-text.ts';
import type { CaseResult, CheckResult } from '../../report/result.ts';
import { durationText } from '../../../core/text/line-text.ts';
import type { PageData } from '../view.ts';
import { h, line, list, visible } from './dom.ts';
import { factList, section, statusMark, table } from './marks.ts';
import { runDiff } from './run-diff.ts';
import { timeline } from './timeline.ts';

export interface Neighbours {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

export function detail(data: PageData, place: number, { before, after }: Neighbours): HTMLElement {
  const result = data.report.results[place];
  if (result === undefined) return h('div.view', h('p', 'No such case.'), h('a', { href: '#cases' }, 'All cases'));
  const view = data.views[String(place)];
  return h(
    'article',
    { class: 'view detail', 'aria-labelledby': 'case-title' },
    h(
      'nav',
      { class: 'crumbs', 'aria-label': 'Cases' },
      h('a', { href: '#cases' }, '← Cases'),
      h('span.spacer'),
      step(before, 'Previous', 'k'),
      step(after, 'Next', 'j'),
    ),
    h('h2', { id: 'case-title', tabindex: -1 }, statusMark(result.status), ' ', line(result.case)),
    result.name === result.case ? undefined : h('p.lead', line(result.name)),
    meta(result),
    siblings(data, result, place),
    result.reason === ''
      ? undefined
      : h('div', { class: `banner ${result.status === 'error' ? 'warning' : 'plain'}` }, visible(result.reason)),
    checks(result, view !== undefined),
    h('div.columns', block('Request', result.input), block('Answer', result.answer)),
    data.isCut ? h('p.faint', 'Long texts are shortened on this page; the JSON report has the full texts.') : undefined,
    costs(result),
    view === undefined ? missingView(result) : timeline(view),
    runDiff(data, place),
  );
}

function step(place: number | undefined, label: string, key: string): HTMLElement {
  if (place === undefined) return h('span.faint', label);
  return h('a', { href: `#case:${String(place)}`, title: `key ${key}` }, label);
}

function meta({ place, arm, attempt, model, tags, loaded, isHarnessCheck, isCached }: CaseResult): HTMLElement {
  const fact = (label: string, value: string): HTMLElement => h('span', h('span.faint', `${label} `), line(value));
  return h(
    'p.meta',
    fact('at', `${place.file}:${String(place.line)}`),
    fact('arm', ARM_TITLES[arm]),
    fact('attempt', String(attempt)),
    fact('model', `${model.id} (${model.way})`),
    ...(loaded.length === 0 ? [fact('loaded', 'no skill')] : [fact('loaded', loaded.join(', '))]),
    ...(isHarnessCheck === true ? [h('span.faint', 'harness check: generated answers, in no pass rate')] : []),
    ...(isCached ? [h('span.faint', 'from the cache')] : []),
    ...tags.map((tag) => h('span.tag', line(tag))),
  );
}

function siblings({ report }: PageData, result: CaseResult, place: number): HTMLElement | undefined {
  const others = [...report.results.entries()].filter(([, other]) => other.case === result.case);
  if (others.length < 2) return undefined;
  return h(
    'p.siblings',
    h('span.faint', 'all attempts '),
    list(others.slice(0, 60), ([at, other]) =>
      h(
        'a',
        {
          href: `#case:${String(at)}`,
          class: `chip ${other.status}`,
          'aria-current': at === place ? 'true' : undefined,
        },
        statusMark(other.status),
        ` ${other.arm} ${String(other.attempt)}`,
      ),
    ),
  );
}

function checks({ checks: all }: CaseResult, hasView: boolean): HTMLElement | undefined {
  if (all.length === 0) return undefined;
  const rows = all
    .toSorted((a, b) => rank(a) - rank(b))
    .map((check) =>
      h(
        'tr',
        { class: check.status },
        h('td', statusMark(check.status)),
        h('td', h('code', line(check.id)), h('div.faint', check.kind)),
        h('td.text', visible(check.asked)),
        h('td.text', visible(check.found)),
        h('td', ...check.events.slice(0, 20).map((seq) => eventLink(seq, hasView))),
      ),
    );
  return section(
    'Checks',
    table('Checks', ['Outcome', 'Check', 'Expected', 'Found', 'Evidence (event)'], rows, { class: 'checks' }),
  );
}

function eventLink(seq: number, hasView: boolean): HTMLElement {
  if (!hasView) return h('span.event', String(seq));
  const click = (event: Event): void => {
    showEvent(event, seq);
  };
  return h('a.event', { href: `#event:${String(seq)}`, click }, String(seq));
}

function rank({ status }: CheckResult): number {
  return status === 'passed' ? 1 : 0;
}

/** Scrolls to the step of an event, or to the last step before it, without changing the address. */
function showEvent(event: Event, seq: number): void {
  event.preventDefault();
  const steps = [...document.querySelectorAll<HTMLElement>('[data-events]')].map((element) => ({
    element,
    events: (element.dataset['events'] ?? '').split(' ').map(Number),
  }));
  const shown =
    steps.find(({ events }) => events.includes(seq)) ?? steps.findLast(({ events }) => (events[0] ?? 0) <= seq);
  shown?.element.scrollIntoView({ block: 'center' });
  shown?.element.focus({ preventScroll: true });
}

function block(title: string, text: string): HTMLElement {
  return section(
    title,
    text === '' ? h('p', { class: 'panel faint' }, 'empty') : h('pre', { class: 'panel', tabindex: 0 }, visible(text)),
  );
}

function costs({ cost }: CaseResult): HTMLElement {
  const about = cost.tokensAreEstimated ? 'about ' : '';
  const facts = [
    ['tokens in', `${about}${numberText(cost.inputTokens)}`],
    ['tokens out', `${about}${numberText(cost.outputTokens)}`],
    ['turns', numberText(cost.turns)],
    ['tool calls', numberText(cost.toolCalls)],
    ['script runs', numberText(cost.scriptRuns)],
    ['time', durationText(cost.wallMs)],
  ] as const;
  return section('Cost', factList(facts, 'facts panel'));
}

function missingView({ run }: CaseResult): HTMLElement {
  return section(
    'Run',
    h(
      'p',
      { class: 'panel faint' },
      run === undefined
        ? 'The case did not run.'
        : `The run is not on this page. Show it with: skillwright runs show ${line(run)}`,
    ),
  );
}
