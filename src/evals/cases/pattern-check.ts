/** Whether a regular expression can be matched in linear time: syntax only, nothing is matched here. */

export interface PatternProblem {
  readonly message: string;
  readonly hint: string;
}

const MAX_CHARACTERS = 2000;
const MAX_REPEATS = 1000;

/** Groups, escapes and character classes, one at a time, so that what stands in a class or behind a backslash is not taken for more. */
const PIECE = /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?(?:<?[=!])|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;

export function patternProblem(pattern: string): PatternProblem | undefined {
  if (pattern === '') return { message: 'the expression is empty', hint: 'it would match anything: take it out' };
  if (pattern.length > MAX_CHARACTERS)
    return { message: `the expression has more than ${String(MAX_CHARACTERS)} characters`, hint: 'split it' };
  if (!isExpression(pattern))
    return {
      message: 'it is no regular expression',
      hint: 'use the syntax of JavaScript with the flag u; flags such as (?i) are not known',
    };
  for (const [piece, low, high] of pattern.matchAll(PIECE)) {
    const problem = pieceProblem(piece, Math.max(Number(low ?? 0), Number(high ?? 0)));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function pieceProblem(piece: string, repeats: number): PatternProblem | undefined {
  if (/^\\[1-9k]/.test(piece))
    return {
      message: 'the expression has a back reference, which cannot be matched in linear time',
      hint: 'write what is meant without it; a hostile answer could make it run for years',
    };
  if (piece.startsWith('(?'))
    return {
      message: 'the expression looks ahead or behind, which cannot be matched in linear time',
      hint: 'use two expressions, or not_regex',
    };
  if (repeats > MAX_REPEATS)
    return {
      message: `the expression repeats something more than ${String(MAX_REPEATS)} times`,
      hint: 'use * or + instead of the number',
    };
  return undefined;
}

function isExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
