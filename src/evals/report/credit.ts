/**
 * What the skill gets credit for in a case. Every planned attempt counts, but what an attempt passes that did not load the skill has another
 * cause.
 */
import type { CaseDifference } from '../statistics/case-differences.ts';
import { computeMean } from '../statistics/statistics.ts';
import type { CaseResult } from './result.ts';

type Sides<T> = Readonly<Record<'of' | 'against', T>>;

interface MeasuredCase {
  readonly results: Sides<readonly CaseResult[]>;
  /** One per planned attempt, in their order; undefined if it is missing. */
  readonly outcomes: Sides<readonly (boolean | undefined)[]>;
}

/**
 * The gain has a bound at each reading: an attempt without the skill loaded passes no more often than the baseline, and one with it is
 * compared with the better of the baseline and the attempts that did not load it. Harm counts by intention to treat, unless no attempt of
 * either arm loaded the skill.
 */
export function measureCase(
  { results, outcomes }: MeasuredCase,
  isUsed: ((result: CaseResult) => boolean) | undefined,
  mayPass: (result: CaseResult) => boolean,
): CaseDifference {
  const attempts = [...new Set([...results.of, ...results.against].map(({ attempt }) => attempt))].toSorted(
    (a, b) => a - b,
  );
  const used = attempts.map((attempt) => {
    const result = results.of.find((one) => one.attempt === attempt);
    return isUsed === undefined || (result !== undefined && isUsed(result));
  });
  const rate = (side: 'of' | 'against') => readRate(outcomes[side], results[side].filter(mayPass).length);
  const [of, against] = [rate('of'), rate('against')];
  const seen = of.seen - against.seen;
  const high = of.high - against.low;
  const known = outcomes.of.map((outcome, at) => ({ outcome, isUsed: used[at] === true }));
  const loaded = known.filter((one) => one.isUsed).map(({ outcome }) => outcome);
  const idle = known.filter((one) => !one.isUsed && one.outcome !== undefined).map(({ outcome }) => outcome);
  const missing = known.length - loaded.length - idle.length;
  if (loaded.length === known.length) return { seen, low: of.low - against.high, high };
  const gain = readRate(loaded, 0).low - Math.max(against.high, idle.length === 0 ? 0 : readRate(idle, 0).low);
  const idleGain = Math.min(0, readRate(idle, 0).low - against.high);
  const low = (loaded.length * gain + idle.length * idleGain - missing * against.high) / Math.max(1, known.length);
  const isIdle = ![...results.of, ...results.against].some((result) => isUsed?.(result) === true);
  return { seen, low, high: isIdle ? Math.max(0, high) : high };
}

/** The pass rate, and its bounds if all attempts that are missing or ended early failed or passed. */
function readRate(
  outcomes: readonly (boolean | undefined)[],
  early: number,
): Readonly<Record<'seen' | 'low' | 'high', number>> {
  const passed = outcomes.filter((one) => one === true).length;
  const missing = outcomes.filter((one) => one === undefined).length;
  const [all, known] = [Math.max(1, outcomes.length), outcomes.length - missing];
  return { seen: known === 0 ? 0.5 : passed / known, low: passed / all, high: (passed + missing + early) / all };
}

export function meanOf(cases: readonly CaseDifference[]): CaseDifference {
  return {
    seen: computeMean(cases.map(({ seen }) => seen)),
    low: computeMean(cases.map(({ seen, low = seen }) => low)),
    high: computeMean(cases.map(({ seen, high = seen }) => high)),
  };
}
