/** The table of results: filtered, sorted, led by keys. */
import { numberText, tokensOf } from '../../report/report-text.ts';
import { CASE_STATUSES } from '../../report/result.ts';
import { durationText } from '../../../core/text/line-text.ts';
import { h, line, list } from './dom.ts';
import { statusMark } from './marks.ts';
import { rowList } from './row-list.ts';
import { COLUMNS, EVERYTHING, rowsOf, selected } from './select.ts';
const LABELS = {
    status: 'Status',
    case: 'Case',
    tags: 'Tags',
    arm: 'Arm',
    checks: 'Checks',
    tokens: 'Tokens',
    time: 'Time',
};
export function casesView({ report }) {
    const rows = rowsOf(report.results);
    let selection = EVERYTHING;
    let shown = selected(rows, selection);
    const bar = filterBar(report.results.flatMap(({ tags }) => tags), report.totals, change);
    const heads = headCells((column) => {
        const isSame = selection.column === column;
        // Once, the other way round, and back to the order of the suite.
        change(isSame && selection.isDescending ? { column: '', isDescending: false } : { column, isDescending: isSame });
    });
    const head = h('div', { class: 'row head', role: 'row' }, ...heads.values());
    const table = rowList(head, (index) => rowElement(shown[index]));
    const grid = h('div', { class: 'grid', role: 'grid', 'aria-label': 'Results', 'aria-rowcount': rows.length + 1 }, table.element);
    function change(next) {
        selection = { ...selection, ...next };
        shown = selected(rows, selection);
        table.reset(shown.length);
        bar.show(selection, shown.length);
        for (const [column, cell] of heads)
            cell.setAttribute('aria-sort', sortOf(selection, column));
    }
    change({});
    return {
        element: h('div', { class: 'view cases' }, bar.element, grid, keyHelp()),
        filter: bar.filter,
        places: () => shown.map(({ place }) => place),
        move(by) {
            table.activate(table.hasFocus() ? table.active() + by : table.active());
        },
        activate(place) {
            table.activate(Math.max(0, shown.findIndex((row) => row.place === place)));
        },
        active: () => shown[table.active()]?.place,
        hasFocus: table.hasFocus,
        choose(statuses) {
            change({ ...EVERYTHING, statuses });
        },
        draw: table.draw,
    };
}
function filterBar(tags, totals, change) {
    const all = CASE_STATUSES.reduce((sum, status) => sum + totals[status], 0);
    let pressed = [];
    const filter = h('input', {
        type: 'search',
        placeholder: 'Filter by id, text, tag or skill  ( / )',
        'aria-label': 'Filter cases',
        input: () => {
            change({ text: filter.value });
        },
    });
    const chips = CASE_STATUSES.map((status) => ({
        status,
        button: chip(status, totals[status], () => {
            change({ statuses: pressed.includes(status) ? pressed.filter((one) => one !== status) : [...pressed, status] });
        }),
    }));
    const names = [...new Set(tags)].toSorted();
    const tagList = h('select', {
        'aria-label': 'Tag',
        change: () => {
            change({ tag: tagList.value });
        },
    }, h('option', { value: '' }, 'all tags'), list(names, (tag) => h('option', { value: tag }, line(tag))));
    const counter = h('span', { class: 'faint', role: 'status' });
    const buttons = h('span', { class: 'chips' }, ...chips.map(({ button }) => button));
    return {
        element: h('div', { class: 'filters' }, filter, buttons, names.length === 0 ? undefined : tagList, counter),
        filter,
        show({ text, statuses, tag }, count) {
            pressed = statuses;
            if (filter.value !== text)
                filter.value = text;
            tagList.value = tag;
            counter.textContent = count === all ? numberText(all) : `${numberText(count)} of ${numberText(all)}`;
            for (const { status, button } of chips)
                button.setAttribute('aria-pressed', String(statuses.includes(status)));
        },
    };
}
function chip(status, count, click) {
    const attributes = { type: 'button', class: `chip ${status}`, 'aria-pressed': 'false', disabled: count === 0, click };
    return h('button', attributes, statusMark(status), ` ${numberText(count)}`);
}
function headCells(sort) {
    return new Map(COLUMNS.map((column) => {
        const click = () => {
            sort(column);
        };
        const button = h('button', { type: 'button', click }, LABELS[column]);
        return [column, h('span', { class: `cell ${column}`, role: 'columnheader' }, button)];
    }));
}
function sortOf({ column: sorted, isDescending }, column) {
    if (sorted !== column)
        return 'none';
    return isDescending ? 'descending' : 'ascending';
}
function rowElement(row) {
    if (row === undefined)
        return h('div', { class: 'row' });
    const { result, place } = row;
    const { checks, cost, arm, attempt } = result;
    const passed = checks.filter(({ status }) => status === 'passed').length;
    const about = result.name === result.case ? result.input.slice(0, 200) : result.name;
    const cell = (column, ...children) => h('span', { class: `cell ${column}`, role: 'gridcell' }, ...children);
    return h('a', { class: 'row', role: 'row', href: `#case:${String(place)}` }, cell('status', statusMark(result.status)), cell('case', h('b', {}, line(result.case)), h('span', { class: 'faint' }, line(about))), cell('tags', ...result.tags.slice(0, 3).map((tag) => h('span', { class: 'tag' }, line(tag)))), cell('arm', attempt > 1 ? `${arm} ${String(attempt)}` : arm), cell('checks', checks.length === 0 ? '' : `${String(passed)}/${String(checks.length)}`), cell('tokens', numberText(tokensOf(cost))), cell('time', durationText(cost.wallMs)));
}
function keyHelp() {
    const keys = [
        ['j', 'down'],
        ['k', 'up'],
        ['Enter', 'open'],
        ['/', 'filter'],
        ['Esc', 'back'],
    ];
    return h('p', { class: 'keys faint' }, list(keys, ([key, what]) => h('span', {}, h('kbd', {}, key), ` ${what}`)));
}
