/**
 * JavaScript regular expressions matched in linear time by RE2, so that no expression of a case can hang on a hostile answer. The result
 * equals `new RegExp(source, flags + 'u').test(text)` with two exceptions: with `m` only a line feed ends a line, and with `i` the word
 * boundary `\b` knows ASCII letters only.
 */
import { RE2JS } from 're2js';

import { quoted } from '#core';
import { splitFlags, syntaxProblem } from '../cases/pattern-check.ts';

export type RegexReading =
  | { readonly type: 'regex'; readonly regex: { test(text: string): boolean } }
  | { readonly type: 'refused'; readonly message: string };

const FLAGS = /^[imsu]*$/;

/** Accepts the flags `i`, `m` and `s`, also as `(?i)` at the start; `u` always applies. Refuses backreferences and lookaround. */
export function readLinearRegex(written: string, outer = ''): RegexReading {
  const { source, flags: inner } = splitFlags(written);
  const flags = `${outer}${inner}`;
  const rejectPattern = (reason: string): RegexReading => ({
    type: 'refused',
    message: `cannot use the regular expression ${quoted(written)}: ${reason}`,
  });
  if (!FLAGS.test(outer)) return rejectPattern(`unsupported flags ${quoted(outer)}; use i, m, s or u`);
  const problem = syntaxProblem(source);
  if (problem !== undefined) return rejectPattern(problem.message);
  const options =
    (flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) |
    (flags.includes('m') ? RE2JS.MULTILINE : 0) |
    (flags.includes('s') ? RE2JS.DOTALL : 0);
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(portable(source, flags.includes('s'))), options);
    return { type: 'regex', regex: { test: (text) => compiled.test(text) } };
  } catch (error) {
    if (error instanceof Error) return rejectPattern(error.message.replace(/^error parsing regexp: /, ''));
    throw error;
  }
}

/** Reads `/expression/flags`; returns undefined for any other text. */
export function readSlashedRegex(text: string): RegexReading | undefined {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? [];
  return source === undefined ? undefined : readLinearRegex(source, flags);
}

const TOKEN = /\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\[pP]\{[^}]*\}|\\[\s\S]|\[\^?|[\s\S]/g;
const SPACE = String.raw`\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;
const NOT_SPACE = String.raw`\x00-\x08\x0e-\x1f!-\u009f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\u{10ffff}`;

/** Writes out what RE2 reads differently from JavaScript: `\s`, `.`, `[\b]`, surrogate pairs, and property names with a category. */
function portable(source: string, dotAll: boolean): string {
  let isInClass = false;
  const inClass = (ranges: string): string => (isInClass ? ranges : `[${ranges}]`);
  return source.replaceAll(TOKEN, (token) => {
    if (token.startsWith('[') && !isInClass) isInClass = true;
    else if (token === ']') isInClass = false;
    else if (token === '\\s') return inClass(SPACE);
    else if (token === '\\S') return inClass(NOT_SPACE);
    else if (token === '.' && !isInClass && !dotAll) return String.raw`[^\n\r\u2028\u2029]`;
    else if (token === '\\b' && isInClass) return '\\x08';
    else if (token.length === 12)
      return String.fromCodePoint(
        0x10000 +
          ((Number.parseInt(token.slice(2, 6), 16) & 0x3ff) << 10) +
          (Number.parseInt(token.slice(8), 16) & 0x3ff),
      );
    else if (/^\\p/i.test(token)) return token.replace(/\{(?:Script|sc|General_Category|gc)=/, '{');
    return token;
  });
}
