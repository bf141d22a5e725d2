/** The page: selects the view by the address, so that the back button works. */
import { dateText, modelsText, numberText } from '../../report/report-text.ts';
import { CASE_STATUSES } from '../../report/result.ts';
import type { PageData } from '../view.ts';
import { casesView } from './cases.ts';
import { changesView } from './changes.ts';
import { detail } from './detail.ts';
import type { Neighbours } from './detail.ts';
import { h, line, list } from './dom.ts';
import { listenToKeys } from './keys.ts';
import type { Place } from './keys.ts';
import { overview } from './overview.ts';
import { triggerView } from './trigger.ts';

function main(data: PageData, app: HTMLElement): void {
  const { report, comparison } = data;
  const cases = casesView(data);
  const tabs = [
    { view: 'overview', label: 'Overview' },
    { view: 'cases', label: `Cases ${numberText(report.results.length)}` },
    ...(report.trigger === undefined ? [] : [{ view: 'trigger', label: 'Trigger' }]),
    ...(comparison === undefined ? [] : [{ view: 'changes', label: 'Changes' }]),
  ].map((tab) => ({ ...tab, link: h('a', { href: `#${tab.view}` }, tab.label) }));
  const content = h('main', { id: 'content', tabindex: -1 });
  const title =
    report.skills.length === 1 ? `Evaluation of ${line(report.skills[0]?.name ?? '')}` : 'Evaluation report';
  let lastCase: number | undefined;

  function show(): void {
    const { view, argument } = placeOf(location.hash);
    if (view === 'event') return;
    for (const tab of tabs) {
      const isHere = tab.view === view || (tab.view === 'cases' && view === 'case');
      if (isHere) tab.link.setAttribute('aria-current', 'page');
      else tab.link.removeAttribute('aria-current');
    }
    if (view === 'cases') showCases(argument);
    else {
      content.replaceChildren(elementOf(view, argument));
      scrollTo(0, 0);
      if (view === 'case') document.querySelector<HTMLElement>('#case-title')?.focus({ preventScroll: true });
    }
  }
  function showCases(argument: string): void {
    content.replaceChildren(cases.element);
    const statuses = CASE_STATUSES.filter((status) => argument.split(',').includes(status));
    if (statuses.length > 0) cases.choose(statuses);
    else cases.draw();
    if (lastCase !== undefined) cases.activate(lastCase);
    lastCase = undefined;
  }
  function elementOf(view: string, argument: string): HTMLElement {
    if (view === 'case') {
      lastCase = Number(argument);
      return detail(data, lastCase, neighbours(lastCase));
    }
    if (view === 'trigger' && report.trigger !== undefined) return triggerView(report.trigger);
    if (view === 'changes' && comparison !== undefined) return changesView(data, comparison);
    return overview(data);
  }
  function neighbours(place: number): Neighbours {
    const places = cases.places();
    const at = places.indexOf(place);
    return at < 0 ? { before: undefined, after: undefined } : { before: places[at - 1], after: places[at + 1] };
  }
  function goTo(hash: string): void {
    // Renders now, because the caller uses the new view immediately.
    if (hash !== location.hash) history.pushState(undefined, '', hash);
    show();
  }

  app.replaceChildren(
    h(
      'a',
      {
        class: 'skip',
        href: '#content',
        click: (event) => {
          event.preventDefault();
          content.focus();
        },
      },
      'Skip to the content',
    ),
    h(
      'header',
      h(
        'div.title',
        h('h1', title),
        h('p.faint', `${line(dateText(report.startedAt))} · ${line(modelsText(report.models))}`),
      ),
      h(
        'nav',
        { class: 'tabs', 'aria-label': 'Views' },
        list(tabs, ({ link }) => link),
      ),
    ),
    content,
  );
  document.title = title;
  addEventListener('hashchange', show);
  addEventListener('resize', () => {
    if (cases.element.isConnected) cases.draw();
  });
  listenToKeys({ cases, here: () => placeOf(location.hash), neighbours, goTo });
  show();
  // Time since the file was opened, for the benchmark.
  document.documentElement.dataset['ready'] = String(performance.now());
}

function placeOf(hash: string): Place {
  const [view = '', argument = ''] = hash.replace(/^#/, '').split(':');
  return { view: view === '' ? 'overview' : view, argument };
}

const [app, text] = [document.querySelector<HTMLElement>('#app'), document.querySelector('#data')?.textContent];
if (app !== null && typeof text === 'string') main(ownData(text), app);

/** The data was written by the same program as this script. */
function ownData(json: string): PageData {
  const value: PageData = JSON.parse(json);
  return value;
}
