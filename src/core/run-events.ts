import type { Action } from './action.ts';
import type { ApprovalAnswer, ApprovalRequest } from './approval.ts';
import type { ChatEvent } from './chat.ts';
import type { Isolation } from './execution.ts';
import type { Budget, BudgetName } from './budget.ts';
import type { Finish, ModelToolCall, ModelUsage } from './model.ts';
import type { Observation } from './observation.ts';
import type { Plan } from './plan.ts';
import type { Decision } from './access.ts';
import type { AskedBy, SessionEvent } from './session.ts';
import type { Span } from './span.ts';

export const ACTIVATION_REASONS = ['model', 'person', 'required', 'shortlist', 'forced', 'path'] as const;
export type ActivationReason = (typeof ACTIVATION_REASONS)[number];

/** The format of a run folder. A reader refuses what is newer. */
export const RUN_SCHEMA = 1;

/** How a run came to its end. `running`: it has not, or was killed. `degraded`: a budget ended, and the answer says what is missing. */
export const OUTCOMES = ['running', 'done', 'degraded', 'failed', 'refused', 'cancelled', 'record-failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Folders of a run for content that is too large for a line. */
export const CONTENT_KINDS = ['observations', 'inputs', 'artifacts'] as const;
export type ContentKind = (typeof CONTENT_KINDS)[number];

/** Stands where content was that lies in a file of its own, named by its hash. */
export interface ContentReference {
  /** `observations/<sha256>`, relative to the run folder. */
  readonly $ref: string;
  readonly bytes: number;
  /** The first characters, for people who look at the line. */
  readonly start: string;
  /** The file holds JSON: for text that is no UTF-8, and for events that are large as a whole. */
  readonly json?: true;
}

/** What ran the programs of a run. */
export interface RunExecutor {
  readonly name: string;
  readonly isolation: Isolation;
  readonly image?: string;
  readonly profile?: string;
}

/** The process that writes a run: told by number, start and boot, so that others can ask whether it lives. */
export interface RunProcess {
  readonly pid: number;
  readonly start: string;
  readonly boot: string;
  readonly space: string;
}

/** How an agent was started: with it and the events another process can go on with its run. */
export interface AgentStart {
  readonly protocol: string;
  /** By name. */
  readonly vocabulary: string;
  readonly activation: string;
  readonly required: readonly string[];
  /** Files that came with the request, as they were named. */
  readonly files: readonly string[];
  readonly resumes?: ResumedRun;
}

/** The run that another one goes on with. */
export interface ResumedRun {
  readonly run: string;
  /** That it and those before it took. */
  readonly elapsedMs: number;
  /** Of the model, that are repeated at the start of the new one. */
  readonly answers: number;
  /** Actions whose outcome is repeated. */
  readonly calls: number;
}

/** What is known of a run before anything happens in it. */
export interface RunStart {
  /** What was asked for, in the words of whoever asked. */
  readonly request: string;
  readonly version: string;
  readonly indexHash: string;
  /** The snapshot of skills, as a JSON value; kept whole in `index.json` (REG-8). */
  readonly index: unknown;
  readonly policyHash: string;
  /** Of the run that this one is a part of. */
  readonly parent?: string;
  readonly executor?: RunExecutor;
  readonly budgets?: Readonly<Record<string, number>>;
  /** Absent where no agent works on it. */
  readonly agent?: AgentStart;
}

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
  | (Omit<RunStart, 'index'> & {
      readonly type: 'run-start';
      readonly schema: typeof RUN_SCHEMA;
      readonly run: string;
      /** SHA-256 of `index.json`. */
      readonly indexDigest?: string;
      readonly process?: RunProcess;
    })
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
  /** `call`: absent where a step belongs to the run as a whole. */
  | { readonly type: 'span'; readonly call?: number; readonly span: Span }
  /** Content was put into the folder that no other event holds: an input, an artifact. */
  | { readonly type: 'content-keep'; readonly path: string; readonly bytes: number }
  | { readonly type: 'turn'; readonly turn: number }
  /** A request goes to the model; its text is not kept unless that was asked for. */
  | {
      readonly type: 'model-call';
      readonly turn: number;
      readonly model: string;
      /** SHA-256 of the request. */
      readonly request: string;
      readonly tokens: number;
    }
  | {
      readonly type: 'model-answer';
      readonly turn: number;
      readonly text: string;
      readonly toolCalls: readonly ModelToolCall[];
      readonly finish: Finish;
      readonly usage: ModelUsage;
      readonly retries: number;
    }
  | { readonly type: 'plan'; readonly turn: number; readonly plan: Plan }
  /** Why a skill was put before the model, or loaded. */
  | { readonly type: 'activation'; readonly skill: string; readonly reason: ActivationReason }
  /** A part of the answer while it grows; for sinks, not for the record. */
  | { readonly type: 'answer-delta'; readonly text: string }
  | {
      readonly type: 'context-compact';
      readonly before: number;
      readonly after: number;
      readonly dropped: readonly string[];
    }
  | { readonly type: 'budget-end'; readonly name: BudgetName; readonly used: number; readonly limit: number }
  | { readonly type: 'subagent-start'; readonly call: number; readonly run: string; readonly skill: string }
  | {
      readonly type: 'subagent-end';
      readonly call: number;
      readonly run: string;
      readonly outcome: Outcome;
      readonly used?: Budget;
    }
  | { readonly type: 'chat'; readonly event: ChatEvent }
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

/** A question to a person and what came of it. */
export interface RunApproval {
  readonly call: number;
  readonly request: string;
  readonly tool: string;
  readonly answer: ApprovalAnswer | 'nobody' | 'pending';
}

/** `run.json`: a run at a glance. All of it is made from the events, so that nothing in it can be changed unseen. */
export interface RunInfo {
  readonly schema: typeof RUN_SCHEMA;
  readonly run: string;
  readonly version: string;
  readonly request: string;
  readonly parent?: string;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly indexHash: string;
  readonly indexDigest: string;
  readonly skills: readonly UsedSkill[];
  readonly executor: RunExecutor | null;
  readonly policyHash: string;
  readonly approvals: readonly RunApproval[];
  readonly budgets: Readonly<Record<string, number>>;
  readonly process: RunProcess | null;
  readonly events: { readonly count: number; readonly head: string };
}
