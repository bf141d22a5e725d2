/** Not `util.styleText`: on some Node versions it ignores the given text and inspects the streams of the process. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  strike: [9, 29],
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof CODES;

export function styled(style: Style, text: string): string {
  const [start, end] = CODES[style];
  return `\u001B[${String(start)}m${text}\u001B[${String(end)}m`;
}

const ENDS: ReadonlyMap<number, number> = new Map(Object.values(CODES));
const CODE = /\u001B\[(\d+)m/g;

/** Ends the styles at the end of each line and starts them again on the next, so that each line can be printed on its own. */
export function closeStyles(lines: readonly string[]): readonly string[] {
  let open: readonly number[] = [];
  return lines.map((line) => {
    const before = open;
    for (const [, digits] of line.matchAll(CODE)) {
      const code = Number(digits);
      open = ENDS.has(code) ? [...open, code] : open.filter((one) => ENDS.get(one) !== code);
    }
    const ends = open.map((one) => ENDS.get(one) ?? 0).toReversed();
    return [...before.map(codeText), line, ...ends.map(codeText)].join('');
  });
}

function codeText(code: number): string {
  return `\u001B[${String(code)}m`;
}
