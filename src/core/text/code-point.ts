/**
 * The character at a place; a half that stands alone is itself, and 0 stands behind the end. Not `codePointAt` of strings: that of Node 24
 * (V8 13.6), once compiled, looks behind the end of a text that is a piece of a longer one, and takes the other half from there. Texts that
 * were cut in the middle of a character must not pass for whole ones.
 */
export function codePointAt(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first < 0xd800 || first > 0xdbff) return first;
  const second = text.charCodeAt(at + 1);
  if (second >= 0xdc00 && second <= 0xdfff) return (first - 0xd800) * 0x400 + (second - 0xdc00) + 0x1_00_00;
  return Number.isNaN(first) ? 0 : first;
}
