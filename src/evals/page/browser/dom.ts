/** Creates elements. Text is always inserted as text, never as markup. */
import { printable } from '../../../core/text/text.ts';

export type Child = Node | string | undefined;
type Value = string | number | boolean | undefined | ((event: Event) => void);
export type Attributes = Readonly<Record<string, Value>>;
type TagOf<T extends string> = T extends `${infer Name}.${string}` ? Name : T;

/** Takes a tag with an optional class, as in `p.faint`, then optional attributes, then children. */
export function h<T extends string>(
  tag: T,
  ...rest: readonly (Attributes | Child)[]
): TagOf<T> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[TagOf<T>] : never;
export function h(tag: string, ...rest: readonly (Attributes | Child)[]): HTMLElement {
  const [name = '', className] = tag.split('.');
  const [first] = rest;
  const attributes = isAttributes(first) ? first : {};
  const children = rest.flatMap((child) => (isAttributes(child) ? [] : [child]));
  return filled(document.createElement(name), { class: className, ...attributes }, children);
}

function isAttributes(value: Attributes | Child): value is Attributes {
  return typeof value === 'object' && !(value instanceof Node);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes,
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

/** The content security policy forbids style attributes, but not properties set by the script. */
export function styled<E extends HTMLElement | SVGElement>(element: E, styles: Readonly<Record<string, string>>): E {
  for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value);
  return element;
}

export function list<T>(items: readonly T[], make: (item: T, place: number) => Node): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const [place, item] of items.entries()) fragment.append(make(item, place));
  return fragment;
}

/** Escapes invisible and direction-changing characters in untrusted text of several lines. */
export function visible(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n');
}

/** Like `visible`, for one line. */
export function line(text: string): string {
  return printable(text);
}
