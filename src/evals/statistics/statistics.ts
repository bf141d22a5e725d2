/** Statistics of evaluations: rates, exact tails and detectable differences. Results are always finite. */
import { invalidInput, type SkillError } from '#core';
import type { Rate } from '../report/result.ts';

/** The 97.5 % and 80 % quantiles of the normal distribution. */
const Z_95 = 1.959963984540054;
const Z_80 = 0.8416212335729143;

/** The share of independent observations, with its 95 % Wilson interval. */
export function computeRate(count: number, of: number): Rate {
  return rateWithin(count, of, of);
}

/**
 * The share of all observations of several units, such as the attempts at several cases. Observations of one unit succeed and fail together,
 * so that the interval is that of one observation per unit; units of different sizes count as fewer (Kish).
 */
export function clusteredRate(units: readonly Pick<Rate, 'count' | 'of'>[]): Rate {
  const sum = (read: (unit: Pick<Rate, 'count' | 'of'>) => number): number =>
    units.reduce((total, unit) => total + read(unit), 0);
  const of = sum((unit) => unit.of);
  return rateWithin(
    sum(({ count }) => count),
    of,
    of ** 2 /
      Math.max(
        1,
        sum((unit) => unit.of ** 2),
      ),
  );
}

/** `size` is the number of independent observations that the interval stands for. */
function rateWithin(count: number, of: number, size: number): Rate {
  requireCounts({ count, of });
  if (count > of) throw invalidNumber(`count must be at most ${String(of)}, got ${String(count)}`);
  return of === 0 ? { count: 0, of: 0, low: 0, high: 1 } : { count, of, ...wilson(count / of, size, Z_95) };
}

/** The Wilson interval of a share, which stays inside 0 and 1 and has a width even at 0 and 1. `z` is the quantile of its confidence. */
export function wilson(share: number, of: number, z: number): Pick<Rate, 'low' | 'high'> {
  const z2 = z ** 2;
  const middle = (share + z2 / (2 * of)) / (1 + z2 / of);
  const half = (z / (1 + z2 / of)) * Math.sqrt((share * (1 - share)) / of + z2 / (4 * of * of));
  return {
    low: share < 1e-9 ? 0 : Math.max(0, middle - half),
    high: share > 1 - 1e-9 ? 1 : Math.min(1, middle + half),
  };
}

/** The rate itself; 0 if nothing was counted. */
export function computeShare({ count, of }: Pick<Rate, 'count' | 'of'>): number {
  return of === 0 ? 0 : count / of;
}

/**
 * The number of different cases that detects a difference with a power of 80 %, before anything is known: pass rates are assumed to lie
 * around 50 %, where most cases differ by chance, (1 + d^2) / 2 of them.
 */
export function casesNeeded(difference: number): number {
  requireFinite(difference, 'the difference');
  const d = Math.min(1, Math.max(0.01, Math.abs(difference)));
  const share = (1 + d * d) / 2;
  let pairs = Math.max(6, Math.ceil(squaredNeed(d, share) / d ** 2));
  while (pairs <= EXACT_PAIRS && !exactlyEnough(pairs, share, criticalCounts(pairs, ALPHA))(d)) pairs += 1;
  return pairs;
}

/** Above this number of pairs the power uses the normal approximation. */
const EXACT_PAIRS = 1_000;
const ALPHA = 0.05;
const POWER = 0.8;

/** How much the differences of cases vary, and the size of those that are not 0. */
export interface Spread {
  readonly variance: number;
  readonly size: number;
}

/**
 * The smallest mean difference d that `cases` cases detect with a power of 80 % in the exact test at `alpha`. A share s of the cases
 * differs, each by `size`, so that they vary as observed: s * size^2 = variance + d^2. The power is
 *
 *     sum over k of P(K = k; cases, s) * P(the test rejects | k cases differ, each to the better with (1 + d / (s * size)) / 2)
 *
 * and d is found by bisection. Above 1,000 cases: cases * d^2 = size^2 * (1.960 * sqrt(s) + 0.842 * sqrt(s - (d / size)^2))^2. Returns 1 if
 * nothing is detectable.
 */
export function smallestVisible(cases: number, { variance, size }: Spread, alpha = ALPHA): number {
  requireCounts({ cases });
  if (cases === 0) return 1;
  const isExact = cases <= EXACT_PAIRS;
  const critical = isExact ? criticalCounts(cases, alpha) : [];
  const isEnough = (d: number): boolean => {
    const unit = d / size;
    const share = Math.min(1, Math.max(unit, (variance + d * d) / size ** 2));
    if (unit > 1 || share === 0) return false;
    return isExact ? exactlyEnough(cases, share, critical)(unit) : cases * unit * unit >= squaredNeed(unit, share);
  };
  if (!isEnough(size)) return 1;
  let low = 0;
  let high = size;
  while (high - low > 1e-4) {
    const middle = (low + high) / 2;
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function squaredNeed(d: number, share: number): number {
  return (Z_95 * Math.sqrt(share) + Z_80 * Math.sqrt(Math.max(0, share - d * d))) ** 2;
}

function exactlyEnough(pairs: number, share: number, critical: readonly number[]): (d: number) => boolean {
  return (d) => {
    const improving = Math.min(1, (1 + d / share) / 2);
    let power = 0;
    for (let count = 0; count <= pairs && power < POWER; count += 1) {
      const weight = binomialPoint(count, pairs, share);
      if (weight < 1e-12) continue;
      power += weight * binomialAtLeast(critical[count] ?? count + 1, count, improving);
    }
    return power >= POWER;
  };
}

/** For each number of differing pairs, how many must improve for the test to reject; one more than all if it never rejects. */
function criticalCounts(pairs: number, alpha: number): readonly number[] {
  const critical: number[] = [];
  let needed = 0;
  for (let count = 0; count <= pairs; count += 1) {
    // The critical count never decreases.
    while (needed <= count && 2 * binomialAtLeast(needed, count, 0.5) > alpha) needed += 1;
    critical.push(needed);
  }
  return critical;
}

function binomialPoint(count: number, of: number, share: number): number {
  if (share >= 1) return count === of ? 1 : 0;
  if (share <= 0) return count === 0 ? 1 : 0;
  return Math.exp(logChoose(of, count) + count * Math.log(share) + (of - count) * Math.log1p(-share));
}

/** The probability of at least `least` successes in `of` trials. Uses logarithms to avoid overflow. */
export function binomialAtLeast(least: number, of: number, share: number): number {
  if (least <= 0) return 1;
  if (least > of || share <= 0) return 0;
  if (share >= 1) return 1;
  const [logYes, logNo] = [Math.log(share), Math.log1p(-share)];
  let sum = 0;
  let term = logChoose(of, least) + least * logYes + (of - least) * logNo;
  for (let count = least; count <= of; count += 1) {
    sum += Math.exp(term);
    term += Math.log((of - count) / (count + 1)) + logYes - logNo;
  }
  return Math.min(1, sum);
}

function logChoose(of: number, count: number): number {
  return logFactorial(of) - logFactorial(count) - logFactorial(of - count);
}

/** Sums exactly up to this number and uses Stirling's series beyond: about twelve correct digits. */
const SUMMED = 32;

function logFactorial(n: number): number {
  if (n > SUMMED) {
    const inverse = 1 / n;
    return (
      n * Math.log(n) - n + Math.log(2 * Math.PI * n) / 2 + inverse / 12 - inverse ** 3 / 360 + inverse ** 5 / 1260
    );
  }
  let sum = 0;
  for (let factor = 2; factor <= n; factor += 1) sum += Math.log(factor);
  return sum;
}

export function computeMean(values: readonly number[]): number {
  for (const one of values) requireFinite(one, 'a value');
  return values.length === 0 ? 0 : values.reduce((sum, one) => sum + one, 0) / values.length;
}

/** Pearson's correlation; undefined for fewer than three points, or if one of the two values never changes. */
export function correlation(points: readonly (readonly [number, number])[]): number | undefined {
  if (points.length < 3) return undefined;
  const [x, y] = [computeMean(points.map(([one]) => one)), computeMean(points.map(([, one]) => one))];
  const sum = (part: (a: number, b: number) => number): number =>
    points.reduce((total, [a, b]) => total + part(a - x, b - y), 0);
  const spread = Math.sqrt(sum((a) => a * a) * sum((_, b) => b * b));
  return spread < 1e-9 ? undefined : sum((a, b) => a * b) / spread;
}

function requireCounts(values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values))
    if (!Number.isSafeInteger(value) || value < 0)
      throw invalidNumber(`${name} must be a non-negative integer, got ${String(value)}`);
}

function requireFinite(value: number, name: string): void {
  if (!Number.isFinite(value)) throw invalidNumber(`${name} must be a finite number, got ${String(value)}`);
}

function invalidNumber(message: string): SkillError {
  return invalidInput(message, 'a finite number', 'pass measured counts and amounts');
}

/** How often a case passed, of the attempts with a verdict. */
export type CaseCounts = Readonly<Record<'before' | 'after', Readonly<Record<'passed' | 'of', number>>>>;

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
export function holm(values: readonly number[]): readonly boolean[] {
  const order = values.map((_, place) => place).toSorted((a, b) => (values[a] ?? 1) - (values[b] ?? 1));
  const kept = new Set<number>();
  for (const [rank, place] of order.entries()) {
    if ((values[place] ?? 1) > ALPHA / (values.length - rank)) break;
    kept.add(place);
  }
  return values.map((_, place) => kept.has(place));
}
