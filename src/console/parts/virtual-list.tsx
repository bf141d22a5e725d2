/** A list of rows of one height: only visible rows are in the document, so that ten thousand rows scroll smoothly. */
import type { ComponentChild, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface VirtualListProps {
  readonly count: number;
  readonly rowHeight: number;
  readonly label: string;
  readonly row: (index: number) => ComponentChild;
  /** Called with the range of rows that are in the document. */
  readonly onRange?: (first: number, last: number) => void;
  /** Keeps the end in view while rows are added, unless the user scrolled away. */
  readonly isTail?: boolean;
  readonly class?: string;
}

const AROUND = 8;

export function VirtualList(props: VirtualListProps): JSX.Element {
  const { count, rowHeight, label, row, onRange, isTail = false } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const first = Math.max(0, Math.floor(top / rowHeight) - AROUND);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + AROUND);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const measure = (): void => setHeight(element.clientHeight);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
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
      >
        {row(index)}
      </div>,
    );
  return (
    <div
      class={`virtual ${props.class ?? ''}`}
      style={{ maxHeight: `${String(count * rowHeight + 2)}px` }}
      ref={scroller}
      onScroll={scrolled}
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      <div role="list" class="virtual-space" style={{ height: `${String(count * rowHeight)}px` }}>
        {rows}
      </div>
    </div>
  );
}
