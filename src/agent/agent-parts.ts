import type { Budget } from '../core/budget.ts';
import type { ActivationReason } from '../core/run-events.ts';
import type { Model } from '../core/model.ts';
import type { SkillEntry } from '../core/skill.ts';
import type { Run } from '../runtime/start-run.ts';
import type { AgentTools } from './agent-tools.ts';
import type { Following } from './resume/follow-past.ts';
import type { Gate } from './gate.ts';
import type { KeptOutputs } from './outputs.ts';
import type { Measure } from './request.ts';
import type { AgentState } from './state.ts';
import type { Stop } from './stop.ts';
import type { SubagentParts } from './subagent.ts';
import type { ProtocolName } from './system-prompt.ts';

/** What the turns of one agent share. */
export interface AgentParts {
  readonly run: Run;
  readonly model: Model;
  readonly protocol: ProtocolName;
  readonly limits: Budget;
  readonly state: () => AgentState;
  readonly stop: AbortSignal;
  readonly untilStopped: Stop['until'];
  readonly tools: AgentTools;
  readonly gate: Gate;
  readonly outputs: KeptOutputs;
  readonly measure: Measure;
  readonly subagents: SubagentParts;
  /** Some skill wants a context of its own. */
  readonly mayDelegate: boolean;
  /** Skills that were put before the model, by id, and why. */
  readonly proposed: Map<string, ActivationReason>;
  /** The run that this one goes on with; absent where it begins by itself. */
  readonly following: Following | undefined;
  /** Somebody watches the answer grow. */
  readonly isWatched: boolean;
}

/** How the turns of a run came to their end. */
export interface TurnsEnd {
  readonly outcome: 'done' | 'degraded' | 'failed' | 'refused';
  readonly reason: string;
  /** The model's own; absent where it gave none. */
  readonly answer?: string;
}

export interface Opening {
  /** What the first message says. */
  readonly request: string;
  /** Instructions that are loaded already, as the model sees them. */
  readonly skills: string;
  /** Skills that the model must accept or reject first; none where it need not. */
  readonly choice: readonly SkillEntry[];
}
