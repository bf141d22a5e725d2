/** Compares two arms case by case. Only cases with a verdict in both arms count; without such pairs there is no comparison. */
import { groupBy, hasVerdict } from './result.ts';
import type { Arm, CaseResult, Comparison } from './result.ts';
import { mcNemar, meanOf, pairedBootstrap, smallestVisible } from '../statistics/statistics.ts';

export interface NoComparison {
  readonly type: 'no-comparison';
  readonly reason: string;
}

export interface CompareOptions {
  readonly of: Arm;
  readonly against: Arm;
  /** Seed of the bootstrap. */
  readonly seed?: number;
}

interface Pair {
  readonly case: string;
  readonly of: readonly CaseResult[];
  readonly against: readonly CaseResult[];
}

export function compareArms(
  results: readonly CaseResult[],
  { of, against, seed = 1 }: CompareOptions,
): Comparison | NoComparison {
  if (of === against) return { type: 'no-comparison', reason: `cannot compare ${of} with itself` };
  const pairs = pairsOf(results, of, against);
  if (pairs.length === 0) return { type: 'no-comparison', reason: missingText(results, of, against) };
  const better = pairs.filter((pair) => isPassed(pair.of) && !isPassed(pair.against)).length;
  const worse = pairs.filter((pair) => !isPassed(pair.of) && isPassed(pair.against)).length;
  const differences = pairs.map((pair) => passShare(pair.of) - passShare(pair.against));
  return {
    of,
    against,
    pairs: pairs.length,
    better,
    worse,
    difference: pairedBootstrap(differences, { seed }),
    p: mcNemar(better, worse),
    smallestVisible: smallestVisible(pairs.length, better + worse),
    sayNothing: pairs.flatMap(alwaysPassing),
    tokens: both(pairs, ({ cost }) => cost.inputTokens + cost.outputTokens),
    wallMs: both(pairs, ({ cost }) => cost.wallMs),
  };
}

export function isComparison(compared: Comparison | NoComparison): compared is Comparison {
  return !('type' in compared);
}

function pairsOf(results: readonly CaseResult[], of: Arm, against: Arm): readonly Pair[] {
  const ids = [...new Set(results.map((result) => result.case))];
  const verdicts = groupBy(results.filter(hasVerdict), (result) => JSON.stringify([result.arm, result.case]));
  const found = (arm: Arm, id: string): readonly CaseResult[] => verdicts.get(JSON.stringify([arm, id])) ?? [];
  return ids
    .map((id) => ({ case: id, of: found(of, id), against: found(against, id) }))
    .filter((pair) => pair.of.length > 0 && pair.against.length > 0);
}

function missingText(results: readonly CaseResult[], of: Arm, against: Arm): string {
  const counted = [of, against].map((arm) => {
    const ofArm = results.filter((result) => result.arm === arm);
    return `${arm}: ${String(ofArm.filter(hasVerdict).length)} of ${String(ofArm.length)} runs with a verdict`;
  });
  return `no case has a verdict in both arms (${counted.join('; ')})`;
}

/** A repeated case passes if more than half of its attempts pass. */
function isPassed(results: readonly CaseResult[]): boolean {
  return passShare(results) > 0.5;
}

function passShare(results: readonly CaseResult[]): number {
  return results.filter(({ status }) => status === 'passed').length / results.length;
}

/** Checks that pass in every attempt of both arms. */
function alwaysPassing({ case: id, of, against }: Pair): readonly { readonly case: string; readonly check: string }[] {
  const all = [...of, ...against];
  const [first] = all;
  const passes = (check: string): boolean =>
    all.every(({ checks }) => checks.some((one) => one.id === check && one.status === 'passed'));
  return (first?.checks ?? []).filter((check) => passes(check.id)).map((check) => ({ case: id, check: check.id }));
}

/** Averages per case first, so that cases with more attempts weigh no more. */
function both(pairs: readonly Pair[], amount: (result: CaseResult) => number): Comparison['tokens'] {
  const mean = (arm: 'of' | 'against'): number => meanOf(pairs.map((pair) => meanOf(pair[arm].map(amount))));
  return { of: mean('of'), against: mean('against') };
}
