/**
 * Characters in 32 classes: few enough that three of them are one small number, many enough that such a number tells most texts apart. Classes
 * up to `LAST_WORD_CLASS`, but 0, are those of the characters of words.
 */
export const LAST_WORD_CLASS = 27;

const SIGNS = ['-./', '<>#[', '"\'`'];

/** By code; what is not ASCII, and not here, is of class 0, with the blanks. */
export const CLASSES: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => classOf(code));

function classOf(code: number): number {
  if (code <= 0x20 || code > 0x7e) return 0;
  if (code >= 0x61 && code <= 0x7a) return code - 0x60;
  const character = String.fromCodePoint(code);
  if (/\w/.test(character)) return LAST_WORD_CLASS;
  const place = SIGNS.findIndex((signs) => signs.includes(character));
  return place === -1 ? 31 : LAST_WORD_CLASS + 1 + place;
}

/** The numbers of the three characters with which texts start; a shorter text may go on with any. */
export function* classTriples(texts: readonly string[]): Iterable<number> {
  for (const text of texts) {
    const known = text.slice(0, 3).split('');
    const open = 5 * (3 - known.length);
    const start = known.reduce((number, character) => (number << 5) | classOf(character.charCodeAt(0)), 0) << open;
    for (let rest = 0; rest < 1 << open; rest += 1) yield start + rest;
  }
}
