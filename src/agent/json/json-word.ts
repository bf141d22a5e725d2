/** Numbers and the three words of JSON that lie whole in one piece of text, read without being cut out. */

const ZERO = 0x30;
const DOT = 0x2e;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
/** Numbers of so many digits are exact, and so are the powers of ten that they are divided by. */
const MAX_DIGITS = 15;
const POWERS = Array.from({ length: MAX_DIGITS + 1 }, (_, power) => 10 ** power);

/**
 * Reads a word that begins at a place, as long as it is plain: true, false, null, or a number without sign and exponent and of few
 * digits. Gives the place behind it, or -1 for all else, and where the piece ends with it: more may come. The value is kept here.
 */
export class PlainWord {
  value: unknown;

  read(piece: string, from: number, code: number): number {
    switch (code) {
      case LETTER_T:
        return this.#literal(piece, from, 'true', true);
      case LETTER_F:
        return this.#literal(piece, from, 'false', false);
      case LETTER_N:
        return this.#literal(piece, from, 'null', null);
      default:
        return this.#number(piece, from);
    }
  }

  #literal(piece: string, from: number, text: string, value: unknown): number {
    const end = from + text.length;
    if (!piece.startsWith(text, from) || end >= piece.length || isWordCode(piece.charCodeAt(end))) return -1;
    this.value = value;
    return end;
  }

  #number(piece: string, from: number): number {
    const most = Math.min(piece.length, from + MAX_DIGITS + 1);
    let at = from;
    let digits = 0;
    let digit = piece.charCodeAt(at) - ZERO;
    // A zero stands alone before the dot.
    const isZero = digit === 0;
    while (digit >= 0 && digit <= 9 && at < most) {
      digits = digits * 10 + digit;
      at += 1;
      digit = piece.charCodeAt(at) - ZERO;
    }
    if (at === from || (isZero && at > from + 1)) return -1;
    if (digit !== DOT - ZERO) return at - from > MAX_DIGITS ? -1 : this.#taken(piece, at, digits);
    const dot = at;
    at += 1;
    digit = piece.charCodeAt(at) - ZERO;
    while (digit >= 0 && digit <= 9 && at < most) {
      digits = digits * 10 + digit;
      at += 1;
      digit = piece.charCodeAt(at) - ZERO;
    }
    const decimals = at - dot - 1;
    // One exact number divided by another is what the text says, rounded once.
    const value = digits / (POWERS[decimals] ?? 1);
    return decimals === 0 || at - from - 1 > MAX_DIGITS ? -1 : this.#taken(piece, at, value);
  }

  #taken(piece: string, end: number, value: number): number {
    if (end >= piece.length || isWordCode(piece.charCodeAt(end))) return -1;
    this.value = value;
    return end;
  }
}

/** What numbers and the three words are made of, and what people write for others: NaN, Infinity, undefined, +1, 0x10. */
export function isWordCode(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    code === 0x2d ||
    code === 0x2e ||
    code === 0x2b ||
    code === 0x5f
  );
}
