import type { ArtifactStore } from '../../artifact/store.ts';
import type { Redactor } from '../../journal/redact/redact.ts';
import type { ActionOfKind, RunCommand, RunScript, StartCommand } from '../../core/action.ts';
import type { Executor, RunLimits } from '../../core/execution.ts';
import type { Failure } from '../../core/failure-codes.ts';
import type { SkillEntry } from '../../core/skill.ts';
import type { OnSpan } from '../../core/span.ts';
import type { InputSources } from '../../sandbox/inputs/inputs.ts';
import type { Inspect } from '../../sandbox/programs/preflight.ts';
import type { Workspace } from '../../sandbox/workspace/workspace.ts';

/** The actions that start a program. */
export type ProgramAction = RunScript | RunCommand | StartCommand;

/** The actions that run a program or interact with a running one. */
export type ExecutionAction = ActionOfKind<'program'>;

/** What the runs of one session share. */
export interface ExecutionParts {
  readonly executor: Executor;
  readonly limits: Partial<RunLimits>;
  /** Hosts that programs may reach. */
  readonly network: readonly string[];
  /** Given to every program, on top of what is always there. */
  readonly env: Readonly<Record<string, string>>;
  readonly programFolders: readonly string[];
  readonly artifacts: ArtifactStore | undefined;
  readonly inputSources: InputSources;
  /** Absent: no skill is given any. */
  readonly secrets: GiveSecrets | undefined;
  /** Takes every secret that is known out of what programs leave, also those of no skill: all of them share a workspace. */
  readonly redactor: Redactor | undefined;
  /** The workspace of the session; made by the first program. */
  openWorkspace(): Promise<Workspace>;
  /** Told of output as it comes. */
  readonly onOutput: ((stream: 'stdout' | 'stderr', chunk: Uint8Array) => void) | undefined;
  readonly onSpan: OnSpan | undefined;
  /** How programs are asked about where they will run. */
  readonly inspect: Inspect | undefined;
  /** Skills whose needs were looked at, by digest. */
  readonly examined: Map<string, readonly Missing[]>;
}

/** What is known of one action by the time it is run. */
export interface ExecutionCall {
  readonly signal?: AbortSignal | undefined;
  /** The tree of the skill that was approved or recorded: no other may run. */
  readonly digest?: string | undefined;
  /** Files of the host that policy lets this action use, besides those that were opened for all. */
  readonly hostInputs?: readonly string[];
  /** Whether a host that was granted to programs stays granted for this one: a skill may have less. */
  readonly mayReach?: (host: string) => boolean;
  /** Its number in the run. */
  readonly call?: number;
}

/** The parts for one action: whoever traces is told whose steps they are. */
export function partsFor(parts: ExecutionParts, { call }: ExecutionCall): ExecutionParts {
  const { onSpan } = parts;
  return onSpan === undefined || call === undefined ? parts : { ...parts, onSpan: (span) => onSpan(span, call) };
}

/** Values that one skill's programs are given, and what takes them out of everything else. */
export interface GivenSecrets {
  readonly env: Readonly<Record<string, string>>;
  readonly redactor: Redactor;
  /** What a person should know about them. */
  readonly problems: readonly string[];
}

export type GiveSecrets = (
  skill: SkillEntry,
  signal: AbortSignal | undefined,
) => Promise<GivenSecrets | { readonly failure: Failure }>;

/** Something a skill needs that is not there. */
export interface Missing {
  readonly message: string;
  readonly hint: string;
  readonly neededBy: string;
}
