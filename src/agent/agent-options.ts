import type {
  Action,
  ActionProblem,
  Budget,
  Model,
  ModelRequest,
  Plan,
  SkillError,
  Vocabulary,
  VocabularyName,
} from '#core';
import type { Run, RunOptions, Runtime, Session } from '#runtime';
import type { Activation } from './activation.ts';
import type { ProtocolName } from './system-prompt.ts';

export interface AgentOptions {
  readonly runtime: Runtime;
  readonly model: Model;
  /** The request of the user. `/skill-name arguments` invokes a skill by name. */
  readonly request: string;
  /** `tools` for native tool calls, `actions` for structured actions in its text (default: that of the vocabulary). */
  readonly protocol?: ProtocolName;
  /** The tool vocabulary (default: that of the configuration, else `skillwright`, or `skills-agent` for structured actions). */
  readonly vocabulary?: VocabularyName | Vocabulary;
  readonly budget?: Partial<Budget>;
  /** How skills are proposed to the model (default: `model`). */
  readonly activation?: Activation;
  /** Skills to load before the first model call. The run fails if one of them cannot be loaded. */
  readonly required?: readonly string[];
  /** Files of this machine to copy into the workspace. */
  readonly files?: readonly string[];
  /** Images to show to the model with the request. The run fails if the model takes none. */
  readonly images?: Extract<ModelRequest['messages'][number], { readonly role: 'user' }>['images'];
  /** Facts and instructions of the project for the system message, from `projectText` of `#project`. */
  readonly projectInstructions?: string | undefined;
  /** Refuses an action before the policy decides about it, for example in a mode of the user. */
  readonly refuse?: (action: Action) => ActionProblem | undefined;
  /** What to do if an action needs approval and no user is available: go on without it, or end the run (default: `continue`). */
  readonly unapproved?: 'continue' | 'stop';
  /** Options of the run: execution, project files, policy, approvals, journal directory, sinks. */
  readonly run?: Omit<RunOptions, 'request' | 'vocabulary' | 'budgets'>;
  /** Called if no executor is usable: the run then goes on without programs (default: it fails with `executor/unavailable`). */
  readonly onProgramsUnavailable?: (error: SkillError) => void;
  /** Awaited before the run ends, while its workspace still exists, for example to copy files out of it. Not called for subagents. */
  readonly beforeEnd?: (session: Session, run: Run) => Promise<void>;
  readonly signal?: AbortSignal;
  /** Stops single steps (default: only the whole run can be stopped). */
  readonly steps?: StepControl;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/** Lets a person stop one step of a run, a model call or an action, without ending the run. */
export interface StepControl {
  /** Returns the signal of the step that begins. Aborting it stops this step only. */
  begin(): AbortSignal;
  /** Awaited after a step was stopped. The run goes on afterwards, unless its own signal was aborted. */
  stopped(): Promise<void>;
}

export interface AgentResult {
  /** `degraded`: a budget was exceeded, and the answer says what is missing. */
  readonly outcome: 'done' | 'degraded' | 'failed' | 'refused' | 'cancelled';
  readonly answer: string;
  /** Why the run ended this way; empty if `outcome` is `done`. */
  readonly reason: string;
  readonly plan: Plan;
  readonly used: Budget;
  /** Absent if the run is not recorded. */
  readonly run: string | undefined;
  readonly path: string | undefined;
}
