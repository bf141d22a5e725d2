import type { Budget } from '../core/budget.ts';
import type { Model } from '../core/model.ts';
import type { Plan } from '../core/plan.ts';
import type { Vocabulary } from '../core/tool.ts';
import type { VocabularyName } from '../tools/vocabularies.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Session } from '../runtime/session.ts';
import type { RunOptions } from '../runtime/start-run.ts';
import type { Activation } from './activation.ts';
import type { ProtocolName } from './system-prompt.ts';

export interface AgentOptions {
  readonly runtime: Runtime;
  readonly model: Model;
  /** In the words of whoever asks; `/skill-name arguments` calls a skill by its name. */
  readonly request: string;
  /** Native tool calls, or the structured actions of skills-agent for models that call no tools: `tools`. */
  readonly protocol?: ProtocolName;
  /** Whose tools: `skillwright`, or `skills-agent` for structured actions. */
  readonly vocabulary?: VocabularyName | Vocabulary;
  readonly budget?: Partial<Budget>;
  /** How skills come up: `model`. */
  readonly activation?: Activation;
  /** Skills that are loaded before the first call, all of them or none. */
  readonly required?: readonly string[];
  /** Files of this machine that are brought to the workspace. */
  readonly files?: readonly string[];
  /** Programs, files of the project, rules, who is asked, where it is recorded, who listens. */
  readonly run?: Omit<RunOptions, 'request' | 'vocabulary' | 'budgets'>;
  /** Waited for before the run is ended, while its workspace is still there: to take files out of it. Not for parts of the run. */
  readonly beforeEnd?: (session: Session) => Promise<void>;
  readonly signal?: AbortSignal;
  /** Milliseconds by a clock that never goes backwards. */
  readonly now?: () => number;
}

export interface AgentResult {
  /** `degraded`: a budget ended, and the answer says what is missing. */
  readonly outcome: 'done' | 'degraded' | 'failed' | 'refused' | 'cancelled';
  readonly answer: string;
  /** Why it ended as it did; empty where it is done. */
  readonly reason: string;
  readonly plan: Plan;
  readonly used: Budget;
  /** Absent where nothing is recorded. */
  readonly run: string | undefined;
  readonly path: string | undefined;
}
