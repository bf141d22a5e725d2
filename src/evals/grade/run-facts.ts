/**
 * What a run says about itself: all that is graded, made from its events and from nothing else (EVAL-5). Every fact knows the numbers of
 * the events that show it.
 */
import type { Decision } from '../../core/access.ts';
import type { Action } from '../../core/action.ts';
import type { Budget, BudgetName } from '../../core/budget.ts';
import type { CaseCost } from '../report/result.ts';
import type { Asked } from './action-match.ts';
import type { Outcome, RunApproval } from '../../core/run-events.ts';
import type { Observation } from '../../core/observation.ts';
import type { AskedBy } from '../../core/session.ts';
import type { ShownContent } from '../../core/text/shown.ts';

/** A skill whose instructions were loaded. */
export interface LoadFact {
  readonly seq: number;
  readonly skill: string;
  readonly id: string;
  readonly askedBy: AskedBy | 'subagent';
  /** A program required it: that says nothing about who triggers it. */
  readonly isRequired: boolean;
}

/** One thing that was asked for and what came of it. */
export interface StepFact extends Asked {
  readonly seq: number;
  readonly askedBy: AskedBy;
  readonly action?: Action;
  readonly decision?: Decision;
  /** What a person was asked, and the answer; the last one where there are several. */
  readonly approval?: RunApproval['answer'];
  readonly observation?: Observation;
  /** The record leaves open which call of the answer became which action. */
  readonly isUnclear?: true;
  /** All events that are about it. */
  readonly events: readonly number[];
}

/** Something of a skill that went towards the model. */
export interface ShownFact {
  readonly seq: number;
  readonly shown: ShownContent;
  /** Its skill was loaded before. */
  readonly isOfLoaded: boolean;
}

/** A file that the run left, as its record knows it. */
export interface FileFact {
  readonly seq: number;
  /** Relative to the workspace, or to the project. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Of the whole, without `sha256:`. */
  readonly sha256?: string;
  /** The whole text; absent where the record does not have it. */
  readonly text?: string;
}

export interface RunFacts {
  readonly run: string;
  readonly request: string;
  readonly model: string;
  readonly outcome: Outcome;
  readonly reason: string;
  /** What the person was answered; empty where there was no answer. */
  readonly answer: string;
  readonly answerSeq: number | undefined;
  /** All that the model said in plain text, turn after turn; empty where it answers with structured actions. */
  readonly said: string;
  readonly loads: readonly LoadFact[];
  readonly steps: readonly StepFact[];
  readonly shown: readonly ShownFact[];
  readonly files: readonly FileFact[];
  readonly used: Budget;
  readonly cost: CaseCost;
  readonly budgetEnds: readonly { readonly seq: number; readonly name: BudgetName; readonly limit: number }[];
  /** Why the run says nothing about its skills: the model or the harness broke. Empty where it does. */
  readonly broken: string;
  /** The number of the last event. */
  readonly end: number;
  /** What a listener was shown while the answer grew; not part of the record, given by whoever ran it. */
  readonly streamed?: string;
}

/** Names of skills whose bodies were loaded, in order, each once. */
export function loadedNames({ loads }: Pick<RunFacts, 'loads'>): readonly string[] {
  return [...new Set(loads.map(({ skill }) => skill))];
}
