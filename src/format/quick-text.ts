/** Keys and values as the quick reader takes them. */
import type { ScalarNode } from './node.ts';
import { DOUBLE_QUOTE, SINGLE_QUOTE, SPACE, isPlainStart } from './scalars.ts';
import { cleanText } from '../core/text/text.ts';

export const PLAIN_KEY = /^[A-Za-z_][\w-]*$/;
const TILDE = 0x7e;
/** A colon that ends a key, or a comment. */
const ODD_IN_PLAIN = /: |:$| #/;

/** What a value on one line says, where it is plain or in quotes without escapes, and nothing follows it. */
export function textOf(line: string): string | undefined {
  const first = line.charCodeAt(0);
  if (first === DOUBLE_QUOTE) {
    const end = line.length - 1;
    return end > 0 && line.indexOf('"', 1) === end && !line.includes('\\') ? line.slice(1, end) : undefined;
  }
  if (first === SINGLE_QUOTE) {
    const end = line.length - 1;
    return end > 0 && line.indexOf("'", 1) === end ? line.slice(1, end) : undefined;
  }
  const small = first | 0x20;
  const isWord = (small >= 0x61 && small <= 0x7a) || (first >= 0x30 && first <= 0x39) || first > 0x7f;
  if (!(isWord || (first !== TILDE && isPlainStart(line, 0))) || line.charCodeAt(line.length - 1) === SPACE)
    return undefined;
  if ((line.includes(':') || line.includes('#')) && ODD_IN_PLAIN.test(line)) return undefined;
  return line.length === 4 && NULL.test(line) ? undefined : line;
}

const NULL = /^(?:[nN]ull|NULL)$/;

/** What a value shows to a model; nothing outside of escapes is hidden here. */
export function shownText({ value, style }: ScalarNode): string {
  return style === 'double' ? cleanText(value) : value;
}
