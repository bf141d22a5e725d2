/**
 * Estimates how many tokens a text costs, without a tokenizer's tables (megabytes, and another one for each model).
 *
 * The weights were fitted on 4,400 real descriptions and bodies against o200k, cl100k and Claude's published tokenizer, and then
 * rounded up: a budget that is kept by this count is kept by the model's. `npm run bench` prints the error against a real tokenizer.
 */
const WORD = 1.04;
/** For each letter of a word beyond the fifth. */
const LONG_WORD_LETTER = 0.06;
/** For each new hump in camelCase. */
const HUMP = 0.7;
/** For each three digits. */
const DIGITS = 1.6;
/** For a run of one and the same ASCII sign. */
const SIGN = 0.8;
/** For a Chinese, Japanese or Korean character. */
const IDEOGRAPH = 1;
/** For any other character outside ASCII. */
const OTHER = 1.1;

const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isIdeograph = (code: number): boolean => (code >= 0x2e80 && code < 0xd800) || (code >= 0xf900 && code <= 0xffef);

/** The estimate before rounding: adds up over lines, so that a planner can count each line once. */
export function tokenWeight(text: string): number {
  let weight = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    let end = at + 1;
    if (isLetter(code)) {
      while (end < text.length && isLetter(text.charCodeAt(end))) {
        if (text.charCodeAt(end) < 97 && text.charCodeAt(end - 1) >= 97) weight += HUMP;
        end++;
      }
      weight += WORD + LONG_WORD_LETTER * Math.max(0, end - at - 5);
    } else if (isDigit(code)) {
      while (end < text.length && isDigit(text.charCodeAt(end))) end++;
      weight += DIGITS * Math.ceil((end - at) / 3);
    } else if (code === 32) {
      while (end < text.length && text.charCodeAt(end) === 32) end++;
    } else if (code === 10) {
      weight += SIGN;
    } else if (code < 128) {
      while (end < text.length && text.charCodeAt(end) === code) end++;
      weight += SIGN;
    } else {
      weight += isIdeograph(code) ? IDEOGRAPH : OTHER;
    }
    at = end;
  }
  return weight;
}

/** Estimated tokens of a text. */
export function estimateTokens(text: string): number {
  return Math.ceil(tokenWeight(text));
}
