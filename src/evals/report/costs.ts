/**
 * What a run costs, in tokens, money and time: means over cases with 95 % intervals. The case is the unit, as for the effect: its attempts are
 * averaged first, and near-identical cases count once. A case whose cost is unknown is left out and said to be.
 */
import { hasUsage, isAsked } from './prices.ts';
import type { CostDifferences, CostMeasures, CostName, Measure } from './measures.ts';
import { hasVerdict, type CaseResult } from './result.ts';
import { groupCases } from './same-requests.ts';
import { meanInterval } from '../statistics/case-differences.ts';
import { computeMean } from '../statistics/statistics.ts';

interface CostKind {
  /** Whether the cost is asked about; otherwise the result does not count at all. */
  readonly isMeasured: (result: CaseResult) => boolean;
  /** Undefined if it is unknown. */
  readonly read: (result: CaseResult) => number | undefined;
}

const tokens = (read: (cost: CaseResult['cost']) => number | undefined): CostKind => ({
  isMeasured: isAsked,
  read: (result) => (hasUsage(result) ? read(result.cost) : undefined),
});

const KINDS: Readonly<Record<CostName, CostKind>> = {
  tokens: tokens(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
  inputTokens: tokens(({ inputTokens }) => inputTokens),
  cachedTokens: tokens(({ cachedTokens }) => cachedTokens),
  outputTokens: tokens(({ outputTokens }) => outputTokens),
  usd: { isMeasured: isAsked, read: ({ cost }) => cost.usd },
  // A recorded answer takes no time.
  wallMs: {
    isMeasured: (result) => isAsked(result) && result.model.way === 'live',
    read: ({ cost }) => cost.wallMs,
  },
};

/** The costs of a run in one arm, whose results these are. */
export function measureCosts(results: readonly CaseResult[]): CostMeasures {
  const units = groupCases(results);
  return mapKinds((kind) => summarize(units.map((unit) => measureUnit(unit, kind))));
}

/** The differences of the costs of a run between two arms, over the cases whose costs are known in both. */
export function compareCosts(of: readonly CaseResult[], against: readonly CaseResult[]): CostDifferences {
  const units = groupCases([...of, ...against]);
  const mine = new Set(of);
  return mapKinds((kind) => {
    const pairs = units.map((unit) => {
      const own = measureUnit(
        unit.filter((result) => mine.has(result)),
        kind,
      );
      const other = measureUnit(
        unit.filter((result) => !mine.has(result)),
        kind,
      );
      if (own === 'not measured' && other === 'not measured') return 'not measured';
      return typeof own === 'number' && typeof other === 'number' ? { own, other } : undefined;
    });
    const known = pairs.filter((pair) => typeof pair === 'object');
    const means =
      known.length === 0
        ? {}
        : { of: computeMean(known.map(({ own }) => own)), against: computeMean(known.map(({ other }) => other)) };
    return {
      ...means,
      difference: summarize(pairs.map((pair) => (typeof pair === 'object' ? pair.own - pair.other : pair))),
    };
  });
}

function mapKinds<T>(compute: (kind: CostKind) => T): Readonly<Record<CostName, T>> {
  const { tokens: all, inputTokens, cachedTokens, outputTokens, usd, wallMs } = KINDS;
  return {
    tokens: compute(all),
    inputTokens: compute(inputTokens),
    cachedTokens: compute(cachedTokens),
    outputTokens: compute(outputTokens),
    usd: compute(usd),
    wallMs: compute(wallMs),
  };
}

type UnitCost = number | undefined | 'not measured';

/** The mean over the attempts whose cost is known. An attempt that the harness broke has none, nor has an impossible amount. */
function measureUnit(results: readonly CaseResult[], { isMeasured, read }: CostKind): UnitCost {
  const measured = results.filter(isMeasured);
  if (measured.length === 0) return 'not measured';
  const known = measured.filter(hasVerdict).flatMap((result) => {
    const value = read(result);
    return value !== undefined && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? [value] : [];
  });
  return known.length === 0 ? undefined : computeMean(known);
}

function summarize(units: readonly UnitCost[]): Measure {
  const measured = units.filter((unit) => unit !== 'not measured');
  const values = measured.filter((unit) => unit !== undefined);
  return { ...(values.length === 0 ? {} : meanInterval(values)), cases: values.length, of: measured.length };
}
