import {
  failure,
  isSkillError,
  type RunEvent,
  type OfType,
  type ActionOfKind,
  type Executor,
  type ActionProblem,
  type RunLimits,
  type SkillEntry,
  type SkillError,
  type AttachedWorkspace,
  type Observation,
} from '#core';
import type { ArtifactStore, CheckedMount, InputSources, Packages, PreparedPackages, Workspace } from '#sandbox';
import type { Redactor } from '#journal';

type Span = OfType<RunEvent, 'span'>['span'];

/** `call` is the number of the action that the step belongs to, if any. */
export type OnSpan = (span: Span, call?: number) => void;

interface Step<Result> {
  readonly name: OfType<RunEvent, 'span'>['span']['name'];
  readonly attributes?: Span['attributes'];
  /** Attributes that are known only afterwards. */
  readonly after?: (result: Result) => Span['attributes'];
}

/** Runs a step and reports it. Errors are thrown on unchanged. */
export async function spanned<Result>(
  onSpan: OnSpan | undefined,
  { name, attributes = {}, after }: Step<Result>,
  act: () => Result | Promise<Result>,
): Promise<Result> {
  if (onSpan === undefined) return await act();
  const startedAt = Date.now();
  const start = performance.now();
  const tell = (more: Span['attributes'], isFailed: boolean): void =>
    onSpan({
      name,
      startedAt,
      durationMs: performance.now() - start,
      attributes: { ...attributes, ...more },
      isFailed,
    });
  let result: Result;
  try {
    result = await act();
  } catch (error) {
    tell({}, true);
    throw error;
  }
  tell(after?.(result) ?? {}, false);
  return result;
}

/** The actions that run a program or interact with a running one. */
export type ExecutionAction = ActionOfKind<'program'>;

/** What all runs of a session share. */
export interface ExecutionParts {
  readonly executor: Executor;
  /** Only scripts of built-in skills may run; this error is for everything else. */
  readonly restriction: SkillError | undefined;
  readonly limits: Partial<RunLimits>;
  readonly network: readonly string[];
  /** Variables for every program, in addition to the fixed ones. */
  readonly env: Readonly<Record<string, string>>;
  /** Begins the idempotency keys of programs. */
  readonly idempotencyKey: string | undefined;
  readonly artifacts: ArtifactStore | undefined;
  /** Collects the files beside the inputs that programs wrote or changed, relative to the workspace. */
  readonly changedInputs: Set<string>;
  readonly inputSources: InputSources;
  /** Absent: skills get no secrets. */
  readonly secrets: GiveSecrets | undefined;
  /** Removes all known secrets from program output, because all programs share a workspace. */
  readonly redactor: Redactor | undefined;
  /** Returns the workspace of the session; created by the first program. */
  openWorkspace(): Promise<Workspace>;
  readonly onOutput: ((stream: 'stdout' | 'stderr', chunk: Uint8Array) => void) | undefined;
  readonly onSpan: OnSpan | undefined;
  readonly packages: Packages;
  /** Host folders that programs see. */
  readonly mounts: readonly CheckedMount[];
  /** Real paths of the folders of recorded runs. */
  readonly records: readonly string[];
  readonly skillRoots: readonly string[];
  readonly startsInProject: boolean;
  readonly serve: { readonly port: number; readonly onReady: () => void } | undefined;
}

/** Details of one action. */
export interface ExecutionCall {
  readonly signal?: AbortSignal | undefined;
  /** A model is told how to ask for packages itself (default: a person). */
  readonly askedBy?: OfType<RunEvent, 'action'>['askedBy'] | undefined;
  /** Tree digest that was approved or recorded; nothing else may run. */
  readonly digest?: string | undefined;
  /** Host files that the policy allows for this action, besides `ExecutionOptions.hostInputs`. */
  readonly hostInputs?: readonly string[];
  /** Host files that a rule denies; absent if no rule does. */
  readonly isDenied?: ((absolute: string) => boolean) | undefined;
  /** Whether a granted host stays granted for this action; a skill may restrict it. */
  readonly mayReach?: (host: string) => boolean;
  /** Packages for the program. */
  readonly packages?: PreparedPackages;
  /** Number of the action in the run. */
  readonly call?: number;
}

/** Attributes traced steps to an action. */
export function partsFor(parts: ExecutionParts, { call }: ExecutionCall): ExecutionParts {
  const { onSpan } = parts;
  return onSpan === undefined || call === undefined ? parts : { ...parts, onSpan: (span) => onSpan(span, call) };
}

/** Secrets for programs of one skill, and the redactor that removes them from everything else. */
export interface ProgramSecrets {
  readonly env: Readonly<Record<string, string>>;
  readonly redactor: Redactor;
  /** Warnings for a person. */
  readonly problems: readonly string[];
}

export type GiveSecrets = (
  skill: SkillEntry,
  signal: AbortSignal | undefined,
) => Promise<ProgramSecrets | { readonly failure: ActionProblem }>;

/** The failure of an action whose program could not be started. Bugs are thrown on. */
export function executionFailure(error: unknown): ActionProblem {
  if (!isSkillError(error)) throw error;
  if (error.code === 'input/invalid') return failure(error.code, error.message, { hint: error.hint });
  const code = error.code === 'executor/unavailable' ? 'execution/unavailable' : 'execution/failed';
  return failure(code, error.message, { hint: error.hint });
}

/** What held each limit of a program; `none` where nothing did. */
export function limitReport(
  limits: RunLimits,
  { limits: enforced, temporaryBytes }: AttachedWorkspace['capabilities'],
): NonNullable<OfType<Observation, 'program-ran'>['limits']> {
  const entries = Object.entries(limits).map(([name, limit]) => {
    const enforcedBy = Object.entries(enforced).find(([key]) => key === name)?.[1] ?? 'none';
    return [name, { limit, enforcedBy }] as const;
  });
  return {
    ...Object.fromEntries(entries),
    ...(temporaryBytes === undefined ? {} : { temporaryBytes: { limit: temporaryBytes, enforcedBy: 'tmpfs' } }),
  };
}
