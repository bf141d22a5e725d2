/** How many columns of a terminal a text takes: East Asian wide characters and emoji take two. Controls must be gone already. */
import { codePointAt } from './code-point.ts';

export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(codePointAt(character, 0));
  return width;
}

/** Cuts a text to a number of columns, with an ellipsis where something was cut. */
export function fitText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let width = 1;
  let fitted = '';
  for (const character of text) {
    width += characterWidth(codePointAt(character, 0));
    if (width > columns) break;
    fitted += character;
  }
  return `${fitted.trimEnd()}…`;
}

export function padText(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)));
}

const WIDE: readonly (readonly [from: number, to: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
];

function characterWidth(code: number): number {
  if (code < 0x300) return 1;
  if ((code >= 0x300 && code <= 0x36f) || code === 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) return 0;
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}
