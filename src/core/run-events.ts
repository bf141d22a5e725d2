import type { Action } from './action.ts';
import type { ApprovalAnswer, ApprovalRequest } from './approval.ts';
import type { ChatEvent } from './chat.ts';
import type { Isolation } from './execution.ts';
import type { Budget, BudgetName } from './budget.ts';
import type { Finish, ModelImage, ModelToolCall, ModelUsage } from './model.ts';
import type { Observation } from './observation.ts';
import type { Plan } from './plan.ts';
import type { Decision } from './access.ts';
import type { AskedBy, SessionEvent } from './session.ts';

const ACTIVATION_REASONS = ['model', 'person', 'required', 'shortlist', 'forced', 'path'] as const;
type ActivationReason = (typeof ACTIVATION_REASONS)[number];

/** Version of the run folder format; newer versions are refused. */
export const RUN_SCHEMA = 1;

/** How a run ended. `running`: not ended, or killed. `degraded`: a budget ran out and the answer says what is missing. */
export const OUTCOMES = ['running', 'done', 'degraded', 'failed', 'refused', 'cancelled', 'record-failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The executor of a run. */
interface RunExecutor {
  readonly name: string;
  readonly isolation: Isolation;
  readonly image?: string;
  readonly profile?: string;
  /** Host folders that programs saw. */
  readonly mounts?: readonly { readonly path: string; readonly access: 'read' | 'write' }[];
}

/** The process that writes a run, identified so that others can check whether it is alive. */
interface RunProcess {
  readonly pid: number;
  readonly start: string;
  readonly boot: string;
  readonly space: string;
}

/** How an agent was started; with the events, another process can resume its run. */
interface AgentStart {
  readonly protocol: string;
  /** Name of the vocabulary. */
  readonly vocabulary: string;
  readonly activation: string;
  readonly required: readonly string[];
  /** Files that came with the request, as named by the person. */
  readonly files: readonly string[];
  /** Images that came with the request; long ones are files of the record. */
  readonly images?: readonly ModelImage[];
  /** Begins the idempotency keys of its programs. A run that resumes another one has the same. Absent if no programs can run. */
  readonly idempotencyKey?: string;
  readonly resumes?: ResumedRun;
}

/** The run that is resumed. */
export interface ResumedRun {
  readonly run: string;
  /** Time spent by this run and its predecessors. */
  readonly elapsedMs: number;
  /** Number of recorded model answers that are repeated. */
  readonly answers: number;
  /** Number of recorded actions that are repeated. */
  readonly calls: number;
  /** Numbers of the programs that were interrupted and are run again, in a new workspace and with the same idempotency keys. */
  readonly again?: readonly number[];
  /** Only a part of the run is repeated, on purpose: another course of it, which does not continue the run. */
  readonly fork?: true;
  /** Budgets that the caller set when the run was resumed. Constraints of a plan on them that are from this turn or an earlier one no longer hold. */
  readonly lifts?: Readonly<Partial<Record<BudgetName, number>>>;
}

/** What is known before a run starts. */
export interface RunStart {
  /** The request as written by the caller. */
  readonly request: string;
  readonly version: string;
  /** The folder of the project. Absent in records of earlier versions. */
  readonly project?: string;
  readonly indexHash: string;
  /** The report of the scan that found the skills; stored in `scan.json`. */
  readonly scan?: RunScan;
  /** The snapshot of skills; stored in `index.json` (REG-8). */
  readonly index: unknown;
  readonly policyHash: string;
  /** Whose tools the run has; absent for `skillwright`, and in records of earlier versions. */
  readonly vocabulary?: string;
  /** Id of the parent run. */
  readonly parent?: string;
  readonly executor?: RunExecutor;
  readonly budgets?: Readonly<Record<string, number>>;
  /** Absent if no agent drives the run. */
  readonly agent?: AgentStart;
  /** The id of the trace that this run belongs to, and after a hyphen the id of its parent span (default: a trace of its own). */
  readonly trace?: string;
  /** Names and values that lists of runs can be narrowed to. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The idempotency key of the submission. */
  readonly key?: string;
  /** Name and version of another agent that ran in place of ours, such as `codex 0.166.0`. */
  readonly subject?: string;
}

/** The report of a scan: where skills were searched, which folders were left out and why, and which skill won each conflict. */
export interface RunScan {
  readonly roots: readonly {
    readonly source: string;
    readonly path: string;
    readonly status: string;
    readonly skills: number;
  }[];
  readonly durationMs: number;
  /** Skill folders, valid ones and ignored ones. */
  readonly found: number;
  readonly valid: number;
  readonly ignored: readonly { readonly path: string; readonly code: string; readonly message: string }[];
  /** The shadowed skills; `by` is the folder of the skill that won. */
  readonly conflicts: readonly {
    readonly name: string;
    readonly source: string;
    readonly version?: string;
    readonly dir: string;
    readonly by: string;
    readonly reason: string;
  }[];
  readonly indexHash: string;
}

/** A skill that was used in a run. */
interface UsedSkill {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  /** Tree digest of the skill. */
  readonly digest: string;
}

/** Another agent loaded a skill: by a tool for skills, by reading its SKILL.md, or by an output with its instructions. */
interface SubjectLoad {
  readonly skill: string;
  readonly by: 'tool' | 'read' | 'body';
}

/** The name of the action, the goal of the plan, or one step of the plan. */
type DecisionField = 'action' | 'goal' | 'step';

/**
 * All events of a run, in order. State, budgets, ledger, replay and grades are derived from them. `call` numbers the actions of a run and
 * links the events of one action.
 */
export type RunEvent =
  | (Omit<RunStart, 'index' | 'scan'> & {
      readonly type: 'run-start';
      readonly schema: typeof RUN_SCHEMA;
      readonly run: string;
      /** Hash of the line in `chain.jsonl` that announces this run. */
      readonly chain?: string;
      /** SHA-256 of `index.json`. */
      readonly indexDigest?: string;
      /** SHA-256 of `scan.json`. */
      readonly scanDigest?: string;
      readonly process?: RunProcess;
    })
  | (RunScan & { readonly type: 'scan' })
  | {
      readonly type: 'action';
      readonly call: number;
      readonly action: Action;
      readonly askedBy: AskedBy;
      /** Name of the tool in the vocabulary of the run; absent if it is the type of the action, and in older records. */
      readonly tool?: string;
    }
  | { readonly type: 'decision'; readonly call: number; readonly decision: Decision }
  | { readonly type: 'approval-ask'; readonly call: number; readonly request: ApprovalRequest }
  | {
      readonly type: 'approval-answer';
      readonly call: number;
      readonly request: string;
      readonly answer: ApprovalAnswer | 'nobody' | 'pending';
    }
  | { readonly type: 'skill-use'; readonly call: number; readonly skill: UsedSkill }
  | {
      readonly type: 'observation';
      readonly call: number;
      readonly observation: Observation;
      /** As in the event of the action. */
      readonly tool?: string;
    }
  | { readonly type: 'session'; readonly event: SessionEvent }
  /** `call` is absent for steps of the run as a whole. */
  | { readonly type: 'span'; readonly call?: number; readonly span: Span }
  /** Content stored in the run folder that no other event refers to: an input, or a file that programs left. */
  | {
      readonly type: 'content-keep';
      readonly path: string;
      readonly bytes: number;
      readonly name?: string;
      readonly isExecutable?: boolean;
    }
  | { readonly type: 'turn'; readonly turn: number }
  /** A request to the model. Its text is stored only on request. */
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
      /** The model reported its input, but no output. Without `inputTokens` it reported nothing. */
      readonly outputIsEstimated?: true;
      readonly retries: number;
    }
  | { readonly type: 'plan'; readonly turn: number; readonly plan: Plan }
  /** Why a skill was offered to the model, or loaded. */
  | { readonly type: 'activation'; readonly skill: string; readonly reason: ActivationReason }
  /** A streamed part of the answer; sent to sinks, not recorded. */
  | { readonly type: 'answer-delta'; readonly text: string }
  /** A part of the model's decision that is complete while the rest arrives; sent to sinks, not recorded, and not carried out yet. */
  | { readonly type: 'decision-delta'; readonly field: DecisionField; readonly text: string }
  /** The result of a tool call, where the vocabulary has such events; sent to sinks, not recorded. `stateDelta` are the keys that it changed. */
  | {
      readonly type: 'tool.response';
      readonly turn: number;
      /** The id of the call in `model-answer`. */
      readonly id: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
      readonly stateDelta: Readonly<Record<string, string>>;
    }
  /** The text that was streamed is not the answer: the model went on with an `action`, or an `error` made it invalid. */
  | { readonly type: 'answer-withdraw'; readonly by: 'action' | 'error'; readonly reason: string }
  /** A call that became no action: an unknown tool, or an invalid input. */
  | { readonly type: 'call-invalid'; readonly turn: number; readonly tool: string; readonly reason: string }
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
  /** A tool call of another agent, as its transcript reports it; this program neither decided nor performed it. */
  | {
      readonly type: 'subject-call';
      readonly tool: string;
      readonly input: unknown;
      readonly ok: boolean;
      readonly output: string;
      /** The skills whose instructions the call showed to the model. */
      readonly loads: readonly SubjectLoad[];
    }
  /** How another agent ended, and the files that it created or changed in the project. */
  | {
      readonly type: 'subject-end';
      /** It worked and then died; otherwise a failure is one of the connection or the harness. */
      readonly crashed?: boolean;
      /** Null if it was killed. */
      readonly exitCode: number | null;
      /** As the agent reports it. */
      readonly usd?: number;
      readonly files: readonly { readonly path: string; readonly bytes: number; readonly digest: string }[];
    }
  | { readonly type: 'note'; readonly message: string }
  | { readonly type: 'run-end'; readonly outcome: Exclude<Outcome, 'running'>; readonly reason: string };

/** One line of `events.jsonl`. */
export interface JournalLine {
  /** Starts at 1, without gaps. */
  readonly seq: number;
  /** Wall-clock time, which may go backwards; `seq` gives the order. */
  readonly time: string;
  /** Milliseconds since the journal was opened; monotonic. */
  readonly elapsed: number;
  readonly event: RunEvent;
  /** SHA-256 over the previous hash and this line without `hash`. */
  readonly hash: string;
}

/** A question to a person and its answer. */
interface RunApproval {
  readonly call: number;
  readonly request: string;
  readonly tool: string;
  readonly answer: ApprovalAnswer | 'nobody' | 'pending';
}

/** A file of a skill that was shown. */
interface RunResource {
  readonly skill: string;
  readonly path: string;
  readonly bytes: number;
  readonly digest: string;
  readonly truncated: boolean;
}

/** A program that was requested, with the start of its outputs. */
interface RunProgram {
  readonly call: number;
  readonly tool: string;
  readonly skill?: string;
  readonly program: string;
  /** Null if it did not run to its end. */
  readonly exitCode: number | null;
  /** How it ended, or the code of the failure. */
  readonly reason: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** `run.json`: a summary of a run. It is derived from the events, so tampering is detectable. */
export interface RunInfo {
  readonly schema: typeof RUN_SCHEMA;
  readonly run: string;
  readonly version: string;
  readonly request: string;
  /** The request on one line, in Unicode normal form and without invisible characters. */
  readonly normalizedRequest: string;
  /** The folder of the project; absent in runs of earlier versions. */
  readonly project?: string;
  /** Whose tools the run has; absent for `skillwright`, and in runs of earlier versions. */
  readonly vocabulary?: string;
  readonly parent?: string;
  /** Hash of the line in `chain.jsonl` that announces this run; absent in runs of earlier versions. */
  readonly chain?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly indexHash: string;
  readonly indexDigest: string;
  /** Empty if no scan was recorded. */
  readonly scanDigest: string;
  /** The states that the loop went through, in order. */
  readonly phases: readonly string[];
  readonly skills: readonly UsedSkill[];
  /** Files of skills that were read, each once. */
  readonly resources: readonly RunResource[];
  /** The actions that were performed or refused, with their number, by the tool of the vocabulary. */
  readonly tools: readonly { readonly tool: string; readonly calls: number; readonly failed: number }[];
  /** Calls of unknown tools and calls with an invalid input. */
  readonly invalidCalls: number;
  readonly programs: readonly RunProgram[];
  readonly executor: RunExecutor | null;
  readonly policyHash: string;
  readonly approvals: readonly RunApproval[];
  readonly budgets: Readonly<Record<string, number>>;
  readonly process: RunProcess | null;
  readonly events: { readonly count: number; readonly head: string };
}

/** The last recorded answer, or an empty string. */
export function lastAnswer(lines: Iterable<{ readonly event: RunEvent }>): string {
  let answer = '';
  for (const { event } of lines)
    if (event.type === 'action' && event.action.type === 'final_answer') ({ answer } = event.action);
  return answer;
}
/** Steps that are reported for tracing (EXEC-11). Nothing is measured without a callback. */
const SPAN_NAMES = [
  'workspace.create',
  'workspace.stage.skill',
  'workspace.stage.inputs',
  'workspace.run',
  'workspace.collect',
  'workspace.inline',
  'workspace.cleanup',
] as const;

type SpanName = (typeof SPAN_NAMES)[number];

export interface Span {
  readonly name: SpanName;
  /** Unix time in milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Names, counts and states; never contents. */
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** The step threw an error; its message is not included. */
  readonly isFailed: boolean;
}
