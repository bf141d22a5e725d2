/**
 * Compares two arms over cases. Each case gives one number between -1 and 1: its pass rate in one arm minus that in the other. Repetitions
 * make this number more exact; only another case adds one.
 *
 * If the arms do not differ, the results of a case could have been swapped between them, so each number could have had the other sign with
 * the same chance. The test adds up all signs exactly. With one attempt per case this is McNemar's exact test. The interval inverts the same
 * test: it contains 0 if and only if p is at least 5 %.
 */
import { binomialAtLeast, smallestVisible, wilson } from './statistics.ts';

export type MeanInterval = Readonly<Record<'mean' | 'low' | 'high', number>>;

/** The difference of one case. `low` and `high` are the least and the greatest that it can be if something is unknown about it. */
export interface CaseDifference {
  readonly seen: number;
  readonly low?: number;
  readonly high?: number;
}

export interface CaseComparison {
  readonly difference: MeanInterval;
  readonly p: number;
  /** The smallest difference that is detected with a power of 80 %. */
  readonly smallestVisible: number;
}

const ALPHA = 0.05;

/** A decision is looked for after 1, 2, 4, 8, ... attempts and after the last one. */
export function isLook(attempt: number, most: number): boolean {
  return attempt === most || Number.isInteger(Math.log2(attempt));
}

export function countLooks(most: number): number {
  return Math.max(1, Math.ceil(Math.log2(Math.max(1, most))) + 1);
}

/** `looks`: how often the results are looked at until a decision; each look may be wrong with the same part of 5 %. */
export function compareCases(cases: readonly CaseDifference[], looks = 1): CaseComparison {
  const lows = cases.map(({ seen, low = seen }) => low);
  const highs = cases.map(({ seen, high = seen }) => high);
  const seen = cases.map((one) => one.seen);
  const half = ALPHA / looks / 2;
  const [rise, fall] = [openTails(lows), openTails(highs)];
  const p = Math.min(1, 2 * looks * Math.min(rise.atLeast(0.5), fall.atMost(0.5)));
  return {
    difference: {
      mean: cases.length === 0 ? 0 : sum(seen) / cases.length,
      low:
        cases.length === 0
          ? -1
          : -limitOf(
              lows.map((one) => -one),
              half,
            ),
      high: cases.length === 0 ? 1 : limitOf(highs, half),
    },
    p,
    smallestVisible: visibleIn(seen, looks),
  };
}

/** The chance of a fall as great as this one, or greater, if nothing changed: the same test, one-sided. */
export function chanceOfFall(differences: readonly number[]): number {
  return openTails(differences).atMost(0.5);
}

/** With fewer cases, no mean is rejected: all signs are equal with a chance of more than 2.5 %. */
const FEWEST = 6;
/** From here on the sum of the signs is taken as normal; for these it is exact. */
const MOST_EXACT = 20;

/**
 * A mean of numbers of any size, one per case, such as tokens, with its 95 % interval. The same test as for pass rates, inverted: if the mean
 * were m, the distances of the cases from m would have either sign with the same chance. The interval holds every m that the test does not
 * reject, and is absent below six cases.
 */
export function meanInterval(values: readonly number[]): Partial<MeanInterval> & Pick<MeanInterval, 'mean'> {
  const count = values.length;
  const mean = sum(values) / count;
  if (count < FEWEST) return { mean };
  const spread = Math.sqrt(sum(values.map((one) => (one - mean) ** 2)) / count);
  if (spread <= Math.abs(mean) * 1e-9) return { mean, low: mean, high: mean };
  if (count <= MOST_EXACT)
    return {
      mean,
      low: lowestMean(values, mean),
      high: -lowestMean(
        values.map((one) => -one),
        -mean,
      ),
    };
  // |mean - m| > z * sqrt(sum of (value - m)^2) / count, solved for m.
  const z = quantile(ALPHA / 2);
  const half = (z * spread) / Math.sqrt(count - z * z);
  return { mean, low: mean - half, high: mean + half };
}

/** The lowest mean that the test does not reject, between the least of the numbers, where it is rejected below, and their mean. */
function lowestMean(values: readonly number[], mean: number): number {
  const isRejected = (assumed: number): boolean => {
    const distances = values.map((one) => one - assumed);
    const longest = distances.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
    return openTails(distances.map((one) => one / longest)).atLeast(0.5) < ALPHA / 2;
  };
  const least = values.reduce((low, one) => Math.min(low, one));
  if (!isRejected(least)) return least;
  let [out, inside] = [least, mean];
  for (let round = 0; round < 20; round += 1) {
    const middle = (inside + out) / 2;
    if (isRejected(middle)) out = middle;
    else inside = middle;
  }
  return inside;
}

/**
 * The greatest mean that the test does not reject. Signs are positive with a chance t, and the mean is s * (2t - 1), where s is the mean
 * size of the numbers. t is where the test rejects; s has a Wilson interval.
 */
function limitOf(differences: readonly number[], half: number): number {
  const tails = openTails(differences);
  let [inside, out] = [0, 1];
  if (tails.atMost(1) >= half) inside = 1;
  else
    for (let round = 0; round < 30; round += 1) {
      const middle = (inside + out) / 2;
      if (tails.atMost(middle) >= half) inside = middle;
      else out = middle;
    }
  // Numbers between 0 and 1 vary no more than passes and failures with the same mean.
  const mean = sum(differences.map((one) => Math.abs(one))) / differences.length;
  const size = wilson(Math.min(1, mean), differences.length, quantile(half));
  const lean = 2 * inside - 1;
  return lean > 0 ? size.high * lean : size.low * lean;
}

/** Chances that the sum of the numbers is at least, or at most, as great as it is, if each is positive with a given chance. */
function openTails(differences: readonly number[]) {
  const sizes = differences.map((one) => Math.abs(one)).filter((size) => size > 1e-9);
  const scale = commonScale(sizes);
  const whole = (value: number): number => Math.max(1, Math.round(value * scale));
  const steps = sizes.map(whole);
  const reached = sum(differences.filter((one) => one > 1e-9).map(whole));
  const isEven = steps.every((step) => step === steps[0]);
  const [first = 1] = steps;
  const most = sum(steps);
  return {
    atLeast: (chance: number): number =>
      isEven ? binomialAtLeast(reached / first, steps.length, chance) : tailOf(steps, chance, (at) => at >= reached),
    atMost: (chance: number): number =>
      isEven
        ? binomialAtLeast((most - reached) / first, steps.length, 1 - chance)
        : tailOf(steps, chance, (at) => at <= reached),
  };
}

/** Rounding the numbers to a grid keeps the test exact, because the grid does not depend on their signs. */
function commonScale(sizes: readonly number[]): number {
  const finest = Math.max(1, Math.min(60, Math.floor(WORK / Math.max(1, sizes.length) ** 2)));
  for (let scale = 1; scale < finest; scale += 1)
    if (sizes.every((size) => Math.abs(size * scale - Math.round(size * scale)) < 1e-6)) return scale;
  return finest;
}

const WORK = 2_000_000;

/** The chance of sums with a property, where each step counts with the given chance. */
function tailOf(steps: readonly number[], chance: number, isIn: (at: number) => boolean): number {
  const chances = new Float64Array(sum(steps) + 1);
  chances[0] = 1;
  let top = 0;
  for (const step of steps) {
    for (let at = top; at >= 0; at -= 1) {
      const here = chances[at] ?? 0;
      chances[at + step] = (chances[at + step] ?? 0) + here * chance;
      chances[at] = here * (1 - chance);
    }
    top += step;
  }
  return Math.min(
    1,
    chances.reduce((total, one, at) => (isIn(at) ? total + one : total), 0),
  );
}

/** The upper quantile of the normal distribution (Abramowitz and Stegun 26.2.23, error below 0.0005). */
function quantile(half: number): number {
  const t = Math.sqrt(-2 * Math.log(half));
  return t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3);
}

/** Numbers of different sizes count as numbers of one size with the same mean square (Kish). */
function visibleIn(differences: readonly number[], looks: number): number {
  const count = Math.max(1, differences.length);
  const [total, squares] = [sum(differences.map((one) => Math.abs(one))), sum(differences.map((one) => one * one))];
  const variance = Math.max(0, squares / count - (sum(differences) / count) ** 2);
  const size = total < 1e-9 ? 1 : squares / total;
  return smallestVisible(differences.length, { variance, size }, ALPHA / looks);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}
