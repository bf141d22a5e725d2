/** Statistics of evaluations: confidence intervals, paired tests and detectable differences. Results are always finite. */
import { invalidInput, type SkillError } from '#core';
import type { Rate } from '../report/result.ts';

/** The 97.5 % and 80 % quantiles of the normal distribution. */
const Z_95 = 1.959963984540054;
const Z_80 = 0.8416212335729143;

/** The 95 % Wilson interval, which stays inside 0 and 1 and has a width even at 0 of n and n of n. */
export function computeRate(count: number, of: number): Rate {
  requireCounts({ count, of });
  if (count > of) throw invalidNumber(`count must be at most ${String(of)}, got ${String(count)}`);
  if (of === 0) return { count: 0, of: 0, low: 0, high: 1 };
  const share = count / of;
  const z2 = Z_95 ** 2;
  const middle = (share + z2 / (2 * of)) / (1 + z2 / of);
  const half = (Z_95 / (1 + z2 / of)) * Math.sqrt((share * (1 - share)) / of + z2 / (4 * of * of));
  return {
    count,
    of,
    low: count === 0 ? 0 : Math.max(0, middle - half),
    high: count === of ? 1 : Math.min(1, middle + half),
  };
}

/** The rate itself; 0 if nothing was counted. */
export function computeShare({ count, of }: Pick<Rate, 'count' | 'of'>): number {
  return of === 0 ? 0 : count / of;
}

export function mcNemar(better: number, worse: number): number {
  requireCounts({ better, worse });
  const differing = better + worse;
  if (differing === 0) return 1;
  return Math.min(1, 2 * binomialAtLeast(Math.max(better, worse), differing, 0.5));
}

export type MeanInterval = Readonly<Record<'mean' | 'low' | 'high', number>>;

/** Outcomes of pairs: both passed, only the first, only the second, neither. */
export type PairCounts = Readonly<Record<'both' | 'better' | 'worse' | 'neither', number>>;

/**
 * The difference of two paired pass rates with Newcombe's 95 % interval (1998, method 10), which combines Wilson intervals. Unlike a bootstrap
 * it has a width when all pairs are equal.
 */
export function pairedInterval({ both, better, worse, neither }: PairCounts): MeanInterval {
  const pairs = pairsIn({ both, better, worse, neither });
  if (pairs === 0) return { mean: 0, low: -1, high: 1 };
  const [first, second] = [computeRate(both + better, pairs), computeRate(both + worse, pairs)];
  const [one, two] = [computeShare(first), computeShare(second)];
  const product = both * neither - better * worse;
  const margins = (both + better) * (worse + neither) * (both + worse) * (better + neither);
  const correlation =
    margins === 0 ? 0 : (product > 0 ? Math.max(0, product - pairs / 2) : product) / Math.sqrt(margins);
  const width = (a: number, b: number): number => Math.sqrt(Math.max(0, a * a - 2 * correlation * a * b + b * b));
  return {
    mean: one - two,
    low: Math.max(-1, one - two - width(one - first.low, second.high - two)),
    high: Math.min(1, one - two + width(first.high - one, two - second.low)),
  };
}

/**
 * The number of pairs that detects a difference with a power of 80 %, before anything is known: pass rates are assumed to lie around 50 %,
 * where most pairs differ by chance, (1 + d^2) / 2 of them.
 */
export function pairsNeeded(difference: number): number {
  requireFinite(difference, 'the difference');
  const d = Math.min(1, Math.max(0.01, Math.abs(difference)));
  const share = (1 + d * d) / 2;
  let pairs = Math.max(6, Math.ceil(squaredNeed(d, share) / d ** 2));
  while (pairs <= EXACT_PAIRS && !exactlyEnough(pairs, share, criticalCounts(pairs))(d)) pairs += 1;
  return pairs;
}

/** Above this number of pairs the power uses the normal approximation. */
const EXACT_PAIRS = 1_000;
const ALPHA = 0.05;
const POWER = 0.8;

/**
 * The smallest difference d of two pass rates that `pairs` pairs detect with a power of 80 % in the exact McNemar test at 5 %. A share s of
 * the pairs differs: the observed share, but at least d. The power is
 *
 *     sum over k of P(K = k; pairs, s) * P(the test rejects | k pairs differ, each to the better with (1 + d/s) / 2)
 *
 * and d is found by bisection. Above 1,000 pairs: pairs * d^2 = (1.960 * sqrt(s) + 0.842 * sqrt(s - d^2))^2. Returns 1 if nothing is detectable.
 */
export function smallestVisible(pairs: number, differing: number): number {
  requireCounts({ pairs, differing });
  if (pairs === 0) return 1;
  const seen = Math.min(1, differing / pairs);
  const isEnough =
    pairs > EXACT_PAIRS
      ? (d: number) => approximatelyEnough(pairs, d, Math.max(seen, d))
      : exactlyEnough(pairs, seen, criticalCounts(pairs));
  if (!isEnough(1)) return 1;
  let low = 0;
  let high = 1;
  while (high - low > 1e-4) {
    const middle = (low + high) / 2;
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function approximatelyEnough(pairs: number, d: number, share: number): boolean {
  return pairs * d * d >= squaredNeed(d, share);
}

function squaredNeed(d: number, share: number): number {
  return (Z_95 * Math.sqrt(share) + Z_80 * Math.sqrt(Math.max(0, share - d * d))) ** 2;
}

function exactlyEnough(pairs: number, seen: number, critical: readonly number[]): (d: number) => boolean {
  return (d) => {
    const share = Math.max(seen, d);
    if (share === 0) return false;
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
function criticalCounts(pairs: number): readonly number[] {
  const critical: number[] = [];
  let needed = 0;
  for (let count = 0; count <= pairs; count += 1) {
    // The critical count never decreases.
    while (needed <= count && 2 * binomialAtLeast(needed, count, 0.5) > ALPHA) needed += 1;
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

const MOST_WEALTH = 20;
const GRID = 200;
/** Keeps the largest bet finite. */
const EDGE = 1 - 1e-9;

/**
 * Intervals that stay valid when an evaluation stops as soon as the difference is decided: a betting confidence sequence for a bounded mean
 * (Waudby-Smith and Ramdas, 2024). For each possible mean m, a gambler with wealth 1 bets fixed fractions against it; the wealth
 *
 *     W(m) = average over bets L of the product over pairs x of (1 + L * (x - m)),   x = 1 better, -1 worse, 0 equal
 *
 * is a nonnegative supermartingale if m is the true mean, so that the chance that it ever reaches 20 is at most 5 % (Ville). The interval is
 * the set of m with W(m) < 20. Bets are averaged uniformly and do not adapt, so that cases may differ: by concavity of the logarithm a round
 * of cases with mean m earns no more than equal cases do. At m = 0 this is McNemar's test with a uniform mixture.
 */
export function bettingInterval(counts: PairCounts): MeanInterval {
  const { better, worse } = counts;
  const pairs = pairsIn(counts);
  if (pairs === 0) return { mean: 0, low: -1, high: 1 };
  const mean = (better - worse) / pairs;
  return { mean, low: boundary(counts, mean, -1), high: boundary(counts, mean, 1) };
}

export function bettingWealth(counts: PairCounts, mean: number): number {
  const m = Math.max(-EDGE, Math.min(EDGE, mean));
  return (computeWealth(counts, m, 1 / (1 + m)) + computeWealth(counts, m, -1 / (1 - m))) / 2;
}

function pairsIn({ both, better, worse, neither }: PairCounts): number {
  return both + better + worse + neither;
}

/** The average over bets from 0 to `most`, by Simpson's rule on logarithms. */
function computeWealth(counts: PairCounts, m: number, most: number): number {
  const { better, worse } = counts;
  const equal = pairsIn(counts) - better - worse;
  // The peak narrows with the square root of the pairs.
  const steps = 2 * Math.ceil(20 + 2 * Math.sqrt(pairsIn(counts)));
  let sum = 0;
  for (let step = 0; step <= steps; step += 1) {
    const bet = (step / steps) * most;
    const log = power(better, 1 + bet * (1 - m)) + power(worse, 1 - bet * (1 + m)) + power(equal, 1 - bet * m);
    const weight = step === 0 || step === steps ? 1 : step % 2 === 1 ? 4 : 2;
    sum += weight * Math.exp(log);
  }
  return sum / (3 * steps);
}

/** The logarithm of a power; rounding may make the factor negative at the largest bet. */
function power(count: number, factor: number): number {
  if (count === 0) return 0;
  return factor <= 0 ? Number.NEGATIVE_INFINITY : count * Math.log(factor);
}

/** Searches from the end towards the mean for the first value that the data does not rule out. */
function boundary(counts: PairCounts, mean: number, end: -1 | 1): number {
  const isOut = (m: number): boolean => bettingWealth(counts, m) >= MOST_WEALTH;
  let [out, inside]: [number, number] = [end, end];
  for (let step = 0; step <= GRID; step += 1) {
    inside = end + ((mean - end) * step) / GRID;
    if (!isOut(inside)) break;
    out = inside;
  }
  if (out === inside || inside === end) return inside;
  for (let round = 0; round < 20; round += 1) {
    const middle = (out + inside) / 2;
    if (isOut(middle)) out = middle;
    else inside = middle;
  }
  return out;
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
