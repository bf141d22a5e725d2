import {
  failure,
  isSkillError,
  type RunEvent,
  type OfType,
  type ActionOfKind,
  type Executor,
  type ExecutorName,
  type ActionProblem,
  type SkillEntry,
  type SkillError,
  type AttachedWorkspace,
  type Observation,
  type Surroundings,
  type RunResult,
  type ProgramSpec,
  type HiddenNames,
  type Redactor,
} from '#core';
import type { ArtifactStore } from '../artifacts/store.ts';
import type { PreparedPackages } from '../environments/layer-mounts.ts';
import type { PackageOptions, Packages } from '../environments/packages.ts';
import type { ContainerOptions } from '../executors/container/engine.ts';
import type { findExecutor } from '../executors/find-executor.ts';
import type { stageInputs } from '../inputs/inputs.ts';
import type { checkMounts, CheckedMount, MountRequest } from '../mounts/check-mount.ts';
import type { Workspace } from '../workspace/workspace.ts';

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
type ExecutionAction = ActionOfKind<'program'>;

export interface ExecutionOptions {
  /** `auto` uses the first executor that isolates. `local` does not isolate and must be named explicitly. */
  readonly executor?: 'auto' | ExecutorName | Executor;
  /** Lets `auto` use `landlock`, which is weaker, where nothing else isolates (default: false). */
  readonly allowWeaker?: boolean;
  /**
   * Where no executor of `auto` isolates, runs scripts of built-in skills nevertheless, under landlock or without isolation, and nothing
   * else (default: false, opening the session fails).
   */
  readonly runsBuiltIn?: boolean;
  readonly limits?: Partial<ProgramSpec['limits']>;
  /** Hosts that programs may reach (default: none). */
  readonly network?: readonly string[];
  /** Environment variables for every program. */
  readonly env?: Readonly<Record<string, string>>;
  /** Host folders that programs see at their own path; one with `write` needs approval for each program. */
  readonly mounts?: readonly MountRequest[];
  /** Forwards this port of 127.0.0.1 to the same port of a program in a sandbox while it runs. */
  readonly serve?: { readonly port: number; readonly onReady: () => void };
  /** Programs start in the project instead of the folder of their skill, if the project is mounted. */
  readonly startsInProject?: boolean;
  /** Host files and folders that may be used as inputs (default: none). */
  readonly hostInputs?: readonly string[];
  /** Artifact store, or its folder; `false` disables artifacts. */
  readonly artifacts?: ArtifactStore | string | false;
  /** Sessions with the same key share a workspace (default: a new workspace). */
  readonly key?: string;
  /** Whether enabling execution also allows `run_script` and `run_command` (default: true). If false, each run needs a rule or approval. */
  readonly opens?: boolean;
  /** Programs get this and the number of their action as `SKILLWRIGHT_IDEMPOTENCY_KEY` (default: an agent makes one). */
  readonly idempotencyKey?: string;
  /** Provides secrets for programs of a skill. */
  readonly secrets?: GiveSecrets;
  /** Names of the secrets that programs of a skill get, which is asked about (default: none). */
  readonly secretNames?: (skill: SkillEntry) => readonly string[];
  /** Removes secrets from the output of all programs. */
  readonly redactor?: Redactor;
  readonly container?: ContainerOptions;
  readonly packages?: PackageOptions;
  /** `call` is the number of the action whose program printed it. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Uint8Array, call?: number) => void;
  /** Called after each action of a program, which may have left results. Not called for subagents. */
  readonly afterProgram?: (execution: Execution) => void;
  /** Called for each executor that is probed first, which takes seconds and is cached for a day. */
  readonly onTrial?: (executor: ExecutorName) => void;
  /** Called when a session opens in which only built-in scripts run (`runsBuiltIn`). */
  readonly onRestriction?: (restriction: SkillError) => void;
  /** Called for an optional folder that programs do not see. */
  readonly onUnmounted?: (reason: SkillError) => void;
  /** Asked where only landlock isolates and `allowWeaker` is not set: whether every program may run with its gaps (default: no). */
  readonly askWeaker?: (gaps: readonly string[]) => Promise<boolean>;
  /** Receives each step of a run, for tracing. */
  readonly onSpan?: OnSpan;
}

/** What programs may see and change of a folder of the user, by the relative path of a file. */
interface FileGuard {
  readonly names: HiddenNames;
  isSecret(relative: string, folder: string): boolean;
  isProtected(relative: string, folder: string): boolean;
}

/** Defaults from the environment. */
export interface ExecutionDefaults {
  /** Folder of workspaces and snapshots. */
  readonly base: string;
  readonly artifacts: string;
  readonly cacheDir: string | undefined;
  /** Probe reports that all sessions of a runtime share, also where no cache folder exists. */
  readonly probed?: Parameters<typeof findExecutor>[2]['probed'];
  /** Where relative paths in rules start. */
  readonly project: string;
  /** Folders of records and of our own state in the project, which no program sees. */
  readonly records: readonly string[];
  /** Socket of the container engine (`DOCKER_HOST`). */
  readonly engine: string | undefined;
  /** Layers of packages are kept below the cache folder, or below `base`. */
  readonly user: Omit<Surroundings, 'cwd'>;
  /** What programs must not see by a mount. */
  readonly mountRules: Pick<Parameters<typeof checkMounts>[1], 'home' | 'stateFolders' | 'skillRoots'>;
  /** Which files of the user the policy hides from programs, or lets no program write. */
  readonly guard: FileGuard;
  /** Finds a skill for inputs such as `skill://name/path`; undefined if it must not be used. */
  readonly findSkill: (name: string) => Promise<SkillEntry | undefined>;
}

/** What all runs of a session share. */
export interface ExecutionParts extends Pick<
  ExecutionOptions,
  'env' | 'idempotencyKey' | 'limits' | 'onOutput' | 'onSpan' | 'redactor' | 'secrets' | 'serve' | 'startsInProject'
> {
  readonly executor: Executor;
  /** Only scripts of built-in skills may run; this error is for everything else. */
  readonly restriction: SkillError | undefined;
  /** Hosts that programs may reach, subject to rules. */
  readonly network: readonly string[];
  readonly artifacts: ArtifactStore | undefined;
  /** Collects the files beside the inputs that programs wrote or changed, relative to the workspace. */
  readonly changedInputs: Set<string>;
  readonly inputSources: Parameters<typeof stageInputs>[2];
  /** Returns the workspace of the session; created by the first program. */
  openWorkspace(): Promise<Workspace>;
  readonly packages: Packages;
  readonly guard: FileGuard;
  /** Host folders that programs see. */
  readonly mounts: readonly CheckedMount[];
  /** Real paths of the folders of records and of our own state in the project. */
  readonly records: readonly string[];
  /** Folders of skills, into which no output is copied. */
  readonly skillRoots: readonly string[];
}

/** Runs the programs of one session: executor, workspace and artifacts. */
export interface Execution
  extends
    Pick<ExecutionParts, 'restriction' | 'network' | 'redactor' | 'mounts' | 'skillRoots' | 'artifacts' | 'packages'>,
    Pick<ExecutionParts, 'openWorkspace'>,
    Pick<ExecutionDefaults, 'project'>,
    Pick<Required<ExecutionOptions>, 'secretNames'> {
  readonly executor: Executor['name'];
  readonly isolation: RunResult['isolation'];
  /** What every program gets besides its action, so that a yes to a program is a yes for this too. */
  readonly given: Readonly<Record<string, unknown>>;
  /** Executor profile and container image, for records. */
  readonly identity: { readonly profile?: string; readonly image?: string };
  /** The workspace, if it was opened. */
  usedWorkspace(): Workspace | undefined;
  /** The digest of the files that programs of the skill see, if it has had one in this session or in the kept workspace. */
  stagedDigest(skill: SkillEntry): Promise<string | undefined>;
  readonly changedInputs: ReadonlySet<string>;
  perform(action: ExecutionAction, skill: SkillEntry | undefined, call?: ExecutionCall): Promise<Observation>;
  /**
   * Copies files into the workspace that a person attached to a request, and returns their paths there, in this order. The caller
   * guarantees that a person named them, so no rule is checked.
   */
  stageFiles(
    files: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<ActionProblem | { readonly references: readonly string[]; readonly warnings: readonly string[] }>;
  /** Ends all programs. Removes the workspace unless it is kept for the next session with its key. */
  close(options?: { readonly keep?: boolean }): Promise<void>;
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

/** Attributes traced steps and output to an action. */
export function partsFor(parts: ExecutionParts, { call }: ExecutionCall): ExecutionParts {
  const { onSpan, onOutput } = parts;
  if (call === undefined) return parts;
  return {
    ...parts,
    onSpan: onSpan && ((span) => onSpan(span, call)),
    onOutput: onOutput && ((stream, chunk) => onOutput(stream, chunk, call)),
  };
}

/** Secrets for programs of one skill, and the redactor that removes them from everything else. */
interface ProgramSecrets {
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
  limits: ProgramSpec['limits'],
  { limits: enforced, temporaryBytes }: AttachedWorkspace['capabilities'],
): NonNullable<OfType<Observation, 'program-ran'>['limits']> {
  const entries = Object.entries(limits).map(([name, limit]) => {
    const enforcedBy = Object.entries(enforced).find(([key]) => key === name)?.[1] ?? 'none';
    return [name, { limit, enforcedBy }] as const;
  });
  const report = Object.fromEntries(entries);
  return temporaryBytes === undefined
    ? report
    : { ...report, temporaryBytes: { limit: temporaryBytes, enforcedBy: 'tmpfs' } };
}
