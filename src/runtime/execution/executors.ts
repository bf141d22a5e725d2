import path from 'node:path';

import {
  defined,
  isSkillError,
  NOBODY,
  type Config,
  type Executor,
  type Identity,
  type ProgramSpec,
  type SkillError,
} from '#core';
import {
  bubblewrapExecutor,
  bubblewrapFingerprint,
  chooseExecutor,
  containerExecutor,
  examineExecutors as examineCandidates,
  isRoot,
  landlockExecutor,
  landlockFingerprint,
  localExecutor,
  macosExecutor,
  namespacesExecutor,
  namespacesFingerprint,
  openBridge,
  openPortProxy,
  type Bridge,
  type ChooseOptions,
  type ContainerOptions,
  type ExecutorCandidate,
  type ExecutorExamination,
  type OnTrial,
} from '#sandbox';
import { sha256 } from '#platform';
import { VERSION } from '../../version.ts';

export interface ExecutorSettings {
  readonly container?: ContainerOptions;
  /** Folder for the sockets to granted hosts. */
  readonly bridgeFolder: string;
}

const NOT_KNOWN = { isKnown: false };

/** All executors, in the order in which `auto` tries them. */
export function executorCandidates({ container = {}, bridgeFolder }: ExecutorSettings): readonly ExecutorCandidate[] {
  const bridge = (hosts: readonly string[], proxyFrom: ProgramSpec['proxyFrom'], isInImage = false): Promise<Bridge> =>
    openBridge({ hosts, proxyFrom, isInImage, folder: bridgeFolder, ...sandboxUser() });
  const candidates: readonly (readonly [Executor['name'], ExecutorCandidate['make'], unknown])[] = [
    ['bubblewrap', ({ isKnown } = NOT_KNOWN) => bubblewrapExecutor({ isKnown, bridge }), bubblewrapFingerprint()],
    ['namespaces', ({ isKnown } = NOT_KNOWN) => namespacesExecutor({ isKnown, bridge }), namespacesFingerprint()],
    ['macos', () => macosExecutor(), ''],
    [
      'container',
      () => containerExecutor({ ...container, bridge: (hosts, proxyFrom) => bridge(hosts, proxyFrom, true) }),
      container,
    ],
    [
      'landlock',
      () => landlockExecutor({ openProxy: (hosts, proxyFrom) => openPortProxy({ hosts, proxyFrom }) }),
      landlockFingerprint(),
    ],
    ['local', () => localExecutor(), ''],
  ];
  return candidates
    .filter(([name]) => isOnThisSystem(name))
    .map(([name, make, settings]) => ({
      name,
      make,
      fingerprint: sha256(JSON.stringify([VERSION, name, settings])),
    }));
}

/** Executors of another operating system are not offered. */
function isOnThisSystem(name: Executor['name']): boolean {
  if (name === 'macos') return process.platform === 'darwin';
  return process.platform === 'linux' || (name !== 'namespaces' && name !== 'landlock');
}

/** If this process is root, programs run as another user, who must own the socket to granted hosts. */
function sandboxUser(): { readonly identity?: Identity } {
  return isRoot() ? { identity: NOBODY } : {};
}

export interface FoundExecutor {
  readonly executor: Executor;
  /** Identifies version, sandbox and image for records. Absent for a custom executor. */
  readonly profile?: string;
  /** Only scripts of built-in skills may run; this error is for everything else. */
  readonly restriction?: SkillError | undefined;
}

interface FindOptions extends Pick<ChooseOptions, 'allowWeaker' | 'runsBuiltIn'> {
  readonly cacheDir: string | undefined;
  readonly onTrial?: OnTrial | undefined;
}

/** Returns the given executor, the one with that name, or the first that isolates. */
export async function findExecutor(
  wanted: 'auto' | Executor['name'] | Executor,
  settings: ExecutorSettings,
  { cacheDir, ...choice }: FindOptions,
): Promise<FoundExecutor> {
  if (typeof wanted === 'object') return { executor: wanted };
  const candidates = executorCandidates(settings);
  const { executor, restriction } = await chooseExecutor(wanted, {
    candidates,
    ...choice,
    cacheDirectory: cacheDir === undefined ? undefined : path.join(cacheDir, 'executors'),
  });
  const { fingerprint = '' } = candidates.find(({ name }) => name === executor.name) ?? {};
  return { executor, profile: `sha256:${fingerprint}`, restriction };
}

/** Probes what each executor blocks on this machine. */
export function examineExecutors({
  config,
  executionPlaces,
}: ExaminedRuntime): Promise<readonly ExecutorExamination[]> {
  const { base, engine } = executionPlaces;
  const settings = { bridgeFolder: base, container: { ...containerSettings(engine), ...containerConfig(config) } };
  return examineCandidates({ candidates: executorCandidates(settings) });
}

interface ExaminedRuntime {
  readonly config: Config;
  readonly executionPlaces: {
    readonly base: string;
    readonly engine: string | undefined;
    readonly cacheDir: string | undefined;
  };
}

/** The executor that a session would use; undefined if programs cannot run here. */
export async function usableExecutor(
  { config, executionPlaces }: ExaminedRuntime,
  wanted: 'auto' | Executor['name'],
  onTrial?: OnTrial,
): Promise<Executor['name'] | undefined> {
  const { base, engine, cacheDir } = executionPlaces;
  const settings = { bridgeFolder: base, container: { ...containerSettings(engine), ...containerConfig(config) } };
  try {
    const allowWeaker = config.execution?.allow_weaker === true;
    const { executor, restriction } = await findExecutor(wanted, settings, { cacheDir, onTrial, allowWeaker });
    return restriction === undefined ? executor.name : undefined;
  } catch (error) {
    if (isSkillError(error)) return undefined;
    throw error;
  }
}

/** Container settings from the environment. */
export function containerSettings(engine: string | undefined): ContainerOptions {
  return engine === undefined ? {} : { socket: engine };
}

export function containerConfig({ execution }: Config): ContainerOptions {
  const { image, runtime } = execution ?? {};
  return { ...defined({ image, runtime }) };
}
