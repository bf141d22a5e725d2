/** Small pictures of numbers, used by several views. */
import { percentText, rateText } from '../../report/report-text.ts';
import { CASE_STATUSES } from '../../report/result.ts';
import type { CaseStatus, Rate } from '../../report/result.ts';
import { h, list, styled } from './dom.ts';

const SIGNS = { passed: '✓', failed: '✕', error: '!', skipped: '–' } as const satisfies Record<CaseStatus, string>;

/** Told by a sign and a word, not by a colour alone. */
export function statusMark(status: CaseStatus): HTMLElement {
  return h(
    'span',
    { class: `status ${status}` },
    h('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[status]),
    status,
  );
}

/** A rate as a line from 0 to 100 %: the interval is a band, the rate a tick. */
export function rateBar(rate: Rate): HTMLElement {
  const bar = h('span', { class: 'rate-bar', role: 'img', 'aria-label': rateText(rate) });
  if (rate.of === 0) return bar;
  bar.append(
    styled(h('span', { class: 'band' }), { left: part(rate.low), width: part(rate.high - rate.low) }),
    styled(h('span', { class: 'tick' }), { left: part(rate.count / rate.of) }),
  );
  return bar;
}

export function rateCell(rate: Rate): HTMLElement {
  if (rate.of === 0) return h('span', { class: 'faint' }, 'none');
  return h(
    'span',
    { class: 'rate', title: rateText(rate) },
    h('b', {}, percentText(rate.count / rate.of)),
    rateBar(rate),
    h('span', { class: 'faint' }, `${percentText(rate.low).replace(' %', '')}–${percentText(rate.high)}`),
  );
}

/** Counts of outcomes side by side. */
export function statusBar(counts: Readonly<Record<CaseStatus, number>>): HTMLElement {
  const all = CASE_STATUSES.reduce((total, status) => total + counts[status], 0);
  const label = CASE_STATUSES.map((status) => `${String(counts[status])} ${status}`).join(', ');
  return h(
    'span',
    { class: 'status-bar', role: 'img', 'aria-label': label, title: label },
    list(
      CASE_STATUSES.filter((status) => counts[status] > 0),
      (status) => styled(h('span', { class: status }), { width: part(counts[status] / all) }),
    ),
  );
}

export function part(value: number): string {
  return `${String(Math.max(0, Math.min(1, Number.isFinite(value) ? value : 0)) * 100)}%`;
}

export function section(title: string, ...children: readonly (Node | undefined)[]): HTMLElement {
  return h('section', {}, h('h2', {}, title), ...children);
}

/** Wide tables scroll by themselves; the page does not. */
export function tableBox(label: string, table: HTMLTableElement): HTMLElement {
  return h('div', { class: 'table-box', role: 'region', 'aria-label': label, tabindex: 0 }, table);
}

export function headRow(...labels: readonly string[]): HTMLElement {
  return h(
    'thead',
    {},
    h(
      'tr',
      {},
      list(labels, (label) => h('th', { scope: 'col' }, label)),
    ),
  );
}
