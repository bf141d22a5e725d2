/**
 * A list of rows of one height: only visible rows are in the document, so that ten thousand rows scroll smoothly. One row is in the tab
 * order; arrows, j and k, Home, End and the page keys move between rows.
 */
import type { ComponentChild, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import type { Chunks } from '../hooks.ts';
import { Problem } from './parts.tsx';

interface VirtualListProps {
  readonly count: number;
  readonly rowHeight: number;
  readonly label: string;
  readonly row: (index: number) => ComponentChild;
  /** Stays at the top. */
  readonly head?: ComponentChild;
  readonly onRange?: (first: number, last: number) => void;
  /** Keeps the end in view while rows are added, unless the user scrolled away. */
  readonly isTail?: boolean;
  /** The row that has the focus when the list appears. */
  readonly focused?: number;
  readonly class?: string;
}

const AROUND = 8;
const CONTROLS = 'a, button, input';
const MOVES: Readonly<Record<string, number>> = {
  j: 1,
  k: -1,
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
};

export function VirtualList(props: VirtualListProps): JSX.Element {
  const { count, rowHeight, label, row, onRange, head, focused, isTail = false } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const space = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const active = useRef(focused ?? 0);
  /** The row that gets the focus once it is in the document. */
  const focusTarget = useRef<number>(undefined);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const first = Math.max(0, Math.floor(top / rowHeight) - AROUND);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + AROUND);

  const move = (index: number): void => {
    const [element, rows] = [scroller.current, space.current];
    if (element === null || rows === null) return;
    active.current = Math.max(0, Math.min(count - 1, index));
    focusTarget.current = active.current;
    const room = element.clientHeight - rows.offsetTop;
    const start = active.current * rowHeight;
    if (start < element.scrollTop) element.scrollTop = start;
    else if (start + rowHeight > element.scrollTop + room) element.scrollTop = start + rowHeight - room;
    setTop(element.scrollTop);
    // Keys that come before the row is drawn must reach the list, although the row that had the focus may be gone by then.
    if (!focusWanted()) element.focus({ preventScroll: true });
  };
  const focusWanted = (): boolean => {
    const element = space.current?.querySelector<HTMLElement>(
      `[aria-posinset="${String((focusTarget.current ?? -2) + 1)}"] :is(a, button)`,
    );
    if (element === null || element === undefined) return false;
    focusTarget.current = undefined;
    element.focus({ preventScroll: true });
    return true;
  };
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const measure = (): void => setHeight(element.clientHeight);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    if (focused !== undefined) move(focused);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const isShown = active.current >= first && active.current < last;
    const inOrder = isShown ? active.current : Math.ceil(top / rowHeight);
    for (const element of space.current?.children ?? [])
      for (const control of element.querySelectorAll<HTMLElement>(CONTROLS))
        control.tabIndex = Number(element.getAttribute('aria-posinset')) - 1 === inOrder ? 0 : -1;
    focusWanted();
  });
  useLayoutEffect(() => {
    const enter = (event: KeyboardEvent): void => {
      if (event.target === document.body && (event.key === 'j' || event.key === 'k')) move(active.current);
    };
    document.addEventListener('keydown', enter);
    return () => document.removeEventListener('keydown', enter);
  });
  useEffect(() => {
    if (last > first) onRange?.(first, last - 1);
  }, [first, last, onRange]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (isTail && isAtEnd.current && element !== null) element.scrollTop = element.scrollHeight;
  }, [count, isTail]);
  const scrolled = (): void => {
    const element = scroller.current;
    if (element === null) return;
    isAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight;
    setTop(element.scrollTop);
  };
  const press = (event: KeyboardEvent): void => {
    const by = MOVES[event.key];
    // Rows without a control scroll as usual.
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey || isTypingText(event.target)) return;
    if (space.current?.querySelector(':is(a, button)') === null) return;
    event.preventDefault();
    const isEntering = event.target === scroller.current && focusTarget.current === undefined;
    move(isEntering ? active.current : active.current + by);
  };
  const rows = [];
  for (let index = first; index < last; index += 1)
    rows.push(
      <div
        key={index}
        role="listitem"
        aria-setsize={count}
        aria-posinset={index + 1}
        class="virtual-row"
        style={{ top: `${String(index * rowHeight)}px`, height: `${String(rowHeight)}px` }}
        onFocusCapture={() => void (active.current = index)}
      >
        {row(index)}
      </div>,
    );
  return (
    <div
      class={`virtual ${props.class ?? ''}`}
      style={{ maxHeight: `${String(count * rowHeight + (head === undefined ? 2 : 40))}px` }}
      ref={scroller}
      onScroll={scrolled}
      onKeyDown={press}
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      {head === undefined ? null : <div class="virtual-head">{head}</div>}
      <div role="list" class="virtual-space" ref={space} style={{ height: `${String(count * rowHeight)}px` }}>
        {rows}
      </div>
    </div>
  );
}

/** Keys that are letters do nothing while the user types. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement
  );
}

/** A checkbox in a row is no text. */
function isTypingText(target: EventTarget | null): boolean {
  return isTyping(target) && !(target instanceof HTMLInputElement && target.type === 'checkbox');
}

interface ChunkListProps<T> extends Omit<VirtualListProps, 'count' | 'onRange' | 'row' | 'head'> {
  readonly chunks: Chunks<T>;
  readonly row: (item: T) => ComponentChild;
  readonly rowClass: string;
  /** Shown instead of the list if there is nothing. */
  readonly empty?: ComponentChild;
}

export function ChunkList<T>({ chunks, row, rowClass, empty, ...list }: ChunkListProps<T>): JSX.Element {
  return (
    <>
      <Problem error={chunks.error} />
      {chunks.isLoaded && chunks.total === 0 && empty !== undefined ? (
        empty
      ) : (
        <VirtualList
          {...list}
          count={chunks.total}
          onRange={chunks.want}
          row={(index) => {
            const item = chunks.item(index);
            return item === undefined ? <div class={`${rowClass} placeholder`} aria-hidden="true" /> : row(item);
          }}
        />
      )}
    </>
  );
}
