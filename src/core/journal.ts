import type { Action } from './action.ts';
import type { ApprovalAnswer, ApprovalRequest } from './approval.ts';
import type { Observation } from './observation.ts';
import type { Decision } from './policy.ts';
import type { AskedBy, SessionEvent } from './session.ts';
import type { Span } from './span.ts';

/** The format of a run folder. A reader refuses what is newer. */
export const RUN_SCHEMA = 1;

/** How a run came to its end. `running`: it has not, or was killed. */
export const OUTCOMES = ['running', 'done', 'failed', 'refused', 'cancelled', 'record-failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A skill that shaped a run, by its bytes. */
export interface UsedSkill {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  /** Of the whole tree. */
  readonly digest: string;
}

/**
 * Everything that happens in a run, in order: the one source from which state, budgets, ledger, replay and grades are made. `call`
 * counts the actions of a run and ties together what belongs to one.
 */
export type RunEvent =
  | {
      readonly type: 'run-start';
      readonly schema: typeof RUN_SCHEMA;
      readonly run: string;
      /** What was asked for, in the words of whoever asked. */
      readonly request: string;
      readonly version: string;
      readonly indexHash: string;
      readonly policyHash: string;
      /** Of the run that this one is a part of. */
      readonly parent?: string;
    }
  | { readonly type: 'action'; readonly call: number; readonly action: Action; readonly askedBy: AskedBy }
  | { readonly type: 'decision'; readonly call: number; readonly decision: Decision }
  | { readonly type: 'approval-ask'; readonly call: number; readonly request: ApprovalRequest }
  | {
      readonly type: 'approval-answer';
      readonly call: number;
      readonly request: string;
      readonly answer: ApprovalAnswer | 'nobody' | 'pending';
    }
  | { readonly type: 'skill-use'; readonly call: number; readonly skill: UsedSkill }
  | { readonly type: 'observation'; readonly call: number; readonly observation: Observation }
  | { readonly type: 'session'; readonly event: SessionEvent }
  | { readonly type: 'span'; readonly span: Span }
  | { readonly type: 'note'; readonly message: string }
  | { readonly type: 'run-end'; readonly outcome: Exclude<Outcome, 'running'>; readonly reason: string };

/** One line of `events.jsonl`. */
export interface JournalLine {
  /** From 1, without gaps. */
  readonly seq: number;
  /** The clock of the machine, which may go backwards; order is by `seq`. */
  readonly time: string;
  /** Milliseconds since the journal was opened; never goes backwards. */
  readonly elapsed: number;
  readonly event: RunEvent;
  /** SHA-256 over the hash of the line before and this line without it. */
  readonly hash: string;
}
