import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { t } from '../language.ts';

/** Content that is shown up to a height, so that what follows stays in reach; a button shows all of it. */
export function Folded({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isTall, setTall] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    const content = element?.firstElementChild;
    if (element === null || content === null || content === undefined) return undefined;
    const measure = (): void => setTall(isOpen || element.scrollHeight > element.clientHeight + 1);
    const observer = new ResizeObserver(measure);
    observer.observe(content);
    return () => observer.disconnect();
  }, [isOpen]);
  return (
    <>
      <div class={isOpen ? undefined : `folded${isTall ? ' tall' : ''}`} ref={box}>
        {children}
      </div>
      {isTall ? (
        <button type="button" class="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t('Show less') : t('Show all')}
        </button>
      ) : null}
    </>
  );
}
