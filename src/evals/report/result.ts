/** The results of an evaluation, one per case, arm and attempt. Reports and statistics use nothing else. */
import type { CaseLocation, EvalCase } from '../cases/case.ts';
import type { Thresholds } from './thresholds.ts';
import type { CostDifferences, CostMeasures, ModelPrice } from './measures.ts';
import type { Quarantine } from '../cases/quarantine.ts';

/** `error` means that the harness, the network or a checker failed; it counts as neither passed nor failed. */
export const CASE_STATUSES = ['passed', 'failed', 'error', 'skipped'] as const;
export type CaseStatus = (typeof CASE_STATUSES)[number];

export type CheckKind =
  | 'trigger'
  | 'sequence'
  | 'disclosure'
  | 'security'
  | 'budget'
  | 'output'
  | 'outcome'
  | 'streaming'
  | 'judge';

/** `with` has the skill as it is, `without` lacks it, `old` has its baseline version. */
export const ARMS = ['with', 'without', 'old'] as const;
export type Arm = (typeof ARMS)[number];

/** Where the answers came from. */
export type ModelWay = 'scripted' | 'rules' | 'cassette' | 'live';

export interface CheckResult {
  /** Stable within a case: `skills.all_of`, `output[0]`. */
  readonly id: string;
  readonly kind: CheckKind;
  readonly status: CaseStatus;
  readonly asked: string;
  /** The actual outcome; often empty for a passed check. */
  readonly found: string;
  /** Numbers of the events that prove it. */
  readonly events: readonly number[];
}

export interface CaseCost {
  readonly turns: number;
  readonly toolCalls: number;
  readonly scriptRuns: number;
  /** As reported by the model, otherwise estimated. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input tokens, those that the provider read from its cache, and those that it wrote there; absent if not reported. */
  readonly cachedTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly tokensAreEstimated: boolean;
  readonly wallMs: number;
  /** In US dollars: as the agent reports it, otherwise by the price of the model. Absent if neither is known. */
  readonly usd?: number;
}

export const ZERO_COST: CaseCost = {
  turns: 0,
  toolCalls: 0,
  scriptRuns: 0,
  inputTokens: 0,
  outputTokens: 0,
  tokensAreEstimated: false,
  wallMs: 0,
};

export interface CaseResult {
  readonly case: string;
  readonly name: string;
  readonly place: CaseLocation;
  readonly input: string;
  readonly tags: readonly string[];
  /** The evaluated skill; absent if the case is about all skills. */
  readonly skill?: string;
  readonly arm: Arm;
  readonly attempt: number;
  readonly status: CaseStatus;
  /** Explains `error` and `skipped`. */
  readonly reason: string;
  readonly checks: readonly CheckResult[];
  readonly loaded: readonly string[];
  readonly answer: string;
  readonly cost: CaseCost;
  readonly model: AnsweringModel;
  /** Digests of everything that the attempt was given, by name: request, tools, budget, skills. Arms may differ in `skill NAME` only. */
  readonly given?: Readonly<Record<string, string>>;
  /** What the judge of its rubric lines cost. */
  readonly judged?: JudgeCost;
  /** The answers were generated with the case: the result tests the harness and counts in no pass rate. */
  readonly isHarnessCheck?: true;
  /** The case is flaky: the result is shown and counts in nothing. */
  readonly quarantine?: Quarantine;
  /** The run folder; absent if nothing ran. */
  readonly run?: string;
  readonly isCached: boolean;
  /** The errors of earlier sessions before this outcome. It decides no comparison: it was asked for again because the others were not. */
  readonly earlierErrors?: number;
  /** The arms of an attempt run in one turn, one after the other. Recorded answers have that of their recording; absent if it is unknown. */
  readonly turn?: Readonly<Record<'session' | 'id' | 'at', string>> & { readonly order: number };
}

export interface JudgeCost {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export function addJudgeCosts(costs: readonly JudgeCost[]): JudgeCost {
  const sum = (field: keyof JudgeCost): number => costs.reduce((total, one) => total + one[field], 0);
  return { calls: sum('calls'), inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
}

export interface AnsweringModel {
  readonly id: string;
  readonly way: ModelWay;
  /** Digest of scripted or recorded answers, to tell whether two arms got the same. */
  readonly answers?: string;
  /** The recording was edited after it was made. */
  readonly isEdited?: true;
  /** What the server says answered, each name once; absent if it says nothing. */
  readonly served?: Readonly<Record<'models' | 'fingerprints', readonly string[]>>;
}

/** An attempt, with the part of its case that its results repeat. */
interface AttemptHead extends Pick<CaseResult, 'arm' | 'attempt'> {
  readonly evalCase: Pick<EvalCase, 'id' | 'name' | 'place' | 'input' | 'tags' | 'answers' | 'quarantine'> &
    Partial<Pick<EvalCase, 'skills'>>;
}

/** An `error` result without checks, to be completed by the caller. */
export function ungradedResult({ evalCase, arm, attempt }: AttemptHead, model: AnsweringModel): CaseResult {
  const { id, name, place, input, tags, answers, quarantine, skills } = evalCase;
  const isHarnessCheck = answers?.type === 'script' && answers.isHarnessCheck === true && model.way === 'scripted';
  return {
    case: id,
    name,
    place,
    input,
    tags,
    skill: skills?.target,
    arm,
    attempt,
    status: 'error',
    reason: '',
    checks: [],
    loaded: [],
    answer: '',
    cost: ZERO_COST,
    model,
    ...(isHarnessCheck ? { isHarnessCheck } : {}),
    quarantine,
    isCached: false,
  };
}

export function hasVerdict({ status }: Pick<CaseResult, 'status'>): boolean {
  return status === 'passed' || status === 'failed';
}

/** Whether a model was asked. Results of cases that were skipped or could not start name none. */
export const didRun = ({ model }: Pick<CaseResult, 'model'>): boolean => model.id !== '';

/** Whether a result counts in rates, comparisons and verdicts. */
export function isCounted({ quarantine }: Pick<CaseResult, 'quarantine'>): boolean {
  return quarantine === undefined;
}

/** Prefix of the check that fails if a run did not end by itself; the rest names the limit, or `crash`. */
export const ENDED = 'ended.';

export const findEarlyEnd = ({ checks }: Pick<CaseResult, 'checks'>): string | undefined =>
  checks.find(({ id, status }) => id.startsWith(ENDED) && status === 'failed')?.id.slice(ENDED.length);

export function hasEndedEarly(result: Pick<CaseResult, 'checks'>): boolean {
  return findEarlyEnd(result) !== undefined;
}

/** Groups in the order of first occurrence. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** A rate with its 95 % Wilson interval, which counts different cases, not attempts. If `of` is 0, `low` is 0 and `high` is 1. */
export type Rate = Readonly<Record<'count' | 'of' | 'low' | 'high', number>>;

/** The change of the pass rate over all cases that a live model answers, with one-sided exact p-values. */
export interface RateChange extends Readonly<Record<'before' | 'after', Rate>> {
  readonly cases: number;
  /** The chance of such a fall if nothing changed. */
  readonly p: number;
}

export type StatusCounts = Readonly<Record<CaseStatus, number>>;

/** All results of one arm: `totals`, `harness` and `quarantined` together count each once. */
export interface ArmSummary {
  readonly arm: Arm;
  readonly totals: StatusCounts;
  /** Results whose answers were generated with the case; they count in no rate. */
  readonly harness: StatusCounts;
  /** Results of flaky cases; they count in no rate. */
  readonly quarantined: StatusCounts;
  readonly passRate: Rate;
  /** Checks without a verdict in results that have one, such as rubric lines without a judge. */
  readonly skippedChecks: number;
  readonly cases: number;
  /** Cases that a language model or the rule model answered, live or recorded. */
  readonly modelCases: number;
  /** The sum over all results. */
  readonly cost: CaseCost;
  readonly perRun: CostMeasures;
}

export interface ComparisonGaps {
  /** Number of checks that the baseline cannot meet by construction, or that are not about the outcome. */
  readonly checks: readonly { readonly kind: CheckKind; readonly count: number }[];
  readonly cases: readonly { readonly case: string; readonly reason: string }[];
}

export interface Comparison {
  readonly of: Arm;
  readonly against: Arm;
  /** Different cases; those with near-identical requests count once. */
  readonly cases: number;
  /** Planned attempts in each arm. */
  readonly pairs: number;
  /** Attempts that passed in each arm. */
  readonly passed: { readonly of: number; readonly against: number };
  /** Attempts in each arm that the harness or the network broke. The interval and p hold whatever they would have been. */
  readonly missing: { readonly of: number; readonly against: number };
  /** Attempts in each arm that a limit or a crash ended, and what ended them. They failed, but the interval and p hold also if they would have passed. */
  readonly endedEarly: { readonly of: number; readonly against: number; readonly by: readonly string[] };
  /** The verdict if attempts that ended early were failures beyond doubt, where it is another one. */
  readonly endedEarlyVerdict?: 'better' | 'worse';
  /** Passes of the first and the second run of a turn; absent unless they differ by more than chance. */
  readonly order?: Readonly<Record<'first' | 'second' | 'of', number>>;
  /** Cases that pass more often, or less often, in `of`. */
  readonly better: number;
  readonly worse: number;
  /** Mean over cases of the pass rate in `of` minus that in `against`, between -1 and 1, with a 95 % interval. */
  readonly difference: Readonly<Record<'mean' | 'low' | 'high', number>>;
  /** `sequential`: the evaluation could stop early, and each look has its part of the 5 %. */
  readonly method: 'fixed' | 'sequential';
  /** Of the exact test over cases whose inverse is the interval: below 5 % exactly if the interval excludes 0. */
  readonly p: number;
  /** The smallest difference that this number of cases detects at 5 % with a power of 80 %. */
  readonly smallestVisible: number;
  /** What is not the same in both arms, such as `skill csv-report`. */
  readonly differing: readonly string[];
  /** Attempts in `of` that loaded the skill; absent if the conditions were not recorded. */
  readonly used?: { readonly count: number; readonly of: number };
  /** Cases with near-identical requests, which count as one. */
  readonly merged: readonly (readonly string[])[];
  readonly excluded: ComparisonGaps;
  /** Checks that pass in both arms and so prove nothing about the skill. */
  readonly sayNothing: readonly { readonly case: string; readonly check: string }[];
  /** Of a run; over the compared cases. */
  readonly costs: CostDifferences;
}

export interface NoComparison {
  readonly of: Arm;
  readonly against: Arm;
  readonly reason: string;
  readonly excluded: ComparisonGaps;
}

export interface TriggerScore {
  readonly skill: string;
  readonly precision: Rate;
  readonly recall: Rate;
  readonly f1: number;
  /** At 95 %; absent in reports of earlier versions. */
  readonly f1Interval?: Pick<Rate, 'low' | 'high'>;
}

/** A precondition of all scores. */
export interface Control {
  readonly name: 'always-fire' | 'never-fire' | 'shuffled-labels';
  readonly asked: string;
  readonly found: string;
  readonly isKept: boolean;
}

export interface TriggerReport {
  readonly controls: readonly Control[];
  /** False if a control failed: then there are no scores. */
  readonly isValid: boolean;
  readonly scores: readonly TriggerScore[];
  readonly overall: Omit<TriggerScore, 'skill'> & { readonly quiet: Rate };
  /** Pairs of expected and loaded skills that occurred; `-` stands for no skill. */
  readonly confusion: readonly { readonly wanted: string; readonly took: string; readonly count: number }[];
  /** Recall and precision by the number of other skills. */
  readonly sweep: readonly { readonly distractors: number; readonly recall: Rate; readonly precision: Rate }[];
  readonly split?: { readonly train: Rate; readonly validation: Rate };
}

/** A case with different verdicts in different attempts, and how often it passes. */
export interface FlakyCase {
  readonly case: string;
  readonly arm: Arm;
  readonly rate: Rate;
  /** What to add to the case, if its attempts differ too often to count. */
  readonly proposal?: Quarantine;
}

/** Skills with the role `control` are installed by the trigger evaluation to test it, and are not evaluated. */
interface ReportSkill {
  readonly name: string;
  readonly digest: string;
  readonly version?: string;
  readonly role?: 'control';
}

/** Whether the judge can be believed. It is asked about known answers before the cases, and about answers to other requests after them. */
export interface JudgeReport {
  readonly id: string;
  /** Known good and known bad answers; one wrong verdict and the judge is not asked. `found` of a kept one is a doubt. */
  readonly controls: readonly JudgeControl[];
  /** Verdicts on labelled examples of the cases that agree with the label. */
  readonly agreement: Rate;
  /** What the controls and the labelled examples cost. */
  readonly controlCost: JudgeCost;
  /** Between the length of an answer and the share of its lines that hold; absent for fewer than three answers. */
  readonly lengthCorrelation?: number;
  /** All that the judge cost in this evaluation. */
  readonly cost: JudgeCost;
}

export interface JudgeControl {
  readonly name: string;
  readonly isKept: boolean;
  readonly found: string;
}

export interface SequentialRun {
  /** Attempts per case that ran, and that were allowed. */
  readonly rounds: number;
  readonly most: number;
  readonly detect: number;
}

/** What an evaluation may claim. It stands at the top of every format. */
export interface Verdict {
  /** `incomplete`: stopped, or more than a third was skipped. */
  readonly validity: 'valid' | 'invalid' | 'incomplete';
  /** Against the thresholds; `none` if the evaluation cannot be believed. */
  readonly result: 'passed' | 'failed' | 'none';
  /** Of the first comparison, with its 95 % interval; absent without one. */
  readonly effect?: string;
  readonly interval?: Comparison['difference'];
  readonly reasons: readonly string[];
  /** What the suite cannot show, by file and line. */
  readonly warnings: readonly string[];
  /** The verdict on each evaluated skill, by its own cases. */
  readonly skills?: readonly SkillVerdict[];
}

interface SkillVerdict extends Pick<Verdict, 'validity' | 'result' | 'effect' | 'interval'> {
  readonly skill: string;
  /** Such as `valid, failed: 2 passed, 1 failed`. */
  readonly title: string;
}

export interface EvalReport {
  readonly schema: 1;
  readonly verdict?: Verdict;
  /** What decided the verdict, to compute it again from a stored report. */
  readonly thresholds?: Thresholds;
  readonly tool: string;
  readonly startedAt: string;
  readonly wallMs: number;
  readonly skills: readonly ReportSkill[];
  readonly models: readonly { readonly id: string; readonly way: ModelWay }[];
  /** The prices that the money was computed with; a model that is missing has none. */
  readonly prices: readonly ModelPrice[];
  readonly results: readonly CaseResult[];
  /** One per arm, the evaluated one first. */
  readonly arms: readonly ArmSummary[];
  readonly comparisons: readonly Comparison[];
  readonly uncompared: readonly NoComparison[];
  readonly trigger?: TriggerReport;
  readonly flaky: readonly FlakyCase[];
  readonly sequential?: SequentialRun;
  readonly judge?: JudgeReport;
  /** Errors of the suite, because of which nothing ran. */
  readonly suiteErrors?: readonly string[];
  readonly isPartial: boolean;
  /** Cases about the same skills that were not asked for, by file. */
  readonly leftOut?: readonly { readonly file: string; readonly cases: readonly string[] }[];
  /** Planned attempts whose records are missing, where stored runs are graded again. */
  readonly missing?: readonly string[];
}
