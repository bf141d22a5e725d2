/** Tests whether pass rates fell between two evaluations of the same cases. */
import { logChoose } from './statistics.ts';

/** How often a case passed, of the attempts with a verdict. */
export interface PassCount {
  readonly passed: number;
  readonly of: number;
}

export interface CaseCounts {
  readonly before: PassCount;
  readonly after: PassCount;
}

/**
 * The chance of so few passes after, or fewer, if each case passes as often as before: Fisher's exact test, stratified by case. Given how
 * often a case passed in all, its passes after are hypergeometric; their sum over the cases is computed exactly. With one attempt each this
 * is the one-sided form of McNemar's test.
 */
export function declineP(cases: readonly CaseCounts[]): number {
  let chances: readonly number[] = [1];
  let seen = 0;
  for (const { before, after } of cases) {
    chances = convolved(chances, hypergeometric(before.passed + after.passed, before.of, after.of));
    seen += after.passed;
  }
  return Math.min(
    1,
    chances.slice(0, seen + 1).reduce((sum, chance) => sum + chance, 0),
  );
}

/** Chances of 0, 1, ... passes among `after` attempts, of `passed` in all. */
function hypergeometric(passed: number, before: number, after: number): readonly number[] {
  const all = logChoose(before + after, passed);
  return Array.from({ length: after + 1 }, (_, count) =>
    count > passed || passed - count > before
      ? 0
      : Math.exp(logChoose(after, count) + logChoose(before, passed - count) - all),
  );
}

function convolved(a: readonly number[], b: readonly number[]): readonly number[] {
  const sums = Array.from({ length: a.length + b.length - 1 }, () => 0);
  for (const [at, one] of a.entries())
    if (one > 0) for (const [place, other] of b.entries()) sums[at + place] = (sums[at + place] ?? 0) + one * other;
  return sums;
}

/** Holm's correction: which of several p-values are below 5 % together. */
export function holm(values: readonly number[], alpha = 0.05): readonly boolean[] {
  const order = values.map((_, place) => place).toSorted((a, b) => (values[a] ?? 1) - (values[b] ?? 1));
  const kept = new Set<number>();
  for (const [rank, place] of order.entries()) {
    if ((values[place] ?? 1) > alpha / (values.length - rank)) break;
    kept.add(place);
  }
  return values.map((_, place) => kept.has(place));
}
