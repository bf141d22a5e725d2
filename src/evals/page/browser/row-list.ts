/** A virtual list: only visible rows are in the document, so that thousands of rows stay fast. */
import { h, list, styled } from './dom.ts';

export interface RowList {
  readonly element: HTMLElement;
  /** Sets the number of rows and scrolls to the first. */
  readonly reset: (count: number) => void;
  readonly draw: () => void;
  readonly active: () => number;
  /** Focuses a row and scrolls to it. */
  readonly activate: (index: number) => void;
  readonly hasFocus: () => boolean;
}

/** Narrow windows use two lines per row. */
const ROW_HEIGHTS = { wide: 34, narrow: 46 } as const;
const NARROW = '(max-width: 760px)';
/** Extra rows above and below the visible ones. */
const AROUND = 10;

export function rowList(head: HTMLElement, makeRow: (index: number) => HTMLElement): RowList {
  let [count, active] = [0, 0];
  const space = h('div', { class: 'rows', role: 'rowgroup' });
  const scroller = h('div', { class: 'scroller', tabindex: -1, scroll: draw }, head, space);

  function draw(): void {
    const height = rowHeight();
    const first = Math.max(0, Math.floor(scroller.scrollTop / height) - AROUND);
    const last = Math.min(count, first + Math.ceil((scroller.clientHeight || 800) / height) + 2 * AROUND);
    const isFocused = hasFocus();
    styled(space, { height: `${String(count * height)}px`, '--row-height': `${String(height)}px` });
    const indexes = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
    space.replaceChildren(list(indexes, (index) => placed(makeRow(index), index, height)));
    if (count === 0) space.append(h('p', { class: 'empty faint' }, 'No case matches the filter.'));
    markActive();
    if (isFocused) focusActive();
  }
  function placed(row: HTMLElement, index: number, height: number): HTMLElement {
    row.dataset['index'] = String(index);
    row.setAttribute('aria-rowindex', String(index + 2));
    row.addEventListener('focus', () => {
      active = index;
      markActive();
    });
    return styled(row, { top: `${String(index * height)}px` });
  }
  function markActive(): void {
    for (const row of space.querySelectorAll<HTMLElement>('.row')) {
      const isActive = row.dataset['index'] === String(active);
      row.classList.toggle('active', isActive);
      row.tabIndex = isActive ? 0 : -1;
    }
  }
  function focusActive(): void {
    space.querySelector<HTMLElement>(`[data-index="${String(active)}"]`)?.focus({ preventScroll: true });
  }
  function hasFocus(): boolean {
    return space.contains(document.activeElement);
  }
  function activate(index: number): void {
    active = Math.max(0, Math.min(count - 1, index));
    const height = rowHeight();
    const [top, room] = [active * height, scroller.clientHeight - head.offsetHeight];
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + height > scroller.scrollTop + room) scroller.scrollTop = top + height - room;
    draw();
    focusActive();
  }
  return {
    element: scroller,
    reset(next) {
      [count, active] = [next, 0];
      scroller.scrollTop = 0;
      draw();
    },
    draw,
    active: () => active,
    activate,
    hasFocus,
  };
}

function rowHeight(): number {
  return matchMedia(NARROW).matches ? ROW_HEIGHTS.narrow : ROW_HEIGHTS.wide;
}
