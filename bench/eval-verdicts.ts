/** How often a comparison is wrong without an effect, and right with one, over simulated suites. */
import { openRandom } from '#core';
import { compareArms, isComparison } from '../src/evals/report/compare-arms.ts';
import { ungradedResult, type Arm, type CaseResult } from '../src/evals/report/result.ts';
import { verdictOfDifference } from '../src/evals/report/report-text.ts';
import { meanInterval } from '../src/evals/statistics/case-differences.ts';
import type { BenchRow } from './row.ts';

export interface SimulatedSuites {
  readonly suites: number;
  /** Cases of one suite, by its number. */
  readonly cases: (suite: number) => number;
  readonly attempts: (suite: number) => number;
  /** How much more often a case passes with the skill; its pass rate without it lies between 0 and 1 - `effect`. */
  readonly effect: number;
  /** The share of attempts that the network breaks (default: 0). */
  readonly broken?: number;
}

export interface SimulatedVerdicts {
  readonly suites: number;
  readonly better: number;
  readonly worse: number;
  /** Suites whose smallest detectable difference is at most the effect, and those of them that find it. */
  readonly able: number;
  readonly found: number;
  /** Suites whose interval and verdict contradict each other. */
  readonly contradictions: number;
}

/** Simulates suites with a fixed seed each. Pass rates of cases without the skill are uniform, so that cases are flaky at all rates. */
export function simulateSuites({ suites, cases, attempts, effect, broken = 0 }: SimulatedSuites): SimulatedVerdicts {
  let [better, worse, able, found, contradictions] = [0, 0, 0, 0, 0];
  for (let suite = 1; suite <= suites; suite += 1) {
    const random = openRandom(suite * 7919);
    const chance = (share: number): boolean => random.below(1_000_000) < share * 1_000_000;
    const results = Array.from({ length: cases(suite) }, (_, place) => {
      const rate = (random.below(1_000_001) / 1_000_000) * (1 - effect);
      return Array.from({ length: attempts(suite) }, (_one, attempt) =>
        (['with', 'without'] as const).map((arm) => {
          const isPassed = chance(arm === 'with' ? rate + effect : rate);
          return simulatedResult(place, arm, attempt + 1, chance(broken) ? undefined : isPassed);
        }),
      );
    }).flat(2);
    const compared = compareArms(results, { of: 'with', against: 'without' });
    if (!isComparison(compared)) continue;
    const verdict = verdictOfDifference(compared);
    const { low, high } = compared.difference;
    if ((verdict === 'better') !== low > 0 || (verdict === 'worse') !== high < 0) contradictions += 1;
    if (verdict === 'better') better += 1;
    if (verdict === 'worse') worse += 1;
    if (compared.smallestVisible > effect) continue;
    able += 1;
    if (verdict === 'better') found += 1;
  }
  return { suites, better, worse, able, found, contradictions };
}

const LETTERS = 'bcdfghjklmnpqrstvwxz';

function simulatedResult(place: number, arm: Arm, attempt: number, isPassed: boolean | undefined): CaseResult {
  // Words without anything in common, so that no two requests are near-identical.
  const word = `${LETTERS[place % 20] ?? ''}a${LETTERS[Math.floor(place / 20)] ?? ''}`;
  const evalCase = { id: word, name: word, place: { file: '', line: 1, column: 1 }, input: word, tags: [] };
  const empty = ungradedResult({ evalCase, arm, attempt }, { id: 'simulated', way: 'live' });
  const given: Record<string, string> = arm === 'with' ? { 'skill tables': 'a' } : {};
  if (isPassed === undefined) return empty;
  const status = isPassed ? 'passed' : 'failed';
  const check = { id: 'output[0]', kind: 'output', status, asked: '', found: '', events: [] } as const;
  return { ...empty, status, checks: [check], loaded: arm === 'with' ? ['tables'] : [], given };
}

export const NULL_SUITES: SimulatedSuites = {
  suites: 1000,
  cases: (suite) => 8 + (suite % 33),
  attempts: (suite) => 1 + (suite % 5),
  effect: 0,
};

export const EFFECT_SUITES: SimulatedSuites = {
  suites: 400,
  cases: () => 24,
  attempts: (suite) => 1 + (suite % 5),
  effect: 0.3,
};

interface SimulatedCosts {
  readonly suites: number;
  /** Intervals of the mean of one arm that hold the true mean. */
  readonly held: number;
  /** Intervals of the difference that exclude 0, although the arms cost the same. */
  readonly wrong: number;
}

/** Simulates the tokens of runs without an effect. Cases differ by a factor, with a few that are expensive, and attempts vary around them. */
function simulateCosts({ suites, cases, attempts }: Omit<SimulatedSuites, 'effect'>): SimulatedCosts {
  let [held, wrong] = [0, 0];
  const [apart, around] = [0.5, 0.2];
  for (let suite = 1; suite <= suites; suite += 1) {
    const random = openRandom(suite * 6007);
    const factor = (sigma: number): number => Math.exp(sigma * normal(() => random.below(1_000_000) / 1_000_000));
    const costs = Array.from({ length: cases(suite) }, () => {
      const usual = 10_000 * factor(apart);
      const mean = (): number =>
        Array.from({ length: attempts(suite) }, () => usual * factor(around)).reduce((sum, one) => sum + one, 0) /
        attempts(suite);
      return { of: mean(), against: mean() };
    });
    const own = meanInterval(costs.map(({ of }) => of));
    const difference = meanInterval(costs.map(({ of, against }) => of - against));
    const truth = 10_000 * Math.exp((apart ** 2 + around ** 2) / 2);
    if ((own.low ?? 0) <= truth && truth <= (own.high ?? Infinity)) held += 1;
    if ((difference.low ?? 0) > 0 || (difference.high ?? 0) < 0) wrong += 1;
  }
  return { suites, held, wrong };
}

/** The sum of twelve uniform numbers is almost normal. */
function normal(uniform: () => number): number {
  return Array.from({ length: 12 }, uniform).reduce((sum, one) => sum + one, -6);
}

export function benchEvalVerdicts(): readonly BenchRow[] {
  const costs = simulateCosts(NULL_SUITES);
  const held = Math.round((1000 * costs.held) / costs.suites) / 10;
  const apart = Math.round((1000 * costs.wrong) / costs.suites) / 10;
  const none = simulateSuites(NULL_SUITES);
  const some = simulateSuites(EFFECT_SUITES);
  const percent = (count: number, of: number): number => Math.round((1000 * count) / of) / 10;
  const wrong = percent(none.better + none.worse, none.suites);
  const power = percent(some.found, some.able);
  return [
    {
      name: `verdicts: "better" or "worse" without an effect, ${String(none.suites)} suites of 8 to 40 cases`,
      value: wrong,
      unit: '%',
      bound: '<= 5 %',
      ok: wrong <= 5,
      note: `${String(none.better)} better, ${String(none.worse)} worse`,
    },
    {
      name: 'verdicts: "better" with an effect of 30 points, suites of 24 cases that say they can detect it',
      value: power,
      unit: '%',
      bound: '>= 80 %',
      ok: power >= 80,
      note: `${String(some.able)} of ${String(some.suites)} suites say so; ${String(some.better)} of all found it`,
    },
    {
      name: `costs: intervals that hold the true mean, ${String(costs.suites)} suites of 8 to 40 cases, skewed to the right`,
      value: held,
      unit: '%',
      bound: '>= 90 %',
      ok: held >= 90,
    },
    {
      name: 'costs: differences that exclude 0 without an effect, the same suites',
      value: apart,
      unit: '%',
      bound: '<= 5 %',
      ok: apart <= 5,
    },
  ];
}
