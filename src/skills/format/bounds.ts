/**
 * Finds the end of the frontmatter in bytes, so that a scan reads and decodes no more than that. The fence rules are those of
 * `fences.ts`, which works on decoded text.
 */

/** Larger frontmatter is rejected, so a reader can stop here. */
export const MAX_FRONTMATTER_BYTES = 64 * 1024;

/** `end` is the offset just after the closing fence line, its line end included. `more`: call again with more bytes. */
export type FrontmatterBounds =
  | { readonly type: 'found'; readonly end: number }
  | { readonly type: 'more' }
  | { readonly type: 'none' }
  | { readonly type: 'unterminated' };

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const DASH = 0x2d;
const DOT = 0x2e;

/** Searches the first `length` bytes. `complete` means that they are the whole file. */
export function findFrontmatter(bytes: Uint8Array, length: number, complete: boolean): FrontmatterBounds {
  const size = Math.min(length, bytes.length);
  const opening = openingFence(bytes, size);
  const last = complete || size > MAX_FRONTMATTER_BYTES + 16;
  if (opening === 'more') return { type: last ? 'none' : 'more' };
  if (opening === 'none') return { type: 'none' };

  let line = bytes.indexOf(LINE_FEED, opening) + 1;
  while (line > 0 && line <= size) {
    const first = bytes[line];
    if (line < size && (first === DASH || first === DOT)) {
      const end = closingFenceEnd(bytes, line, size, complete);
      if (end !== undefined) return { type: 'found', end };
    }
    line = bytes.indexOf(LINE_FEED, line) + 1;
  }
  return { type: last ? 'unterminated' : 'more' };
}

/** Offset just after the three dashes that open the frontmatter. */
function openingFence(bytes: Uint8Array, size: number): number | 'none' | 'more' {
  if (size < 3) return 'more';
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (at < size && isBlank(bytes[at])) at += 1;
  for (let dashes = 0; dashes < 3; dashes += 1) {
    if (at + dashes >= size) return 'more';
    if (bytes[at + dashes] !== DASH) return 'none';
  }
  return at + 3;
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB;
}

/** The end of the line at `line` if it is a closing fence: three or more dashes, or three dots, and then only white space. */
function closingFenceEnd(bytes: Uint8Array, line: number, size: number, complete: boolean): number | undefined {
  const mark = bytes[line];
  let at = line;
  while (at < size && bytes[at] === mark) at += 1;
  const count = at - line;
  if (mark === DOT ? count !== 3 : count < 3) return undefined;
  while (at < size && (bytes[at] === SPACE || bytes[at] === TAB || bytes[at] === CARRIAGE_RETURN)) at += 1;
  if (at === size) return complete ? size : undefined;
  return bytes[at] === LINE_FEED ? at + 1 : undefined;
}
