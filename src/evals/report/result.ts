/** What came of evaluating: one record a case, arm and attempt. Reports and statistics are made from these and nothing else. */
import type { CasePlace } from '../cases/case.ts';

/** `error`: the harness or the model broke; counted as neither passed nor failed. */
export const CASE_STATUSES = ['passed', 'failed', 'error', 'skipped'] as const;
export type CaseStatus = (typeof CASE_STATUSES)[number];

export const CHECK_KINDS = [
  'trigger',
  'sequence',
  'disclosure',
  'security',
  'budget',
  'output',
  'outcome',
  'streaming',
  'judge',
] as const;
export type CheckKind = (typeof CHECK_KINDS)[number];

/** `with` the skill as it is; `without` it; `old`: the version that it is compared with. */
export const ARMS = ['with', 'without', 'old'] as const;
export type Arm = (typeof ARMS)[number];

/** How the model answered: never called live where it was not. */
export const MODEL_WAYS = ['scripted', 'rules', 'cassette', 'live'] as const;
export type ModelWay = (typeof MODEL_WAYS)[number];

export interface CheckResult {
  /** Stable in a case: `skills.all_of`, `output[0]`. */
  readonly id: string;
  readonly kind: CheckKind;
  readonly status: CaseStatus;
  /** What was asked for, in words. */
  readonly asked: string;
  /** What was found; empty where it passed and there is nothing to say. */
  readonly found: string;
  /** Numbers of the events that show it. */
  readonly events: readonly number[];
}

export interface CaseCost {
  readonly turns: number;
  readonly toolCalls: number;
  readonly scriptRuns: number;
  /** As the model says, else our estimate. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly tokensAreEstimated: boolean;
  readonly wallMs: number;
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
  /** From 1. */
  readonly attempt: number;
  readonly status: CaseStatus;
  /** For `error` and `skipped`: why. */
  readonly reason: string;
  readonly checks: readonly CheckResult[];
  /** Names of skills whose bodies were loaded, in order. */
  readonly loaded: readonly string[];
  readonly answer: string;
  readonly cost: CaseCost;
  readonly model: { readonly id: string; readonly way: ModelWay };
  /** The run folder; absent where there was no run. */
  readonly run?: string;
  readonly isCached: boolean;
}

/** What a result takes from its case. */
export type CaseHead = Pick<CaseResult, 'name' | 'place' | 'input' | 'tags'> & { readonly id: string };

/** The result of an attempt of which nothing is known yet: an error, until somebody has more to say. */
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

/** A part of a whole with its Wilson interval at 95 %. `of` 0: nothing can be said, and `low` is 0 and `high` 1. */
export interface Rate {
  readonly count: number;
  readonly of: number;
  readonly low: number;
  readonly high: number;
}

/** Two arms of the same cases. */
export interface Comparison {
  readonly of: Arm;
  readonly against: Arm;
  /** Cases that have a verdict in both. */
  readonly pairs: number;
  readonly better: number;
  readonly worse: number;
  /** Difference of pass rates, in parts of one, of the first against the second, with a paired bootstrap interval. */
  readonly difference: { readonly mean: number; readonly low: number; readonly high: number };
  /** Exact McNemar, two-sided. */
  readonly p: number;
  /** The smallest difference that so many pairs could have shown at 5 % and a power of 80 %. */
  readonly smallestVisible: number;
  /** Checks that pass in both arms: they say nothing about the skill. */
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

/** A control that ran before anything was scored. */
export interface Control {
  readonly name: 'always-fire' | 'never-fire' | 'shuffled-labels';
  readonly asked: string;
  readonly found: string;
  readonly isKept: boolean;
}

export interface TriggerReport {
  readonly controls: readonly Control[];
  /** A control was not kept: there are no scores. */
  readonly isValid: boolean;
  readonly scores: readonly TriggerScore[];
  readonly overall: { readonly precision: Rate; readonly recall: Rate; readonly f1: number; readonly quiet: Rate };
  /** Who took whose query: labels are names of skills, and `-` for none. Only pairs that occur. */
  readonly confusion: readonly { readonly wanted: string; readonly took: string; readonly count: number }[];
  /** How recall and precision fall with the number of other skills. */
  readonly sweep: readonly { readonly distractors: number; readonly recall: Rate; readonly precision: Rate }[];
  readonly split?: { readonly train: Rate; readonly validation: Rate };
}

export interface EvalReport {
  readonly schema: 1;
  readonly tool: string;
  readonly startedAt: string;
  readonly wallMs: number;
  /** Digests of what was evaluated. */
  readonly skills: readonly { readonly name: string; readonly digest: string; readonly version?: string }[];
  readonly models: readonly { readonly id: string; readonly way: ModelWay }[];
  readonly results: readonly CaseResult[];
  readonly totals: Readonly<Record<CaseStatus, number>>;
  readonly passRate: Rate;
  readonly comparisons: readonly Comparison[];
  readonly trigger?: TriggerReport;
  /** Cases whose attempts differ. */
  readonly flaky: readonly string[];
  /** Was ended before all cases were done. */
  readonly isPartial: boolean;
}
