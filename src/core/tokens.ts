/**
 * Estimates tokens without a tokenizer's tables, which take megabytes and differ per model.
 *
 * The weights were fitted on 4,400 real descriptions and bodies against o200k, cl100k and Claude's published tokenizer, and rounded up, so
 * that a budget kept by this estimate is kept by the model. `npm run bench` prints the error against a real tokenizer.
 */
const WORD = 1.04;
/** Per letter beyond the fifth. */
const LONG_WORD_LETTER = 0.06;
/** Per capital inside a camelCase word. */
const HUMP = 0.7;
/** Per three digits. */
const DIGITS = 1.6;
/** Per run of one ASCII symbol. */
const SIGN = 0.8;
/** The same next to a double quote: tokenizers have one token for `":"`, `","` and `{"`, of which JSON mostly consists. */
const QUOTED_SIGN = 0.3;
/** Per Chinese, Japanese or Korean character. */
const IDEOGRAPH = 1;
/** Per other non-ASCII character. */
const OTHER = 1.1;

/** Character classes of ASCII; 0 for symbols. */
const SMALL = 1;
const LARGE = 2;
const DIGIT = 3;
const BLANK = 4;
const KINDS = Uint8Array.from({ length: 128 }, (_, code) =>
  code >= 97 && code <= 122
    ? SMALL
    : code >= 65 && code <= 90
      ? LARGE
      : code >= 48 && code <= 57
        ? DIGIT
        : code === 32
          ? BLANK
          : 0,
);
const NEW_LINE = 10;
const QUOTE = 34;

const isIdeograph = (code: number): boolean => (code >= 0x2e80 && code < 0xd800) || (code >= 0xf900 && code <= 0xffef);

/** The estimate before rounding. It is additive over lines, so that a planner can weigh each line once. */
export function tokenWeight(text: string): number {
  const { length } = text;
  let weight = 0;
  let at = 0;
  let code = length === 0 ? 0 : text.charCodeAt(0);
  while (at < length) {
    const first = code;
    const start = at;
    const kind = first < 128 ? KINDS[first] : undefined;
    at += 1;
    code = text.charCodeAt(at);
    if (kind === SMALL || kind === LARGE) {
      let before: number | undefined = kind;
      while (code < 128) {
        const next = KINDS[code];
        if (next !== SMALL && next !== LARGE) break;
        if (next === LARGE && before === SMALL) weight += HUMP;
        before = next;
        at += 1;
        code = text.charCodeAt(at);
      }
      weight += WORD + LONG_WORD_LETTER * Math.max(0, at - start - 5);
    } else if (kind === DIGIT) {
      while (code < 128 && KINDS[code] === DIGIT) {
        at += 1;
        code = text.charCodeAt(at);
      }
      weight += DIGITS * Math.ceil((at - start) / 3);
    } else if (kind === undefined) {
      weight += isIdeograph(first) ? IDEOGRAPH : OTHER;
    } else {
      // A run of blanks is free, a run of one symbol costs one symbol; line breaks count one by one.
      if (first !== NEW_LINE)
        while (code === first) {
          at += 1;
          code = text.charCodeAt(at);
        }
      if (kind !== BLANK) weight += isQuoting(text, start, first) ? QUOTED_SIGN : SIGN;
    }
  }
  return weight;
}

/** A symbol that follows another one, where one of the two is a double quote. */
function isQuoting(text: string, at: number, code: number): boolean {
  const before = at === 0 ? NEW_LINE : text.charCodeAt(at - 1);
  if (code !== QUOTE && before !== QUOTE) return false;
  return before < 128 && KINDS[before] === 0 && before !== NEW_LINE && code !== NEW_LINE;
}

/** Estimates the tokens of a text without a tokenizer. */
export function estimateTokens(text: string): number {
  return Math.ceil(tokenWeight(text));
}

/** Estimates the tokens that tools add to every request. */
export function toolTokens(
  tools: readonly { readonly name: string; readonly description: string; readonly inputSchema: unknown }[],
): number {
  const sent = tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));
  return tools.length === 0 ? 0 : estimateTokens(JSON.stringify(sent));
}
