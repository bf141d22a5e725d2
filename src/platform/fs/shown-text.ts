import { cleanText, countText, findHidden } from '#core';

interface ShownText {
  readonly text: string;
  /** Says what was removed; empty if nothing was. */
  readonly notes: readonly string[];
}

const BYTE_ORDER_MARK = 0xfeff;
const LINE_ENDS: ReadonlySet<number> = new Set([0x0d, 0x2028, 0x2029]);

/** The bytes of a file as text for a model, without hidden characters. Line endings and a byte order mark are not counted as hidden. */
export function shownText(bytes: Buffer): ShownText {
  if (isPlainText(bytes)) return { text: bytes.toString('latin1'), notes: [] };
  const raw = bytes.toString('utf8');
  const source = raw.charCodeAt(0) === BYTE_ORDER_MARK ? raw.slice(1) : raw;
  const text = cleanText(source);
  const removed = text.length === source.length ? 0 : countHidden(source);
  const many = countText(removed, 'hidden or control character was', 'hidden or control characters were');
  return { text, notes: removed === 0 ? [] : [`${many} removed`] };
}

/** Whether every byte is visible ASCII, a tab or a line feed: such text needs no cleaning. */
export function isPlainText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x09);
}

function countHidden(text: string): number {
  let count = 0;
  for (let hidden = findHidden(text); hidden !== undefined;) {
    if (!LINE_ENDS.has(hidden.codePoint)) count += 1;
    // Skips both halves of a surrogate pair.
    hidden = findHidden(text, hidden.index + (hidden.codePoint > 0xffff ? 2 : 1));
  }
  return count;
}
