import type { Budget, Model, SkillEntry, RunEvent, OfType, RunInfo } from '#core';
import type { Run } from '#runtime';
import type { AgentOptions, StepControl } from './agent-options.ts';
import type { AgentTools } from './agent-tools.ts';
import type { Replay } from './resume/replay.ts';
import type { Gate } from './gate.ts';
import type { KeptOutputs } from './outputs.ts';
import type { IsLifted } from './plan-limits.ts';
import type { Measure } from './request.ts';
import type { AgentState } from './state.ts';
import type { Stop } from './stop.ts';
import type { ProtocolName } from './system-prompt.ts';

export interface AgentParts {
  readonly run: Run;
  readonly model: Model;
  readonly protocol: ProtocolName;
  /** The budget of the caller, tightened by the current plan. */
  readonly limits: Budget;
  /** The part of the caller's budget that belongs to this request. */
  readonly allowed: Budget;
  readonly isLifted: IsLifted;
  readonly state: () => AgentState;
  readonly stop: AbortSignal;
  readonly untilStopped: Stop['until'];
  /** Stops single steps; absent if only the whole run can be stopped. */
  readonly steps: StepControl | undefined;
  readonly tools: AgentTools;
  readonly gate: Gate;
  readonly outputs: KeptOutputs;
  readonly measure: Measure;
  readonly request: string;
  readonly ancestry: Ancestry;
  readonly startChild: (task: ChildTask) => Promise<ChildResult>;
  /** At least one skill runs as a subagent. */
  readonly mayDelegate: boolean;
  /** The skills that were proposed to the model, by id, with the reason. */
  readonly proposed: Map<string, OfType<RunEvent, 'activation'>['reason']>;
  /** The recorded run that this one resumes; absent for a new run. */
  readonly replay: Replay | undefined;
  /** The run ends at the first action that needs approval if no user is available. */
  readonly stopsUnapproved: boolean;
  /** A sink receives the answer while it grows. */
  readonly isWatched: boolean;
}

export interface TurnsEnd {
  readonly outcome: 'done' | 'degraded' | 'failed' | 'refused';
  readonly reason: string;
  /** The answer of the model; absent if it gave none. */
  readonly answer?: string;
}

export interface Opening {
  readonly request: string;
  readonly skills: string;
  readonly images?: AgentOptions['images'];
  /** Skills that the model must accept or reject first; empty if there are none. */
  readonly choice: readonly SkillEntry[];
}

export interface Ancestry {
  /** 0 for the agent that the user started. */
  readonly depth: number;
  /** Reserves one of the subagents that the whole tree may start. Returns false if none is left. */
  readonly takePlace: () => boolean;
}

export interface ChildTask {
  readonly skill: SkillEntry;
  readonly request: string;
  readonly budget: Budget;
  readonly ancestry: Ancestry;
  /** Called before the subagent does anything; without a record the run has no id. */
  readonly onStart: (run: string | undefined) => void;
}

export interface ChildResult {
  readonly outcome: RunInfo['outcome'];
  readonly answer: string;
  readonly used: Budget;
  readonly run: string | undefined;
}
