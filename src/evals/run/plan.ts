/** Says before a live evaluation how many runs it has, what they will cost, and how many a difference of the asked size needs. */
import { defined } from '#core';
import type { EvalCase } from '../cases/case.ts';
import { amountText, numberText, countTokens } from '../report/report-text.ts';
import { hasVerdict, type EvalReport } from '../report/result.ts';
import { computeMean, pairsNeeded } from '../statistics/statistics.ts';
import { answersFor, type SuiteModel } from './case-model.ts';

export interface PlanOptions {
  readonly cases: readonly EvalCase[];
  readonly model: SuiteModel;
  readonly arms: number;
  readonly repeat?: number;
  readonly detect: number;
  readonly hasJudge: boolean;
  /** Stored reports, newest last, for the tokens of a run. */
  readonly earlier: readonly EvalReport[];
}

export interface EvalPlan {
  /** Runs of the model, over all cases, arms and repetitions. */
  readonly runs: number;
  readonly tokens?: number;
  /** Only for a comparison: what it takes to detect the difference with a power of 80 %. */
  readonly needed?: { readonly repetitions: number; readonly runs: number; readonly tokens?: number };
  readonly lines: readonly string[];
}

/** A sequential test needs more pairs than one of a fixed size if the difference is no larger than planned. */
const SEQUENTIAL = 1.5;

export function buildPlan({ cases, model, arms, repeat, detect, hasJudge, earlier }: PlanOptions): EvalPlan {
  const asked = cases.filter((one) => answersFor(one, model) === undefined);
  const runs = asked.reduce((sum, one) => sum + (repeat ?? one.repeat), 0) * arms;
  const perRun = tokensPerRun(asked, model, earlier);
  const tokens = (count: number): string =>
    perRun === undefined ? 'tokens unknown before the first run' : `about ${numberText(count * perRun.tokens)} tokens`;
  const parts = `${amountText(asked.length, 'case')}, ${amountText(arms, 'arm')}`;
  const first = `plan: ${amountText(runs, 'run')} of ${model.id} (${parts}), ${tokens(runs)}${perRun === undefined ? '' : ` (${perRun.from})`}`;
  const judged = asked.filter(
    ({ expect: { output, outcome, rubric } }) => output ?? outcome ?? (hasJudge ? rubric : undefined),
  ).length;
  const known = (count: number) => perRun && Math.round(count * perRun.tokens);
  const plan = { runs, ...defined({ tokens: known(runs) }) };
  if (arms < 2) return { ...plan, lines: [first] };
  const points = `${String(Math.round(detect * 100))} points`;
  if (judged === 0)
    return { ...plan, lines: [first, 'no case checks an outcome: a comparison would be invalid (add output checks)'] };
  const pairs = pairsNeeded(detect);
  const repetitions = Math.ceil(pairs / judged);
  const all = asked.length * arms * repetitions;
  const what = `${amountText(repetitions, 'repetition')} of ${amountText(judged, 'case')} with an outcome`;
  const cost = `(${amountText(all, 'run')}, ${tokens(all)})`;
  return {
    ...plan,
    needed: { repetitions, runs: all, tokens: known(all) },
    lines: [first, `to detect ${points} with a power of 80 %: ${amountText(pairs, 'pair')}, so ${what} ${cost}`],
  };
}

export function mostRepetitions({ needed }: EvalPlan): number {
  return Math.min(1000, Math.ceil((needed?.repetitions ?? 1) * SEQUENTIAL));
}

/** The mean of the last report with this model, else of any report with these cases, whose requests have the same size. */
function tokensPerRun(
  cases: readonly EvalCase[],
  { id, way }: SuiteModel,
  earlier: readonly EvalReport[],
): { readonly tokens: number; readonly from: string } | undefined {
  const ids = new Set(cases.map((one) => one.id));
  const known = earlier.map(({ results }) => results.filter((result) => hasVerdict(result) && ids.has(result.case)));
  const own = known.map((results) => results.filter(({ model }) => model.id === id && model.way === way));
  const found = own.findLast((results) => results.length > 0);
  const results = found ?? known.findLast((some) => some.length > 0);
  if (results === undefined) return undefined;
  const tokens = computeMean(results.map(({ cost }) => countTokens(cost)));
  return {
    tokens,
    from: `${numberText(tokens)} a run in ${found === undefined ? 'a scripted run' : 'the last report'}`,
  };
}
