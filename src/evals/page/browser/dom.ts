/** Making elements. Text goes in as text, never as markup. */
import { printable } from '../../../core/text/text.ts';

export type Child = Node | string | undefined;
type Value = string | number | boolean | undefined | ((event: Event) => void);
export type Attributes = Readonly<Record<string, Value>>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function filled<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

/** The policy of the page forbids style attributes; properties set by the script are allowed. */
export function styled<E extends HTMLElement | SVGElement>(element: E, styles: Readonly<Record<string, string>>): E {
  for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value);
  return element;
}

export function list<T>(items: readonly T[], make: (item: T, place: number) => Node): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const [place, item] of items.entries()) fragment.append(make(item, place));
  return fragment;
}

/** A stranger's text of several lines: what would hide or change the direction of reading is written out. */
export function visible(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n');
}

/** The same on one line. */
export function line(text: string): string {
  return printable(text);
}
