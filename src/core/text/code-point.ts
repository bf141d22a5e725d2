/**
 * The code point at an index; a lone surrogate is returned as is, and 0 behind the end. `String.prototype.codePointAt` is not used, because
 * in Node 24 (V8 13.6) its optimized code reads behind the end of a sliced string and completes a lone surrogate from there.
 */
export function codePointAt(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (Number.isNaN(first)) return 0;
  const second = isHigh(first) ? text.charCodeAt(at + 1) : 0;
  return isLow(second) ? (first - 0xd800) * 0x400 + (second - 0xdc00) + 0x1_00_00 : first;
}

/** Whether a UTF-16 unit is a high surrogate. */
export function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

export function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** At most the first `limit` UTF-16 units, without half of a surrogate pair at the cut. */
export function sliceStart(text: string, limit: number): string {
  return text.slice(0, boundary(text, Math.max(0, limit)));
}

/** At most the last `limit` UTF-16 units, without half of a surrogate pair at the cut. */
export function sliceEnd(text: string, limit: number): string {
  const at = Math.max(0, text.length - Math.max(0, limit));
  return text.slice(boundary(text, at) === at ? at : at + 1);
}

function boundary(text: string, at: number): number {
  return isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1)) ? at - 1 : at;
}
/** The length without an incomplete character at the end. */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
