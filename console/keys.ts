/** Moves from a search field to its results. */
export function focusList(): void {
  document.querySelector<HTMLElement>('.virtual-row :is(a, button)')?.focus();
}

/** Keys that are letters do nothing while the user types. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement
  );
}
