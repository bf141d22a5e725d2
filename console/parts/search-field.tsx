/** A field that searches while you type. `/` moves to it; Escape clears it, then leaves it. */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import { isTyping } from './virtual-list.tsx';

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly change: (value: string) => void;
  readonly isFocused?: boolean;
}

export function SearchField({ label, value, change, isFocused = false }: SearchFieldProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isFocused) field.current?.focus();
  }, [isFocused]);
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      field.current?.select();
      field.current?.focus();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  const leave = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' || event.key === 'ArrowDown')
      document.querySelector<HTMLElement>('.virtual-row :is(a, button)')?.focus();
    else if (event.key !== 'Escape') return;
    else if (value === '') field.current?.blur();
    else change('');
    event.preventDefault();
  };
  return (
    <input
      type="search"
      ref={field}
      value={value}
      placeholder={label}
      aria-label={label}
      onInput={({ currentTarget }) => change(currentTarget.value)}
      onKeyDown={leave}
    />
  );
}
