/** Checks whether a regular expression can be matched in linear time. The check reads the syntax only and loads no engine. */

type PatternProblem = Readonly<Record<'message' | 'hint', string>>;

const MAX_CHARACTERS = 2000;
const MAX_REPEATS = 1000;

/** Escapes and character classes are single tokens, so that their content is not mistaken for a group or a quantifier. */
const TOKEN = /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?(?:<?[=!])|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;

export function patternProblem(pattern: string): PatternProblem | undefined {
  if (pattern === '')
    return { message: 'the regular expression is empty', hint: 'remove it: an empty expression matches any text' };
  if (pattern.length > MAX_CHARACTERS)
    return {
      message: `the regular expression has ${String(pattern.length)} characters; the limit is ${String(MAX_CHARACTERS)}`,
      hint: 'split it into several expressions',
    };
  return syntaxProblem(pattern);
}

/** Flags at the start, such as `(?i)`, which JavaScript cannot write. */
export function splitFlags(pattern: string): { readonly source: string; readonly flags: string } {
  const [whole = '', flags = ''] = /^\(\?([ims]+)\)/.exec(pattern) ?? [];
  return { source: pattern.slice(whole.length), flags };
}

export function syntaxProblem(written: string): PatternProblem | undefined {
  const { source: pattern } = splitFlags(written);
  const invalid = engineError(pattern);
  if (invalid !== undefined)
    return {
      message: `invalid regular expression: ${invalid}`,
      hint: 'use JavaScript syntax with the u flag; inline flags such as (?i) are read at the start only',
    };
  for (const [token, low, high] of pattern.matchAll(TOKEN)) {
    const slow = 'are not supported: they cannot be matched in linear time';
    if (/^\\[1-9k]/.test(token))
      return { message: `backreferences ${slow}`, hint: 'rewrite the expression without the backreference' };
    if (token.startsWith('(?'))
      return { message: `lookahead and lookbehind ${slow}`, hint: 'use two expressions, or not_regex' };
    const repeats = Math.max(Number(low ?? 0), Number(high ?? 0));
    if (repeats > MAX_REPEATS) {
      const message = `the regular expression has a repeat count of ${String(repeats)}; the limit is ${String(MAX_REPEATS)}`;
      return { message, hint: 'use * or + instead of the number' };
    }
  }
  return undefined;
}

function engineError(pattern: string): string | undefined {
  try {
    // Only the constructor is used: it parses and never matches.
    return new RegExp(pattern, 'u') instanceof RegExp ? undefined : '';
  } catch (error) {
    // V8 repeats the expression in its message.
    return error instanceof SyntaxError
      ? error.message.replace(/^Invalid regular expression: .*: /s, '')
      : String(error);
  }
}
