/** Requests that ask the same twice: counting both would count one observation as two. */
import { quoted } from '#core';
import type { CaseFinding, LintedCase } from './finding.ts';

/** More cases are compared for equality only. */
const MOST_COMPARED = 2000;
/** The share of common words from which two requests are nearly equal. */
const NEAR = 0.9;
/** In a short request, one word is a difference. */
const LEAST_WORDS = 10;

/** Each case is reported once, against the first case that it repeats. */
export function duplicateFindings(cases: readonly LintedCase[]): readonly (readonly [LintedCase, CaseFinding])[] {
  const isNearSearched = cases.length <= MOST_COMPARED;
  const seen = new Map<string, LintedCase>();
  const kept: { readonly one: LintedCase; readonly words: ReadonlySet<string>; readonly context: string }[] = [];
  return cases.flatMap((one) => {
    const context = contextOf(one);
    const words = wordsIn(one.evalCase.input);
    const key = JSON.stringify([words, context]);
    const set = new Set(words);
    const equal = seen.get(key);
    const other =
      equal ??
      (isNearSearched
        ? kept.find((before) => before.context === context && isNear(before.words, set))?.one
        : undefined);
    if (other === undefined) {
      seen.set(key, one);
      kept.push({ one, words: set, context });
      return [];
    }
    const message = `the request is ${equal === undefined ? 'nearly ' : ''}the same as that of ${quoted(other.evalCase.id)}`;
    const hint = 'it counts as one case: ask something else, or use repeat to run it several times';
    return [[one, { rule: 'duplicate', severity: 'warning', message, hint }] as const];
  });
}

/** The same request with other files or another target is another case. */
function contextOf({ evalCase: { files, skills, config } }: LintedCase): string {
  return JSON.stringify([files, skills.target ?? '', config ?? {}]);
}

function wordsIn(text: string): readonly string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

/** Numbers tell requests apart, so they must be equal. */
function isNear(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  if (small.size < LEAST_WORDS || small.size < large.size * NEAR) return false;
  const common = [...small].filter((word) => large.has(word)).length;
  const numbers = [...a, ...b].filter((word) => /\d/.test(word));
  return common / (a.size + b.size - common) >= NEAR && numbers.every((word) => a.has(word) && b.has(word));
}
