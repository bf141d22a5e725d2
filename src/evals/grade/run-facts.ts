/** The facts of a run that graders use. They come from its events only (EVAL-5), and each names the events that show it. */
import type { Budget, Decision, Observation, ShownContent, RunInfo, RunEvent, OfType } from '#core';
import type { EvalCase } from '../cases/case.ts';
import type { CaseCost } from '../report/result.ts';
import type { RequestedAction } from './action-match.ts';

export interface LoadFact {
  readonly seq: number;
  readonly skill: string;
  readonly id: string;
  readonly askedBy: OfType<RunEvent, 'action'>['askedBy'] | 'subagent';
  /** The calling program required the skill, so the query did not trigger it. */
  readonly isRequired: boolean;
}

export interface StepFact extends RequestedAction {
  readonly seq: number;
  readonly askedBy: OfType<RunEvent, 'action'>['askedBy'];
  readonly decision?: Decision;
  /** The last approval, if there were several. */
  readonly approval?: RunInfo['approvals'][number]['answer'];
  readonly observation?: Observation;
  /** For a call of another agent: whether its transcript reports success. */
  readonly isDone?: boolean;
  /** The record does not show which call of the model became which action. */
  readonly isUnclear?: true;
  readonly events: readonly number[];
}

export interface ShownFact {
  readonly seq: number;
  readonly shown: ShownContent;
  readonly isOfLoaded: boolean;
}

export interface FileFact {
  readonly seq: number;
  /** Relative to the workspace or to the project. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Hex digest of the whole file, without the `sha256:` prefix. */
  readonly sha256?: string;
  /** The whole text; absent if the record does not hold it. */
  readonly text?: string;
}

export interface RunFacts {
  readonly run: string;
  readonly request: string;
  readonly model: string;
  /** Another agent that ran; its transcript shows calls and files, but no decisions and no requests. */
  readonly subject?: string;
  readonly outcome: RunInfo['outcome'];
  readonly reason: string;
  readonly answer: string;
  readonly answerSeq: number | undefined;
  /** All plain text of the model, turn after turn; empty if it answers with structured actions. */
  readonly modelText: string;
  readonly loads: readonly LoadFact[];
  readonly steps: readonly StepFact[];
  readonly shown: readonly ShownFact[];
  readonly files: readonly FileFact[];
  readonly used: Budget;
  readonly cost: CaseCost;
  readonly budgetEnds: readonly { readonly seq: number; readonly name: keyof Budget; readonly limit: number }[];
  /** The answer is a part of one: it was longer than the model may write, or the server filtered it. */
  readonly cutBy?: 'length' | 'filter';
  /** Another agent that worked and then died. */
  readonly hasCrashed: boolean;
  /** Why the run proves nothing about its skills: the harness or the connection failed. Empty if it does prove something. */
  readonly broken: string;
  readonly end: number;
  /** The answer as a listener saw it grow. It is not part of the record; the caller adds it. */
  readonly streamed?: string;
}

export function loadedNames({ loads }: Pick<RunFacts, 'loads'>): readonly string[] {
  return [...new Set(loads.map(({ skill }) => skill))];
}

/** Why the run proves nothing about this case. A case may expect a failed run. */
export function brokenReason({ expect }: Pick<EvalCase, 'expect'>, { broken, outcome }: RunFacts): string {
  return expect.outcome?.some((expected) => expected === outcome) === true ? '' : broken;
}
