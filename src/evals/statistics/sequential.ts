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
import type { MeanInterval, PairCounts } from './statistics.ts';

const MOST_WEALTH = 20;
const GRID = 200;
/** Keeps the largest bet finite. */
const EDGE = 1 - 1e-9;

/** The 95 % interval of the mean difference that holds at every stop. */
export function bettingInterval(counts: PairCounts): MeanInterval {
  const { better, worse } = counts;
  const pairs = pairsIn(counts);
  if (pairs === 0) return { mean: 0, low: -1, high: 1 };
  const mean = (better - worse) / pairs;
  return { mean, low: boundary(counts, mean, -1), high: boundary(counts, mean, 1) };
}

export function bettingWealth(counts: PairCounts, mean: number): number {
  const m = Math.max(-EDGE, Math.min(EDGE, mean));
  return (wealthOf(counts, m, 1 / (1 + m)) + wealthOf(counts, m, -1 / (1 - m))) / 2;
}

function pairsIn({ both, better, worse, neither }: PairCounts): number {
  return both + better + worse + neither;
}

/** The average over bets from 0 to `most`, by Simpson's rule on logarithms. */
function wealthOf(counts: PairCounts, m: number, most: number): number {
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
