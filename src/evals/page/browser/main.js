/** The page: which view is shown, and what keys do. The address says where one is, so that going back works. */
import { dateText, modelsText, numberText } from '../../report/report-text.ts';
import { CASE_STATUSES } from '../../report/result.ts';
import { casesView } from './cases.ts';
import { changesView } from './changes.ts';
import { detail } from './detail.ts';
import { h, line, list } from './dom.ts';
import { listenToKeys } from './keys.ts';
import { overview } from './overview.ts';
import { triggerView } from './trigger.ts';
function main(data, app) {
    const { report, comparison } = data;
    const cases = casesView(data);
    const tabs = [
        { view: 'overview', label: 'Overview' },
        { view: 'cases', label: `Cases ${numberText(report.results.length)}` },
        ...(report.trigger === undefined ? [] : [{ view: 'trigger', label: 'Trigger' }]),
        ...(comparison === undefined ? [] : [{ view: 'changes', label: 'Changes' }]),
    ].map((tab) => ({ ...tab, link: h('a', { href: `#${tab.view}` }, tab.label) }));
    const content = h('main', { id: 'content', tabindex: -1 });
    const title = report.skills.length === 1 ? `Evaluation of ${line(report.skills[0]?.name ?? '')}` : 'Evaluation report';
    let lastCase;
    function show() {
        const { view, argument } = placeOf(location.hash);
        if (view === 'event')
            return;
        for (const tab of tabs) {
            const isHere = tab.view === view || (tab.view === 'cases' && view === 'case');
            if (isHere)
                tab.link.setAttribute('aria-current', 'page');
            else
                tab.link.removeAttribute('aria-current');
        }
        if (view === 'cases')
            showCases(argument);
        else {
            content.replaceChildren(elementOf(view, argument));
            scrollTo(0, 0);
            if (view === 'case')
                document.querySelector('#case-title')?.focus({ preventScroll: true });
        }
    }
    function showCases(argument) {
        content.replaceChildren(cases.element);
        const statuses = CASE_STATUSES.filter((status) => argument.split(',').includes(status));
        if (statuses.length > 0)
            cases.choose(statuses);
        else
            cases.draw();
        if (lastCase !== undefined)
            cases.activate(lastCase);
        lastCase = undefined;
    }
    function elementOf(view, argument) {
        if (view === 'case') {
            lastCase = Number(argument);
            return detail(data, lastCase, neighbours(lastCase));
        }
        if (view === 'trigger' && report.trigger !== undefined)
            return triggerView(report.trigger);
        if (view === 'changes' && comparison !== undefined)
            return changesView(data, comparison);
        return overview(data);
    }
    function neighbours(place) {
        const places = cases.places();
        const at = places.indexOf(place);
        return at < 0 ? { before: undefined, after: undefined } : { before: places[at - 1], after: places[at + 1] };
    }
    function goTo(hash) {
        // Shown at once, and not with the next event: what is done next finds it there.
        if (hash !== location.hash)
            history.pushState(undefined, '', hash);
        show();
    }
    app.replaceChildren(h('a', {
        class: 'skip',
        href: '#content',
        click: (event) => {
            event.preventDefault();
            content.focus();
        },
    }, 'Skip to the content'), h('header', {}, h('div', { class: 'title' }, h('h1', {}, title), h('p', { class: 'faint' }, `${line(dateText(report.startedAt))} · ${line(modelsText(report.models))}`)), h('nav', { class: 'tabs', 'aria-label': 'Views' }, list(tabs, ({ link }) => link))), content);
    document.title = title;
    addEventListener('hashchange', show);
    addEventListener('resize', () => {
        if (cases.element.isConnected)
            cases.draw();
    });
    listenToKeys({ cases, here: () => placeOf(location.hash), neighbours, goTo });
    show();
    // Since the file was opened: what the bench reads.
    document.documentElement.dataset['ready'] = String(performance.now());
}
function placeOf(hash) {
    const [view = '', argument = ''] = hash.replace(/^#/, '').split(':');
    return { view: view === '' ? 'overview' : view, argument };
}
const [app, text] = [document.querySelector('#app'), document.querySelector('#data')?.textContent];
if (app !== null && typeof text === 'string')
    main(ownData(text), app);
/** Written beside this script by the same program. */
function ownData(json) {
    const value = JSON.parse(json);
    return value;
}
