/** The table of results, with filters, sorting and keyboard control. */
import { amountText, numberText, tokensOf } from '../../report/report-text.ts';
import { CASE_STATUSES } from '../../report/result.ts';
import type { CaseResult, CaseStatus } from '../../report/result.ts';
import { durationText } from '../../../core/text/line-text.ts';
import type { PageData } from '../view.ts';
import { h, line, list } from './dom.ts';
import { statusMark } from './marks.ts';
import { rowList } from './row-list.ts';
import { COLUMNS, EVERYTHING, rowsOf, selected } from './select.ts';
import type { Column, Row, Selection } from './select.ts';

export interface CasesView {
  readonly element: HTMLElement;
  readonly filter: HTMLInputElement;
  /** Indexes of results in table order. */
  readonly places: () => readonly number[];
  /** Moves the focus by a number of rows, or into the table. */
  readonly move: (by: number) => void;
  readonly activate: (place: number) => void;
  readonly active: () => number | undefined;
  readonly hasFocus: () => boolean;
  readonly choose: (statuses: readonly CaseStatus[]) => void;
  /** Call after the element was inserted into the document. */
  readonly draw: () => void;
}

const LABELS = {
  status: 'Status',
  case: 'Case',
  tags: 'Tags',
  arm: 'Arm',
  checks: 'Checks',
  tokens: 'Tokens',
  time: 'Time',
} as const satisfies Record<Column, string>;

export function casesView({ report }: PageData): CasesView {
  const rows = rowsOf(report.results);
  let selection: Selection = EVERYTHING;
  let shown = selected(rows, selection);
  const bar = filterBar(report.results, change);
  const heads = headCells((column) => {
    const isSame = selection.column === column;
    // Ascending, then descending, then the order of the suite.
    change(isSame && selection.isDescending ? { column: '', isDescending: false } : { column, isDescending: isSame });
  });
  const head = h('div', { class: 'row head', role: 'row' }, ...heads.values());
  const table = rowList(head, (index) => rowElement(shown[index]));
  const grid = h(
    'div',
    { class: 'grid', role: 'grid', 'aria-label': 'Results', 'aria-rowcount': rows.length + 1 },
    table.element,
  );

  function change(next: Partial<Selection>): void {
    selection = { ...selection, ...next };
    shown = selected(rows, selection);
    table.reset(shown.length);
    bar.show(selection, shown.length);
    for (const [column, cell] of heads) cell.setAttribute('aria-sort', sortOf(selection, column));
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
      table.activate(
        Math.max(
          0,
          shown.findIndex((row) => row.place === place),
        ),
      );
    },
    active: () => shown[table.active()]?.place,
    hasFocus: table.hasFocus,
    choose(statuses) {
      change({ ...EVERYTHING, statuses });
    },
    draw: table.draw,
  };
}

interface FilterBar {
  readonly element: HTMLElement;
  readonly filter: HTMLInputElement;
  readonly show: (selection: Selection, count: number) => void;
}

function filterBar(results: readonly CaseResult[], change: (next: Partial<Selection>) => void): FilterBar {
  const all = results.length;
  const many = (status: CaseStatus): number => results.filter((result) => result.status === status).length;
  let pressed: readonly CaseStatus[] = [];
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
    button: chip(status, many(status), () => {
      change({ statuses: pressed.includes(status) ? pressed.filter((one) => one !== status) : [...pressed, status] });
    }),
  }));
  const names = [...new Set(results.flatMap(({ tags }) => tags))].toSorted();
  const tagList = h(
    'select',
    {
      'aria-label': 'Tag',
      change: () => {
        change({ tag: tagList.value });
      },
    },
    h('option', { value: '' }, 'all tags'),
    list(names, (tag) => h('option', { value: tag }, line(tag))),
  );
  const counter = h('span', { class: 'faint', role: 'status' });
  const buttons = h('span.chips', ...chips.map(({ button }) => button));
  return {
    element: h('div.filters', filter, buttons, names.length === 0 ? undefined : tagList, counter),
    filter,
    show({ text, statuses, tag }, count) {
      pressed = statuses;
      if (filter.value !== text) filter.value = text;
      tagList.value = tag;
      counter.textContent = `${count === all ? '' : `${numberText(count)} of `}${amountText(all, 'result')}`;
      for (const { status, button } of chips) button.setAttribute('aria-pressed', String(statuses.includes(status)));
    },
  };
}

function chip(status: CaseStatus, count: number, click: () => void): HTMLButtonElement {
  const attributes = { type: 'button', class: `chip ${status}`, 'aria-pressed': 'false', disabled: count === 0, click };
  return h('button', attributes, statusMark(status), ` ${numberText(count)}`);
}

function headCells(sort: (column: Column) => void): ReadonlyMap<Column, HTMLElement> {
  return new Map(
    COLUMNS.map((column) => {
      const click = (): void => {
        sort(column);
      };
      const button = h('button', { type: 'button', click }, LABELS[column]);
      return [column, h('span', { class: `cell ${column}`, role: 'columnheader' }, button)];
    }),
  );
}

function sortOf({ column: sorted, isDescending }: Selection, column: Column): string {
  if (sorted !== column) return 'none';
  return isDescending ? 'descending' : 'ascending';
}

function rowElement(row: Row | undefined): HTMLElement {
  if (row === undefined) return h('div.row');
  const { result, place } = row;
  const { checks, cost, arm, attempt } = result;
  const passed = checks.filter(({ status }) => status === 'passed').length;
  const about = result.name === result.case ? result.input.slice(0, 200) : result.name;
  const cell = (column: Column, ...children: readonly (Node | string)[]): HTMLElement =>
    h('span', { class: `cell ${column}`, role: 'gridcell' }, ...children);
  return h(
    'a',
    { class: 'row', role: 'row', href: `#case:${String(place)}` },
    cell('status', statusMark(result.status)),
    cell('case', h('b', line(result.case)), h('span.faint', line(about))),
    cell('tags', ...result.tags.slice(0, 3).map((tag) => h('span.tag', line(tag)))),
    cell(
      'arm',
      `${arm}${attempt > 1 ? ` ${String(attempt)}` : ''}${result.isHarnessCheck === true ? ', harness' : ''}`,
    ),
    cell('checks', checks.length === 0 ? '' : `${String(passed)}/${String(checks.length)}`),
    cell('tokens', numberText(tokensOf(cost))),
    cell('time', durationText(cost.wallMs)),
  );
}

function keyHelp(): HTMLElement {
  const keys = [
    ['j', 'down'],
    ['k', 'up'],
    ['Enter', 'open'],
    ['/', 'filter'],
    ['Esc', 'back'],
  ] as const;
  return h(
    'p',
    { class: 'keys faint' },
    list(keys, ([key, what]) => h('span', h('kbd', key), ` ${what}`)),
  );
}
