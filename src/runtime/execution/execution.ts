import { randomUUID } from 'node:crypto';

import {
  actionFailed,
  executorTraits,
  isWeaker,
  SkillError,
  type ActionFailed,
  type Executor,
  type Observation,
  type RunLimits,
  type SkillEntry,
  type Action,
  type OfType,
  type RunResult,
  type Surroundings,
} from '#core';
import { realPath } from '#platform';
import {
  checkMounts,
  findExecutor,
  openFileArtifacts,
  openPackages,
  openWorkspaces,
  type ArtifactStore,
  type CheckedMount,
  type ContainerOptions,
  type MountRequest,
  type MountRules,
  type PackageOptions,
  type Packages,
  type Workspace,
} from '#sandbox';
import type { Redactor } from '#journal';
import { isSecretPath } from '#policy';
import { toSkillIdentity } from '../skill-identity.ts';
import {
  limitReport,
  executionFailure,
  partsFor,
  spanned,
  type ExecutionAction,
  type ExecutionCall,
  type ExecutionParts,
  type GiveSecrets,
  type OnSpan,
} from './parts.ts';
import { stagedSource } from './working-directory.ts';
import { isInAny, prepareProgram, runPrepared } from './run-program.ts';
import { openInteractiveCommands } from './interactive-command.ts';
import { programGrant } from './program-grant.ts';

export interface ExecutionOptions {
  /** `auto` uses the first executor that isolates. `local` does not isolate and must be named explicitly. */
  readonly executor?: 'auto' | Executor['name'] | Executor;
  /** Lets `auto` use `landlock`, which is weaker, where nothing else isolates (default: false). */
  readonly allowWeaker?: boolean;
  /**
   * Where no executor of `auto` isolates, runs scripts of built-in skills nevertheless, under landlock or without isolation, and nothing
   * else (default: false, opening the session fails).
   */
  readonly runsBuiltIn?: boolean;
  readonly limits?: Partial<RunLimits>;
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
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Uint8Array) => void;
  /** Called after each action of a program, which may have left results. Not called for subagents. */
  readonly afterProgram?: (execution: Execution) => void;
  /** Called for each executor that is probed first, which takes seconds and is cached for a day. */
  readonly onTrial?: (executor: Executor['name']) => void;
  /** Called when a session opens in which only built-in scripts run (`runsBuiltIn`). */
  readonly onRestriction?: (restriction: SkillError) => void;
  /** Called for an optional folder that programs do not see. */
  readonly onUnmounted?: (reason: SkillError) => void;
  /** Asked where only landlock isolates and `allowWeaker` is not set: whether every program may run under it (default: no). */
  readonly askWeaker?: () => Promise<boolean>;
  /** Receives each step of a run, for tracing. */
  readonly onSpan?: OnSpan;
}

/** Defaults from the environment. */
export interface ExecutionDefaults {
  /** Folder of workspaces and snapshots. */
  readonly base: string;
  readonly artifacts: string;
  readonly cacheDir: string | undefined;
  /** Where relative paths in rules start. */
  readonly project: string;
  /** Folders of recorded runs outside of `.agent`, which no program sees. */
  readonly records: readonly string[];
  /** Socket of the container engine (`DOCKER_HOST`). */
  readonly engine: string | undefined;
  /** Layers of packages are kept below the cache folder, or below `base`. */
  readonly user: Omit<Surroundings, 'cwd'>;
  /** What programs must not see by a mount. */
  readonly mountRules: Pick<MountRules, 'home' | 'stateFolders' | 'skillRoots'>;
  /** Finds a skill for inputs such as `skill://name/path`; undefined if it must not be used. */
  readonly findSkill: (name: string) => Promise<SkillEntry | undefined>;
}

/** Runs the programs of one session: executor, workspace and artifacts. */
export interface Execution {
  readonly executor: Executor['name'];
  readonly isolation: RunResult['isolation'];
  /** Set where only scripts of built-in skills run: why nothing else does. */
  readonly restriction: SkillError | undefined;
  /** Hosts that programs may reach, subject to rules. */
  readonly network: readonly string[];
  /** Where relative paths in rules start. */
  readonly project: string;
  /** Removes all known secrets from what is shown. */
  readonly redactor: Redactor | undefined;
  /** Host folders that programs see. */
  readonly mounts: readonly CheckedMount[];
  /** Names of the secrets that programs of a skill get. */
  readonly secretNames: (skill: SkillEntry) => readonly string[];
  /** Folders of skills, into which no output is copied. */
  readonly skillRoots: readonly string[];
  /** Executor profile and container image, for records. */
  readonly identity: { readonly profile?: string; readonly image?: string };
  readonly artifacts: ArtifactStore | undefined;
  readonly packages: Packages;
  /** Returns the workspace; creates it on first use. */
  openWorkspace(): Promise<Workspace>;
  /** The workspace, if it was opened. */
  usedWorkspace(): Workspace | undefined;
  /** Files beside the inputs that programs wrote or changed, relative to the workspace. */
  readonly changedInputs: ReadonlySet<string>;
  perform(action: ExecutionAction, skill: SkillEntry | undefined, call?: ExecutionCall): Promise<Observation>;
  /** Ends all programs. Removes the workspace unless it is kept for the next session with its key. */
  close(options?: { readonly keep?: boolean }): Promise<void>;
}

export async function openExecution(options: ExecutionOptions, places: ExecutionDefaults): Promise<Execution> {
  const container = { socket: places.engine, ...options.container };
  const settings = { bridgeFolder: places.base, container };
  const { cacheDir } = places;
  const { onTrial, allowWeaker = false, runsBuiltIn = false } = options;
  const { executor, profile, ...found } = await findExecutor(options.executor ?? 'auto', settings, {
    cacheDir,
    onTrial,
    allowWeaker,
    runsBuiltIn,
  });
  const { isolation } = executorTraits(executor.name);
  const isAllowed = found.restriction !== undefined && isWeaker(isolation) && (await options.askWeaker?.()) === true;
  const restriction = isAllowed ? undefined : found.restriction;
  if (restriction !== undefined) options.onRestriction?.(restriction);
  const mounts = checkMounts(options.mounts ?? [], {
    ...places.mountRules,
    onSkipped: options.onUnmounted,
    stateFolders: [...places.mountRules.stateFolders, places.base, ...(cacheDir === undefined ? [] : [cacheDir])],
    identity: executor.identity,
    needsPath: executor.image === undefined,
  });
  const network = (options.network ?? []).map(programGrant);
  const workspaces = openWorkspaces({ base: places.base });
  const artifacts = openArtifacts(options.artifacts, places.artifacts);
  const key = options.key ?? randomUUID();
  let known: Promise<void> | undefined;
  let isClosed = false;
  let used: Workspace | undefined;
  const changedInputs = new Set<string>();
  const openWorkspace = async (): Promise<Workspace> => {
    if (isClosed) throw closedSession();
    const workspace = await workspaces.open(key, executor);
    used = workspace;
    await (known ??= learnSecrets(workspace, options.secrets, places));
    return workspace;
  };
  const records = places.records.map(realPath);
  const packages = openPackages({
    options: options.packages ?? {},
    executor,
    places,
    user: places.user,
    openWorkspace: (name) => (name === undefined ? openWorkspace() : workspaces.open(name, executor)),
    stage: async (skill) => (await openWorkspace()).stage(stagedSource(skill)),
  });
  const parts: ExecutionParts = {
    executor,
    restriction,
    limits: options.limits ?? {},
    network,
    env: options.env ?? {},
    idempotencyKey: options.idempotencyKey,
    artifacts,
    changedInputs,
    inputSources: {
      artifact: artifacts === undefined ? undefined : (name, version) => artifacts.load(name, version),
      host: (file) => isInAny(file, options.hostInputs ?? []),
      isLeftOut: (folder, relative) => isSecretPath(relative, folder),
      records,
      skill: async (name) => {
        const entry = await places.findSkill(name);
        if (entry === undefined) return undefined;
        return (await (await openWorkspace()).stage(stagedSource(entry))).snapshot;
      },
    },
    secrets: options.secrets,
    redactor: options.redactor,
    openWorkspace,
    onOutput: options.onOutput,
    onSpan: options.onSpan,
    packages,
    mounts,
    records,
    skillRoots: places.mountRules.skillRoots,
    startsInProject: options.startsInProject === true,
    serve: options.serve,
  };
  const interactive = openInteractiveCommands(parts);
  const execution: Execution = {
    executor: executor.name,
    isolation,
    restriction,
    network,
    project: places.project,
    redactor: options.redactor,
    mounts,
    secretNames: options.secretNames ?? (() => []),
    skillRoots: places.mountRules.skillRoots,
    identity: { profile, image: executor.image },
    artifacts,
    packages,
    openWorkspace,
    usedWorkspace: () => used,
    changedInputs,
    async perform(action, skill, call = {}) {
      try {
        if (action.type === 'run_script' || action.type === 'run_command')
          return await run(action, skill, partsFor(parts, call), call);
        return await interactive.perform(action, skill, call);
      } catch (error) {
        return failedBy(action, error);
      } finally {
        options.afterProgram?.(execution);
      }
    },
    async close({ keep = false } = {}) {
      await spanned(options.onSpan, { name: 'workspace.cleanup', attributes: { keep } }, async () => {
        await interactive.close();
        if (keep && !isClosed) await (await openWorkspace()).close({ keep });
        isClosed = true;
        await workspaces.close();
      });
    },
  };
  return execution;
}

/**
 * A reused workspace may contain secrets of an earlier session. They are fetched again, so that the redactor knows them before anything is
 * shown.
 */
async function learnSecrets(
  { metadata }: Workspace,
  secrets: GiveSecrets | undefined,
  { findSkill }: Pick<ExecutionDefaults, 'findSkill'>,
): Promise<void> {
  if (secrets === undefined) return;
  await Promise.all(
    metadata.skills.map(async ({ name }) => {
      const skill = await findSkill(name);
      if (skill !== undefined) await secrets(skill, undefined);
    }),
  );
}

async function run(
  action: OfType<Action, 'run_script'> | OfType<Action, 'run_command'>,
  skill: SkillEntry | undefined,
  parts: ExecutionParts,
  call: ExecutionCall,
): Promise<Observation> {
  const prepared = await prepareProgram(action, skill, parts, call);
  if (prepared.type === 'refused') return actionFailed(action.type, prepared.failure);
  const result = await runPrepared(prepared, parts, call.signal);
  return {
    type: 'program-ran',
    action: action.type,
    skill: skill === undefined ? undefined : toSkillIdentity(skill),
    result,
    limits: limitReport(prepared.spec.limits, prepared.workspace.attached.capabilities),
  };
}

/** A late call would open a workspace that is never closed. */
function closedSession(): SkillError {
  return new SkillError({
    code: 'workspace/invalid',
    message: 'the session is closed',
    hint: 'start a new session',
    data: { path: '' },
  });
}

function failedBy(action: ExecutionAction, error: unknown): ActionFailed {
  return actionFailed(action.type, executionFailure(error));
}

function openArtifacts(given: ExecutionOptions['artifacts'], folder: string): ArtifactStore | undefined {
  if (given === false) return undefined;
  return typeof given === 'object' ? given : openFileArtifacts(given ?? folder);
}
