/** Column widths of text on a terminal: wide characters and emoji take two columns. Control characters must be escaped before. */
import stringWidth from 'fast-string-width';

const BEYOND_ASCII = /[^\x20-\x7e]/;

export function textWidth(text: string): number {
  return BEYOND_ASCII.test(text) ? stringWidth(text) : text.length;
}

/** Truncates a text to a number of columns and marks the cut with an ellipsis. Never cuts inside a grapheme. */
export function fitText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let width = 1;
  let fitted = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += textWidth(segment);
    if (width > columns) break;
    fitted += segment;
  }
  return `${fitted.trimEnd()}…`;
}

export function padText(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)));
}
