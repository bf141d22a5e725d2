import { codePointAt } from '../../core/text/code-point.ts';
import { printable } from '../../core/text/text.ts';

/** Letters of any script, digits and harmless signs stay; everything that Markdown, a table or HTML could read is a numbered entity. */
const ACTIVE = /[^\p{L}\p{M}\p{N} ,;/…%]/gu;

/**
 * A stranger's text as one piece of inline Markdown that shows itself and does nothing: no markup, no table cell of its own, no link, no
 * mention, no issue number. Entities are used and not backslashes, because a host's autolinks do not look at backslashes.
 */
export function markdownText(text: string, limit: number): string {
  const line = printable(text.length > limit * 4 ? text.slice(0, limit * 4) : text).trim();
  const cut = [...line].slice(0, limit).join('');
  const shown = cut.length < line.length ? `${cut}…` : cut;
  return shown.replaceAll(ACTIVE, (character) => `&#${String(codePointAt(character, 0))};`);
}
