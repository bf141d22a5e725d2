/** One result: what was asked, what was found, what was answered, and the run that led there. */
import { numberText } from '../../report/report-text.ts';
import type { CaseResult, CheckResult } from '../../report/result.ts';
import { durationText } from '../../../core/text/line-text.ts';
import type { PageData } from '../view.ts';
import { h, line, list, visible } from './dom.ts';
import { headRow, section, statusMark, tableBox } from './marks.ts';
import { runDiff } from './run-diff.ts';
import { timeline } from './timeline.ts';

export interface Neighbours {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

export function detail(data: PageData, place: number, { before, after }: Neighbours): HTMLElement {
  const result = data.report.results[place];
  if (result === undefined)
    return h('div', { class: 'view' }, h('p', {}, 'There is no such case.'), h('a', { href: '#cases' }, 'All cases'));
  const view = data.views[String(place)];
  return h(
    'article',
    { class: 'view detail', 'aria-labelledby': 'case-title' },
    h(
      'nav',
      { class: 'crumbs', 'aria-label': 'Cases' },
      h('a', { href: '#cases' }, '← Cases'),
      h('span', { class: 'spacer' }),
      step(before, 'Previous', 'k'),
      step(after, 'Next', 'j'),
    ),
    h('h2', { id: 'case-title', tabindex: -1 }, statusMark(result.status), ' ', line(result.case)),
    result.name === result.case ? undefined : h('p', { class: 'lead' }, line(result.name)),
    meta(result),
    siblings(data, result, place),
    result.reason === ''
      ? undefined
      : h('div', { class: `banner ${result.status === 'error' ? 'warning' : 'plain'}` }, visible(result.reason)),
    checks(result, view !== undefined),
    h('div', { class: 'columns' }, block('Asked', result.input), block('Answered', result.answer)),
    data.isCut
      ? h('p', { class: 'faint' }, 'Long texts are cut in this page; they are whole in the JSON report.')
      : undefined,
    costs(result),
    view === undefined ? missingView(result) : timeline(view),
    runDiff(data, place),
  );
}

function step(place: number | undefined, label: string, key: string): HTMLElement {
  if (place === undefined) return h('span', { class: 'faint' }, label);
  return h('a', { href: `#case:${String(place)}`, title: `key ${key}` }, label);
}

function meta({ place, arm, attempt, model, tags, loaded, isCached }: CaseResult): HTMLElement {
  const fact = (label: string, value: string): HTMLElement =>
    h('span', {}, h('span', { class: 'faint' }, `${label} `), line(value));
  return h(
    'p',
    { class: 'meta' },
    fact('at', `${place.file}:${String(place.line)}`),
    fact('arm', arm),
    fact('attempt', String(attempt)),
    fact('model', `${model.id} (${model.way})`),
    ...(loaded.length === 0 ? [fact('loaded', 'no skill')] : [fact('loaded', loaded.join(', '))]),
    ...(isCached ? [h('span', { class: 'faint' }, 'from the cache')] : []),
    ...tags.map((tag) => h('span', { class: 'tag' }, line(tag))),
  );
}

/** The same case in other arms and attempts. */
function siblings({ report }: PageData, result: CaseResult, place: number): HTMLElement | undefined {
  const others = [...report.results.entries()].filter(([, other]) => other.case === result.case);
  if (others.length < 2) return undefined;
  return h(
    'p',
    { class: 'siblings' },
    h('span', { class: 'faint' }, 'all attempts '),
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
  const order = all.toSorted((a, b) => rank(a) - rank(b));
  return section(
    'Checks',
    tableBox(
      'Checks',
      h(
        'table',
        { class: 'checks' },
        headRow('Outcome', 'Check', 'Asked', 'Found', 'Events'),
        h(
          'tbody',
          {},
          list(order, (check) =>
            h(
              'tr',
              { class: check.status },
              h('td', {}, statusMark(check.status)),
              h('td', {}, h('code', {}, line(check.id)), h('div', { class: 'faint' }, check.kind)),
              h('td', { class: 'text' }, visible(check.asked)),
              h('td', { class: 'text' }, visible(check.found)),
              h(
                'td',
                {},
                list(check.events.slice(0, 20), (seq) =>
                  hasView
                    ? h(
                        'a',
                        {
                          class: 'event',
                          href: `#event:${String(seq)}`,
                          click: (event) => {
                            showEvent(event, seq);
                          },
                        },
                        String(seq),
                      )
                    : h('span', { class: 'event' }, String(seq)),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

function rank({ status }: CheckResult): number {
  return status === 'passed' ? 1 : 0;
}

/** Goes to the step that an event belongs to, and leaves the address as it is. */
function showEvent(event: Event, seq: number): void {
  event.preventDefault();
  for (const element of document.querySelectorAll<HTMLElement>('[data-events]')) {
    if (!(element.dataset['events'] ?? '').split(' ').includes(String(seq))) continue;
    element.scrollIntoView({ block: 'center' });
    element.focus({ preventScroll: true });
    return;
  }
}

function block(title: string, text: string): HTMLElement {
  return section(
    title,
    text === ''
      ? h('p', { class: 'panel faint' }, 'nothing')
      : h('pre', { class: 'panel', tabindex: 0 }, visible(text)),
  );
}

function costs({ cost }: CaseResult): HTMLElement {
  const fact = (label: string, value: string): HTMLElement => h('div', {}, h('dt', {}, label), h('dd', {}, value));
  const about = cost.tokensAreEstimated ? 'about ' : '';
  return section(
    'Cost',
    h(
      'dl',
      { class: 'facts panel' },
      fact('tokens in', `${about}${numberText(cost.inputTokens)}`),
      fact('tokens out', `${about}${numberText(cost.outputTokens)}`),
      fact('turns', numberText(cost.turns)),
      fact('tool calls', numberText(cost.toolCalls)),
      fact('script runs', numberText(cost.scriptRuns)),
      fact('time', durationText(cost.wallMs)),
    ),
  );
}

function missingView({ run }: CaseResult): HTMLElement {
  return section(
    'Run',
    h(
      'p',
      { class: 'panel faint' },
      run === undefined ? 'There was no run.' : `The run is not in this page. It is recorded in ${line(run)}.`,
    ),
  );
}
