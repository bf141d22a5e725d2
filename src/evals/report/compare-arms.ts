/**
 * Does the skill help: the same cases with it and without it, pair by pair. What the arms are is said by whoever compares and never by
 * how they sort; a case without a verdict in both arms is no pair, and where there is no pair there is no difference either.
 */
import { hasVerdict } from './result.ts';
import type { Arm, CaseResult, Comparison } from './result.ts';
import { mcNemar, meanOf, pairedBootstrap, smallestVisible } from '../statistics/statistics.ts';

/** Nothing can be compared. */
export interface NoComparison {
  readonly type: 'no-comparison';
  readonly reason: string;
}

export interface CompareOptions {
  readonly of: Arm;
  readonly against: Arm;
  /** Of the bootstrap. */
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
  if (of === against) return { type: 'no-comparison', reason: `${of} is compared with itself` };
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
    sayNothing: pairs.flatMap(sayingNothing),
    tokens: both(pairs, ({ cost }) => cost.inputTokens + cost.outputTokens),
    wallMs: both(pairs, ({ cost }) => cost.wallMs),
  };
}

export function isComparison(compared: Comparison | NoComparison): compared is Comparison {
  return !('type' in compared);
}

function pairsOf(results: readonly CaseResult[], of: Arm, against: Arm): readonly Pair[] {
  const ids = [...new Set(results.map((result) => result.case))];
  const verdicts = new Map<string, CaseResult[]>();
  for (const result of results) {
    if (!hasVerdict(result)) continue;
    const key = JSON.stringify([result.arm, result.case]);
    const known = verdicts.get(key);
    if (known === undefined) verdicts.set(key, [result]);
    else known.push(result);
  }
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

/** Repeated cases pass where more than half of their attempts do. */
function isPassed(results: readonly CaseResult[]): boolean {
  return passShare(results) > 0.5;
}

function passShare(results: readonly CaseResult[]): number {
  return results.filter(({ status }) => status === 'passed').length / results.length;
}

/** Checks that every attempt of both arms passes: they would pass without the skill. */
function sayingNothing({ case: id, of, against }: Pair): readonly { readonly case: string; readonly check: string }[] {
  const all = [...of, ...against];
  const [first] = all;
  const passes = (check: string): boolean =>
    all.every(({ checks }) => checks.some((one) => one.id === check && one.status === 'passed'));
  return (first?.checks ?? []).filter((check) => passes(check.id)).map((check) => ({ case: id, check: check.id }));
}

/** The mean of an attempt, over cases, so that cases with more attempts weigh no more. */
function both(pairs: readonly Pair[], amount: (result: CaseResult) => number): Comparison['tokens'] {
  const mean = (arm: 'of' | 'against'): number => meanOf(pairs.map((pair) => meanOf(pair[arm].map(amount))));
  return { of: mean('of'), against: mean('against') };
}
