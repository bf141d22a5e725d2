/** The results of an evaluation, one per case, arm and attempt. Reports and statistics use nothing else. */
import type { CasePlace } from '../cases/case.ts';

/** `error` means that the harness or the model failed; it counts as neither passed nor failed. */
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
  /** The expectation, as a sentence. */
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
  readonly tokensAreEstimated: boolean;
  readonly wallMs: number;
  /** In US dollars, if the agent reports it. */
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
  readonly place: CasePlace;
  readonly input: string;
  readonly tags: readonly string[];
  readonly arm: Arm;
  /** Counts from 1. */
  readonly attempt: number;
  readonly status: CaseStatus;
  /** Explains `error` and `skipped`. */
  readonly reason: string;
  readonly checks: readonly CheckResult[];
  /** Names of the loaded skills, in order. */
  readonly loaded: readonly string[];
  readonly answer: string;
  readonly cost: CaseCost;
  readonly model: { readonly id: string; readonly way: ModelWay };
  /** The run folder; absent if nothing ran. */
  readonly run?: string;
  readonly isCached: boolean;
}

/** The part of a case that its results repeat. */
export type CaseHead = Pick<CaseResult, 'name' | 'place' | 'input' | 'tags'> & { readonly id: string };

/** An `error` result without checks, to be completed by the caller. */
export function ungradedResult(
  { id, name, place, input, tags }: CaseHead,
  { arm, attempt, model }: Pick<CaseResult, 'arm' | 'attempt' | 'model'>,
): CaseResult {
  return {
    case: id,
    name,
    place,
    input,
    tags,
    arm,
    attempt,
    status: 'error',
    reason: '',
    checks: [],
    loaded: [],
    answer: '',
    cost: ZERO_COST,
    model,
    isCached: false,
  };
}

export function hasVerdict({ status }: Pick<CaseResult, 'status'>): boolean {
  return status === 'passed' || status === 'failed';
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

/** A rate with its 95 % Wilson interval. If `of` is 0, `low` is 0 and `high` is 1. */
export interface Rate {
  readonly count: number;
  readonly of: number;
  readonly low: number;
  readonly high: number;
}

/** Compares two arms of the same cases. */
export interface Comparison {
  readonly of: Arm;
  readonly against: Arm;
  /** Cases with a verdict in both arms. */
  readonly pairs: number;
  readonly better: number;
  readonly worse: number;
  /** Pass rate of `of` minus pass rate of `against`, between -1 and 1, with a paired bootstrap interval. */
  readonly difference: { readonly mean: number; readonly low: number; readonly high: number };
  /** Exact two-sided McNemar test. */
  readonly p: number;
  /** The smallest difference that this number of pairs detects at 5 % with a power of 80 %. */
  readonly smallestVisible: number;
  /** Checks that pass in both arms and so prove nothing about the skill. */
  readonly sayNothing: readonly { readonly case: string; readonly check: string }[];
  readonly tokens: { readonly of: number; readonly against: number };
  readonly wallMs: { readonly of: number; readonly against: number };
}

export interface TriggerScore {
  readonly skill: string;
  readonly precision: Rate;
  readonly recall: Rate;
  readonly f1: number;
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
  readonly overall: { readonly precision: Rate; readonly recall: Rate; readonly f1: number; readonly quiet: Rate };
  /** Pairs of expected and loaded skills that occurred; `-` stands for no skill. */
  readonly confusion: readonly { readonly wanted: string; readonly took: string; readonly count: number }[];
  /** Recall and precision by the number of other skills. */
  readonly sweep: readonly { readonly distractors: number; readonly recall: Rate; readonly precision: Rate }[];
  readonly split?: { readonly train: Rate; readonly validation: Rate };
}

export interface EvalReport {
  readonly schema: 1;
  readonly tool: string;
  readonly startedAt: string;
  readonly wallMs: number;
  /** The installed skills. */
  readonly skills: readonly { readonly name: string; readonly digest: string; readonly version?: string }[];
  readonly models: readonly { readonly id: string; readonly way: ModelWay }[];
  readonly results: readonly CaseResult[];
  readonly totals: Readonly<Record<CaseStatus, number>>;
  readonly passRate: Rate;
  readonly comparisons: readonly Comparison[];
  readonly trigger?: TriggerReport;
  /** Cases with different verdicts in different attempts. */
  readonly flaky: readonly string[];
  /** The evaluation was stopped before all cases ran. */
  readonly isPartial: boolean;
}
