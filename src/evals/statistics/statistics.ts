/**
 * The numbers of evaluations: how sure a rate is, whether a difference is one, and how small a difference could have been seen. All of
 * it is exact or says by which approximation it is made, and none of it can give a number that is not finite.
 */
import { SkillError } from '../../core/errors.ts';
import { openRandom } from '../../core/seeded-random.ts';
import { binomialAtLeast, logChoose } from './binomial.ts';
import type { Rate } from '../report/result.ts';

/** Of a normal distribution: 97.5 % and 80 % lie below. */
const Z_95 = 1.959963984540054;
const Z_80 = 0.8416212335729143;

/** Wilson's interval at 95 %: it stays inside 0 and 1 and has a width also where all or none are counted. */
export function rateOf(count: number, of: number): Rate {
  requireCount(count, 'count');
  requireCount(of, 'of');
  if (count > of) throw notANumber(`${String(count)} of ${String(of)} is no part of a whole`);
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

/** The middle of a rate; 0 where there is nothing to count. */
export function shareOf({ count, of }: Pick<Rate, 'count' | 'of'>): number {
  return of === 0 ? 0 : count / of;
}

/** McNemar's exact test, two-sided: how likely so uneven a split of the pairs that differ is, if both arms were equally good. */
export function mcNemar(better: number, worse: number): number {
  requireCount(better, 'better');
  requireCount(worse, 'worse');
  const differing = better + worse;
  if (differing === 0) return 1;
  return Math.min(1, 2 * binomialAtLeast(Math.max(better, worse), differing, 0.5));
}

export interface MeanInterval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 2_000;

/** The mean of paired differences with the 95 % percentile interval of a bootstrap over pairs. The same seed gives the same interval. */
export function pairedBootstrap(
  differences: readonly number[],
  { seed = 1, resamples = RESAMPLES }: { readonly seed?: number; readonly resamples?: number } = {},
): MeanInterval {
  for (const one of differences) requireFinite(one, 'a difference');
  if (differences.length === 0) return { mean: 0, low: -1, high: 1 };
  const random = openRandom(seed);
  const means: number[] = [];
  for (let round = 0; round < resamples; round += 1) {
    let sum = 0;
    for (let place = 0; place < differences.length; place += 1)
      sum += differences[random.below(differences.length)] ?? 0;
    means.push(sum / differences.length);
  }
  means.sort((a, b) => a - b);
  const at = (share: number): number => means[Math.min(means.length - 1, Math.floor(share * means.length))] ?? 0;
  return { mean: meanOf(differences), low: at(0.025), high: at(0.975) };
}

/** Above so many pairs the power is worked out by the normal approximation. */
const EXACT_PAIRS = 1_000;
const ALPHA = 0.05;
const POWER = 0.8;

/**
 * The smallest difference d of two pass rates that `pairs` pairs would have shown with a power of 80 % in the exact McNemar test at 5 %.
 * Of all pairs a share s differs; s is what was seen, and at least d, for a difference needs pairs that differ. The power is
 *
 *     sum over k of P(K = k; pairs, s) * P(the test rejects | k pairs differ, each to the better with (1 + d/s) / 2)
 *
 * and d is found by halving. Above 1,000 pairs: pairs * d^2 = (1.960 * sqrt(s) + 0.842 * sqrt(s - d^2))^2. 1 where nothing could be shown.
 */
export function smallestVisible(pairs: number, differing: number): number {
  requireCount(pairs, 'pairs');
  requireCount(differing, 'differing');
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
  return pairs * d * d >= (Z_95 * Math.sqrt(share) + Z_80 * Math.sqrt(Math.max(0, share - d * d))) ** 2;
}

function exactlyEnough(pairs: number, seen: number, critical: readonly number[]): (d: number) => boolean {
  return (d) => {
    const share = Math.max(seen, d);
    if (share === 0) return false;
    const toTheBetter = Math.min(1, (1 + d / share) / 2);
    let power = 0;
    for (let count = 0; count <= pairs && power < POWER; count += 1) {
      const weight = binomialPoint(count, pairs, share);
      if (weight < 1e-12) continue;
      power += weight * binomialAtLeast(critical[count] ?? count + 1, count, toTheBetter);
    }
    return power >= POWER;
  };
}

/** By the number of pairs that differ: how many of them must be to the better for the test to reject; one more than all where none suffices. */
function criticalCounts(pairs: number): readonly number[] {
  const critical: number[] = [];
  let needed = 0;
  for (let count = 0; count <= pairs; count += 1) {
    // One pair more needs the same number or one more.
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

export function meanOf(values: readonly number[]): number {
  for (const one of values) requireFinite(one, 'a value');
  return values.length === 0 ? 0 : values.reduce((sum, one) => sum + one, 0) / values.length;
}

/** Of a sample: 0 where there are fewer than two values. */
export function deviationOf(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = meanOf(values);
  return Math.sqrt(values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1));
}

/** pass@k: at least one of k attempts passes, estimated without bias from `passed` of `attempts`. */
export function passAtK(passed: number, attempts: number, k: number): number {
  requireAttempts(passed, attempts, k);
  return 1 - chooseShare(attempts - passed, attempts, k);
}

/** pass^k: all of k attempts pass. */
export function passAllK(passed: number, attempts: number, k: number): number {
  requireAttempts(passed, attempts, k);
  return chooseShare(passed, attempts, k);
}

/** C(part, k) / C(whole, k) as a product, so that nothing overflows. */
function chooseShare(part: number, whole: number, k: number): number {
  let share = 1;
  for (let place = 0; place < k; place += 1) share *= Math.max(0, part - place) / (whole - place);
  return share;
}

function requireAttempts(passed: number, attempts: number, k: number): void {
  requireCount(passed, 'passed');
  requireCount(attempts, 'attempts');
  requireCount(k, 'k');
  if (passed > attempts || k < 1 || k > attempts)
    throw notANumber(`${String(k)} of ${String(attempts)} attempts with ${String(passed)} passed makes no sense`);
}

function requireCount(value: number, name: string): void {
  if (!Number.isSafeInteger(value) || value < 0)
    throw notANumber(`${name} must be a whole number from 0, not ${String(value)}`);
}

function requireFinite(value: number, name: string): void {
  if (!Number.isFinite(value)) throw notANumber(`${name} must be a finite number, not ${String(value)}`);
}

function notANumber(message: string): SkillError {
  return new SkillError({
    code: 'input/invalid',
    message,
    hint: 'give counts and amounts as they were measured',
    data: { expected: 'a finite number' },
  });
}
