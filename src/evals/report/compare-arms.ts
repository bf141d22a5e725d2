/**
 * Compares the outcomes of two arms. What the baseline cannot meet by construction is left out and counted: a trigger check fails without
 * the skill whatever the model answers. Cases whose answers do not depend on the arm are left out too. Without an outcome there is no score.
 */
import {
  groupBy,
  hasVerdict,
  type Arm,
  type CaseResult,
  type CheckKind,
  type Comparison,
  type ComparisonGaps,
  type NoComparison,
} from './result.ts';
import { countText } from '#core';
import {
  mcNemar,
  computeMean,
  pairedInterval,
  smallestVisible,
  bettingInterval,
  bettingWealth,
  type PairCounts,
} from '../statistics/statistics.ts';

export interface CompareOptions {
  readonly of: Arm;
  readonly against: Arm;
  /** The number of attempts depended on the results, so that intervals must hold at every stop. */
  readonly isSequential?: boolean;
}

/** Budgets are costs, and denials and disclosure depend on the tools of the skill. */
const OUTCOMES: ReadonlySet<CheckKind> = new Set(['output', 'outcome', 'judge']);
/** The old version of a skill can be loaded, so that triggering can be compared. */
const OUTCOMES_OF_VERSIONS: ReadonlySet<CheckKind> = new Set([...OUTCOMES, 'trigger']);

interface CasePairs {
  readonly case: string;
  readonly pairs: readonly Pair[];
  readonly checks: ReadonlySet<string>;
}

interface Pair {
  readonly attempt: number;
  readonly of: CaseResult;
  readonly against: CaseResult;
  readonly passed: { readonly of: boolean; readonly against: boolean };
}

export function compareArms(
  results: readonly CaseResult[],
  { of, against, isSequential = false }: CompareOptions,
): Comparison | NoComparison {
  const kinds = against === 'without' || of === 'without' ? OUTCOMES : OUTCOMES_OF_VERSIONS;
  const both = results.filter(({ arm }) => arm === of || arm === against);
  const cases = [...groupBy(both, (result) => result.case)].map(([id, attempts]) => {
    const [mine, theirs] = [of, against].map((arm) => attempts.filter((result) => result.arm === arm));
    return pairResults(id, mine ?? [], theirs ?? [], kinds);
  });
  const compared = cases.filter((one): one is CasePairs => 'pairs' in one);
  const excluded: ComparisonGaps = {
    checks: countKinds(both, kinds),
    cases: cases.flatMap((one) => ('reason' in one ? [one] : [])),
  };
  const pairs = compared.flatMap((one) => one.pairs);
  if (pairs.length === 0) return { of, against, reason: reasonText(excluded), excluded };
  const counts = countPairs(pairs);
  const { better, worse } = counts;
  return {
    of,
    against,
    cases: compared.length,
    pairs: pairs.length,
    passed: { of: counts.both + better, against: counts.both + worse },
    better,
    worse,
    difference: isSequential ? bettingInterval(counts) : pairedInterval(counts),
    method: isSequential ? 'sequential' : 'fixed',
    p: isSequential ? anytimeP(pairs) : mcNemar(better, worse),
    smallestVisible: smallestVisible(pairs.length, better + worse),
    excluded,
    sayNothing: compared.flatMap(alwaysPassing),
    tokens: sides(compared, ({ cost }) => cost.inputTokens + cost.outputTokens),
    wallMs: sides(compared, ({ cost }) => cost.wallMs),
  };
}

export function isComparison(compared: Comparison | NoComparison): compared is Comparison {
  return !('reason' in compared);
}

function pairResults(
  id: string,
  of: readonly CaseResult[],
  against: readonly CaseResult[],
  kinds: ReadonlySet<CheckKind>,
): CasePairs | { readonly case: string; readonly reason: string } {
  const reason = sameAnswers(of, against);
  if (reason !== undefined) return { case: id, reason };
  // A check must have a verdict in both arms: one that only the skill's run was judged by compares nothing.
  const [mine, theirs] = [of, against].map((results) => judgedChecks(results, kinds));
  const checks = new Set([...(mine ?? [])].filter((check) => theirs?.has(check)));
  const others = new Map(against.map((result) => [result.attempt, result]));
  const pairs = of.flatMap((result): readonly Pair[] => {
    const other = others.get(result.attempt);
    const [passed, otherPassed] = [readOutcome(result, checks), other && readOutcome(other, checks)];
    if (other === undefined || passed === undefined || otherPassed === undefined) return [];
    return [{ attempt: result.attempt, of: result, against: other, passed: { of: passed, against: otherPassed } }];
  });
  // Repeating what always answers the same adds no evidence.
  const counted = isDeterministic(of) && isDeterministic(against) ? pairs.slice(0, 1) : pairs;
  if (counted.length > 0) return { case: id, pairs: counted, checks };
  const all = [...of, ...against];
  const isAsked = !all.every(hasVerdict) || all.some((result) => result.checks.some(({ kind }) => kinds.has(kind)));
  return { case: id, reason: isAsked ? 'no outcome has a verdict in both arms' : 'no outcome is checked' };
}

function sameAnswers(of: readonly CaseResult[], against: readonly CaseResult[]): string | undefined {
  const all = [...of, ...against];
  if (all.some(({ model }) => model.way === 'scripted' && model.id !== '')) return 'its answers are scripted';
  const [mine, theirs] = [of, against].map((results) => results.map(({ model }) => model.answers).join('\n'));
  const isRecorded =
    all.length > 0 && all.every(({ model }) => model.way === 'cassette' && model.answers !== undefined);
  return isRecorded && mine === theirs ? 'both arms have the same recorded answers' : undefined;
}

function isDeterministic(results: readonly CaseResult[]): boolean {
  return results.every(({ model }) => model.way === 'rules');
}

function judgedChecks(results: readonly CaseResult[], kinds: ReadonlySet<CheckKind>): ReadonlySet<string> {
  return new Set(
    results
      .flatMap(({ checks }) => checks)
      .filter((check) => kinds.has(check.kind) && hasVerdict(check))
      .map(({ id }) => id),
  );
}

/** Undefined if the run broke, or if one of the checks has no verdict in it. */
function readOutcome({ status, checks }: CaseResult, ids: ReadonlySet<string>): boolean | undefined {
  const own = checks.filter(({ id }) => ids.has(id));
  if (status === 'error' || own.length === 0 || !own.every(hasVerdict)) return undefined;
  return own.every((check) => check.status === 'passed');
}

function countPairs(pairs: readonly Pair[]): PairCounts {
  const many = (of: boolean, against: boolean): number =>
    pairs.filter(({ passed }) => passed.of === of && passed.against === against).length;
  return { both: many(true, true), better: many(true, false), worse: many(false, true), neither: many(false, false) };
}

/** The largest wealth after any round bounds the chance of ever seeing it without a difference. */
function anytimeP(pairs: readonly Pair[]): number {
  const rounds = [...new Set(pairs.map(({ attempt }) => attempt))];
  const wealth = rounds.map((round) => bettingWealth(countPairs(pairs.filter(({ attempt }) => attempt <= round)), 0));
  return Math.min(1, 1 / Math.max(...wealth));
}

function countKinds(results: readonly CaseResult[], kinds: ReadonlySet<CheckKind>): ComparisonGaps['checks'] {
  const left = results.flatMap(({ checks }) => checks.map(({ kind }) => kind)).filter((kind) => !kinds.has(kind));
  return [...new Set(left)].map((kind) => ({ kind, count: left.filter((one) => one === kind).length }));
}

function reasonText({ checks, cases }: ComparisonGaps): string {
  const reasons = [...groupBy(cases, ({ reason }) => reason)]
    .map(([reason, all]) => `${countText(all.length, 'case')}: ${reason}`)
    .join('; ');
  const left = checks.map(({ kind, count }) => `${String(count)} ${kind}`).join(', ');
  const byConstruction = left === '' ? '' : `; not comparable by construction: ${left}`;
  return `no outcome was judged${reasons === '' ? '' : ` (${reasons})`}${byConstruction}`;
}

function alwaysPassing({ case: id, pairs, checks }: CasePairs): Comparison['sayNothing'] {
  const all = pairs.flatMap(({ of, against }) => [...of.checks, ...against.checks]);
  return [...checks]
    .filter((check) => all.every((one) => one.id !== check || one.status === 'passed'))
    .map((check) => ({ case: id, check }));
}

/** Averages per case first, so that cases with more attempts weigh no more. */
function sides(cases: readonly CasePairs[], amount: (result: CaseResult) => number): Comparison['tokens'] {
  const mean = (arm: 'of' | 'against'): number =>
    computeMean(cases.map(({ pairs }) => computeMean(pairs.map((pair) => amount(pair[arm])))));
  return { of: mean('of'), against: mean('against') };
}
