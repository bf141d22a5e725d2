/** Says before a live evaluation how many runs it has, what they will cost, and how many cases a difference of the asked size needs. */
import { defined } from '#core';
import type { EvalCase } from '../cases/case.ts';
import { amountText, countTokens } from '../report/report-text.ts';
import { numberText } from '../report/cost-text.ts';
import { hasVerdict, type EvalReport } from '../report/result.ts';
import { groupSameRequests } from '../report/same-requests.ts';
import { toAskedRequest } from '../cases/asked-request.ts';
import { computeMean, casesNeeded } from '../statistics/statistics.ts';
import { answersFor, type SuiteModel } from './case-model.ts';

export interface PlanOptions {
  readonly cases: readonly EvalCase[];
  readonly model: SuiteModel;
  readonly arms: number;
  readonly repeat?: number;
  readonly detect: number;
  readonly hasJudge: boolean;
  /** Recorded cases ask the model too. */
  readonly updateCassettes: boolean;
  /** Stored reports, newest last, for the tokens of a run. */
  readonly earlier: readonly EvalReport[];
}

export interface EvalPlan {
  /** Runs of the model, over all cases, arms and repetitions. */
  readonly runs: number;
  readonly tokens?: number;
  /** Only for a comparison: the different cases that detect the difference with a power of 80 %, and those there are. */
  readonly needed?: { readonly cases: number; readonly known: number };
  readonly lines: readonly string[];
}

/** Attempts per case of an evaluation that stops when it is decided, if the caller names no number. */
export const MOST_ATTEMPTS = 8;

export function buildPlan(options: PlanOptions): EvalPlan {
  const { cases, model, arms, repeat, detect, hasJudge, updateCassettes, earlier } = options;
  const asked = cases.filter((one) => {
    const answers = answersFor(one, model);
    return answers === undefined || (answers.type === 'cassette' && updateCassettes);
  });
  const runs = asked.reduce((sum, one) => sum + (repeat ?? one.repeat), 0) * arms;
  const perRun = tokensPerRun(asked, model, earlier);
  const tokens = (count: number): string =>
    perRun === undefined ? 'tokens unknown before the first run' : `about ${numberText(count * perRun.tokens)} tokens`;
  const parts = `${amountText(asked.length, 'case')}, ${amountText(arms, 'arm')}`;
  const first = `plan: ${amountText(runs, 'run')} of ${model.id} (${parts}), ${tokens(runs)}${perRun === undefined ? '' : ` (${perRun.from})`}`;
  const judged = asked.filter(
    ({ expect: { output, outcome, rubric }, quarantine }) =>
      quarantine === undefined && (output ?? outcome ?? (hasJudge ? rubric : undefined)),
  );
  const plan = { runs, ...defined({ tokens: perRun && Math.round(runs * perRun.tokens) }) };
  if (arms < 2) return { ...plan, lines: [first] };
  if (judged.length === 0)
    return { ...plan, lines: [first, 'no case checks an outcome: a comparison would be invalid (add output checks)'] };
  const known = groupSameRequests(judged.map(toAskedRequest)).length;
  const need = casesNeeded(detect);
  const points = (part: number): string => `${String(Math.round(part * 100))} points`;
  const enough = known >= need ? '' : `; ${visibleText(known, points)}`;
  const have = `the suite has ${numberText(known)} with an outcome${enough}`;
  return {
    ...plan,
    needed: { cases: need, known },
    lines: [first, `to detect ${points(detect)} with a power of 80 %: ${amountText(need, 'different case')}; ${have}`],
  };
}

/** Repetitions make a flaky case more exact; only other cases show whether the skill helps with other requests. */
function visibleText(known: number, points: (part: number) => string): string {
  const visible = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1].find((part) => casesNeeded(part) <= known);
  return visible === undefined
    ? 'add cases, not repetitions: so few detect nothing'
    : `add cases, not repetitions: so few detect ${points(visible)}`;
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
