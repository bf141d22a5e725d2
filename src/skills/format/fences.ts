/** Finds the fences in decoded text; `bounds.ts` applies the same rules to bytes. */

export interface Fences {
  /** Offset of the first dash of the opening fence. */
  readonly open: number;
  /** The rest of the opening line after the dashes, without the line end. */
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

/** A byte order mark, blank lines and spaces may precede the opening fence; `checks.ts` reports them. */
const OPENING = /^\uFEFF?[ \t\r\n]*---/;
/** Three or more dashes or exactly three dots, alone on a line. The search starts at the line feed before the line. */
const CLOSING = /\n(-{3,}|\.{3})[ \t\r]*(?:\n|$)/g;

/** Finds the opening and the closing fence. */
export function findFences(text: string): FenceReading {
  const opening = OPENING.exec(text);
  if (opening === null) return { type: 'none', at: /^\uFEFF?[ \t\r\n]*/.exec(text)?.[0].length ?? 0 };
  const open = opening[0].length - 3;
  const feed = text.indexOf('\n', open);
  if (feed === -1) return { type: 'unterminated', open, start: text.length };
  const openRest = text.slice(open + 3, endOfContent(text, open + 3, feed));
  CLOSING.lastIndex = feed;
  const closing = CLOSING.exec(text);
  if (closing === null) return { type: 'unterminated', open, start: feed + 1 };
  const close = closing.index + 1;
  const end = CLOSING.lastIndex;
  const closeLine = text.slice(close, text.endsWith('\n', end) ? endOfContent(text, close, end - 1) : end);
  return { type: 'found', fences: { open, openRest, start: feed + 1, close, closeLine, end } };
}

/** The end of a line without the CR of a CR LF. */
function endOfContent(text: string, start: number, feed: number): number {
  return feed > start && text.charCodeAt(feed - 1) === 0x0d ? feed - 1 : feed;
}
