/** Elements that several views share. */
import { percentText, rateText } from '../../report/report-text.ts';
import { CASE_STATUSES } from '../../report/result.ts';
import type { CaseStatus, Rate } from '../../report/result.ts';
import { h, line, list, styled } from './dom.ts';
import type { Attributes } from './dom.ts';

const SIGNS = { passed: '✓', failed: '✕', error: '!', skipped: '–' } as const satisfies Record<CaseStatus, string>;

/** Shows a sign and a word, not only a color. */
export function statusMark(status: CaseStatus): HTMLElement {
  return h(
    'span',
    { class: `status ${status}` },
    h('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[status]),
    status,
  );
}

/** Draws a rate between 0 and 100 %: the interval as a band, the rate as a tick. */
export function rateBar(rate: Rate): HTMLElement {
  const bar = h('span', { class: 'rate-bar', role: 'img', 'aria-label': rateText(rate) });
  if (rate.of === 0) return bar;
  bar.append(
    styled(h('span.band'), { left: part(rate.low), width: part(rate.high - rate.low) }),
    styled(h('span.tick'), { left: part(rate.count / rate.of) }),
  );
  return bar;
}

export function rateCell(rate: Rate): HTMLElement {
  if (rate.of === 0) return h('span.faint', 'none');
  return h(
    'span',
    { class: 'rate', title: rateText(rate) },
    h('b', percentText(rate.count / rate.of)),
    rateBar(rate),
    h('span.faint', `${percentText(rate.low).replace(' %', '')}–${percentText(rate.high)}`),
  );
}

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
  return h('section', h('h2', title), ...children);
}

/** A table in a box that scrolls horizontally by itself. */
export function table(
  label: string,
  heads: readonly string[],
  rows: readonly HTMLElement[],
  attributes: Attributes = {},
): HTMLElement {
  const head = h('thead', h('tr', ...heads.map((text) => h('th', { scope: 'col' }, text))));
  return tableBox(label, h('table', attributes, head, h('tbody', ...rows)));
}

export function tableBox(label: string, element: HTMLTableElement): HTMLElement {
  return h('div.table-box', { role: 'region', 'aria-label': label, tabindex: 0 }, element);
}

export function factList(facts: readonly (readonly [string, string])[], className = 'facts'): HTMLElement {
  return h('dl', { class: className }, ...facts.map(([label, value]) => h('div', h('dt', label), h('dd', value))));
}

/** The start of a digest, enough to tell two apart. */
export function shortDigest(digest: string): string {
  return digest === '' ? 'absent' : line(digest.replace(/([0-9a-f]{12})[0-9a-f]+$/, '$1'));
}
