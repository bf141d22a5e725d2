/** The fences in decoded text; the same rules as `bounds.ts` has for bytes. */

export interface Fences {
  /** Offset of the first dash of the opening fence. */
  readonly open: number;
  /** What stands after the three dashes on the opening line, trailing white space included, the line end not. */
  readonly openRest: string;
  /** First character after the opening line. */
  readonly start: number;
  /** First character of the closing fence line. */
  readonly close: number;
  /** The closing line without its line end. */
  readonly closeLine: string;
  /** Just after the closing line, its line end included. */
  readonly end: number;
}

export type FenceReading =
  | { readonly type: 'found'; readonly fences: Fences }
  | { readonly type: 'none'; readonly at: number }
  | { readonly type: 'unterminated'; readonly open: number; readonly start: number };

const BYTE_ORDER_MARK = 0xfeff;

/** Finds both fences. An opening fence may have a byte order mark, blank lines or spaces before it; all of that is reported later. */
export function findFences(text: string): FenceReading {
  let open = text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0;
  while (isBlank(text.charCodeAt(open))) open += 1;
  if (!text.startsWith('---', open)) return { type: 'none', at: open };

  const openEnd = lineEnd(text, open);
  const openRest = text.slice(open + 3, openEnd.content);
  if (openEnd.next === undefined) return { type: 'unterminated', open, start: openEnd.content };

  const start = openEnd.next;
  let line: number | undefined = start;
  while (line !== undefined) {
    const first = text.charCodeAt(line);
    if ((first === 0x2d || first === 0x2e) && isClosingFence(text, line)) {
      const { content, next } = lineEnd(text, line);
      return {
        type: 'found',
        fences: { open, openRest, start, close: line, closeLine: text.slice(line, content), end: next ?? text.length },
      };
    }
    line = lineEnd(text, line).next;
  }
  return { type: 'unterminated', open, start };
}

/** Where the line's text ends and where the next line starts. */
export function lineEnd(text: string, from: number): { readonly content: number; readonly next: number | undefined } {
  const feed = text.indexOf('\n', from);
  if (feed === -1) return { content: text.length, next: undefined };
  return { content: feed > from && text.charCodeAt(feed - 1) === 0x0d ? feed - 1 : feed, next: feed + 1 };
}

function isClosingFence(text: string, line: number): boolean {
  const mark = text.charCodeAt(line);
  let at = line;
  while (text.charCodeAt(at) === mark) at += 1;
  if (mark === 0x2e ? at - line !== 3 : at - line < 3) return false;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === 0x0a || Number.isNaN(unit)) return true;
    if (unit !== 0x20 && unit !== 0x09 && unit !== 0x0d) return false;
    at += 1;
  }
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}
