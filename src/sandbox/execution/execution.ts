import { randomUUID } from 'node:crypto';
import path from 'node:path';

import {
  actionFailed,
  executorTraits,
  isSkillError,
  SkillError,
  type Observation,
  type SkillEntry,
  type Action,
  type OfType,
} from '#core';
import { realPath } from '#platform';
import { openFileArtifacts } from '../artifacts/file-store.ts';
import type { ArtifactStore } from '../artifacts/store.ts';
import { openPackages } from '../environments/packages.ts';
import { findExecutor } from '../executors/find-executor.ts';
import { stageInputs } from '../inputs/inputs.ts';
import { checkMounts } from '../mounts/check-mount.ts';
import { secretDocuments } from '../mounts/hidden-names.ts';
import { openWorkspaces, type Workspace } from '../workspace/workspace.ts';
import {
  limitReport,
  executionFailure,
  partsFor,
  spanned,
  type ExecutionCall,
  type ExecutionParts,
  type GiveSecrets,
  type Execution,
  type ExecutionDefaults,
  type ExecutionOptions,
} from './parts.ts';
import { isInAny, prepareProgram, runPrepared } from './run-program.ts';
import { openInteractiveCommands } from './interactive-command.ts';

export async function openExecution(options: ExecutionOptions, places: ExecutionDefaults): Promise<Execution> {
  const container = { socket: places.engine, ...options.container };
  const settings = { bridgeFolder: places.base, container };
  const { cacheDir } = places;
  const { onTrial, allowWeaker = false, runsBuiltIn = false } = options;
  const { executor, profile, ...found } = await findExecutor(options.executor ?? 'auto', settings, {
    cacheDir,
    probed: places.probed,
    onTrial,
    allowWeaker,
    runsBuiltIn,
  });
  const { isolation } = executorTraits(executor.name);
  const { gaps } = executor;
  const isAllowed = found.restriction && gaps !== undefined && (await options.askWeaker?.(gaps)) === true;
  const restriction = isAllowed ? undefined : found.restriction;
  if (restriction !== undefined) options.onRestriction?.(restriction);
  const records = places.records.map(realPath);
  const mounts = checkMounts(options.mounts ?? [], {
    ...places.mountRules,
    records,
    onSkipped: options.onUnmounted,
    stateFolders: [...places.mountRules.stateFolders, places.base, ...(cacheDir === undefined ? [] : [cacheDir])],
    identity: executor.identity,
    needsPath: executor.image === undefined,
  });
  const network = (options.network ?? []).map(programGrant);
  const { guard } = places;
  const isSecretDocument = secretDocuments(guard.names);
  const isLeftOut = (folder: string, relative: string): boolean =>
    guard.isSecret(relative, folder) || isSecretDocument(path.join(folder, relative));
  const workspaces = openWorkspaces({ base: places.base });
  const artifacts = openArtifacts(options.artifacts, places);
  const key = options.key ?? randomUUID();
  let known: Promise<void> | undefined;
  let isClosed = false;
  let used: Workspace | undefined;
  const changedInputs = new Set<string>();
  const openWorkspace = async (): Promise<Workspace> => {
    // A late call would open a workspace that is never closed.
    if (isClosed)
      throw new SkillError({
        code: 'workspace/invalid',
        message: 'the session is closed',
        hint: 'start a new session',
        data: { path: '' },
      });
    const workspace = await workspaces.open(key, executor);
    used = workspace;
    await (known ??= learnSecrets(workspace, options.secrets, places));
    return workspace;
  };
  const packages = openPackages({
    options: options.packages ?? {},
    executor,
    places,
    user: places.user,
    openWorkspace: (name) => (name === undefined ? openWorkspace() : workspaces.open(name, executor)),
    stage: async (skill) => (await openWorkspace()).stage(skill),
  });
  const { skillRoots } = places.mountRules;
  const parts: ExecutionParts = {
    ...options,
    executor,
    restriction,
    network,
    artifacts,
    changedInputs,
    inputSources: {
      artifact: artifacts === undefined ? undefined : (name, version) => artifacts.load(name, version),
      host: (file) => isInAny(file, options.hostInputs ?? []),
      isLeftOut,
      records,
      skill: async (name) => {
        const entry = await places.findSkill(name);
        if (entry === undefined) return undefined;
        return (await (await openWorkspace()).stage(entry)).snapshot;
      },
    },
    openWorkspace,
    packages,
    guard,
    mounts,
    records,
    skillRoots,
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
    skillRoots,
    identity: { profile, image: executor.image },
    given: describeGiven(options, { executor, mounts, network }),
    artifacts,
    packages,
    openWorkspace,
    usedWorkspace: () => used,
    changedInputs,
    async stagedDigest(skill) {
      if (used === undefined && options.key === undefined) return undefined;
      try {
        const workspace = await openWorkspace();
        return workspace.hasStaged(skill) ? (await workspace.stage(skill)).digest : undefined;
      } catch (error) {
        // The program cannot start either, and says why.
        if (isSkillError(error)) return undefined;
        throw error;
      }
    },
    async perform(action, skill, call = {}) {
      try {
        if (action.type === 'run_script' || action.type === 'run_command')
          return await run(action, skill, partsFor(parts, call), call);
        return await interactive.perform(action, skill, call);
      } catch (error) {
        return actionFailed(action.type, executionFailure(error));
      } finally {
        options.afterProgram?.(execution);
      }
    },
    async stageFiles(files, signal) {
      const requests = files.map((file) => ({ from: `host://${path.resolve(file)}` }));
      const staged = await stageInputs(await openWorkspace(), requests, { host: () => true, isLeftOut }, { signal });
      if (staged.type === 'failed') return staged.failure;
      return { references: staged.inputs.map(({ to }) => `workspace://${to}`), warnings: staged.warnings };
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

/** Everything of the options that changes what programs run, see or reach. Values that differ between processes are left out. */
function describeGiven(
  { env, limits, hostInputs, startsInProject, serve, packages, artifacts }: ExecutionOptions,
  { executor, mounts, network }: Pick<ExecutionParts, 'executor' | 'mounts' | 'network'>,
): Execution['given'] {
  const { onProgress: _, ...ofPackages } = packages ?? {};
  return {
    env,
    limits,
    hostInputs,
    startsInProject,
    network,
    port: serve?.port,
    packages: ofPackages,
    artifacts: typeof artifacts === 'string' ? artifacts : undefined,
    executor: executor.name,
    image: executor.image,
    mounts: mounts.map(({ source, access, isProject }) => ({ source, access, isProject })),
  };
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
    skill: skill && { id: skill.id, name: skill.name, source: skill.source, dir: skill.dir },
    result,
    limits: limitReport(prepared.spec.limits, prepared.workspace.attached.capabilities),
  };
}

function openArtifacts(
  setting: ExecutionOptions['artifacts'],
  { artifacts, project }: ExecutionDefaults,
): ArtifactStore | undefined {
  if (setting === false) return undefined;
  return typeof setting === 'object' ? setting : openFileArtifacts(setting ?? artifacts, { project });
}
/**
 * A grant for programs as the user wrote it: `localhost:3000` and `127.0.0.1:3000` mean this machine and need no `private://`. Other
 * spellings of the loopback do, because people may not recognize them. Requests of a model never get this: their host is not the user's words.
 */
export function programGrant(text: string): string {
  return /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(?:\d+|\*))?$/i.test(text) ? `private://${text}` : text;
}
