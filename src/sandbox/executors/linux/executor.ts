import { availableParallelism } from 'node:os';
import path from 'node:path';

import {
  DEFAULT_LIMITS,
  invalidInput,
  isSkillError,
  shellWord,
  type AttachedWorkspace,
  type Executor,
  type ProgramEnd,
  type ProgramSpec,
} from '#core';
import { isPresent } from '#platform';
import { findControlGroups, removeStaleGroups, type ControlGroupFolder } from '../cgroup.ts';
import { findScopes, type SystemdScopes } from '../systemd-scope.ts';
import { checkProgram, checkWorkspace, networkDenied, notStarted, startFolder } from '../program-spec.ts';
import { PIPES_FOLDER, countedFolders, writableFolders } from '../../workspace/layout.ts';
import { UNCOUNTED_MEMORY } from '../seccomp/calls.ts';
import { seccompBytes } from '../seccomp/filter.ts';
import { findArchitecture } from '../seccomp/system-calls.ts';
import type { Launcher, OpenLauncher } from './launcher.ts';
import { skillMounts, systemMounts, type Mount } from './mounts.ts';
import { SANDBOX_ROOT, sandboxEntries } from './profile.ts';
import { findRuntimes, type Runtime } from './runtimes.ts';
import { countLaunchers, startSandboxed } from './program.ts';
import { explainFailure, setupFailed, unavailable } from './unavailable.ts';
import type { Bridge } from '../../network/bridge.ts';
import { NO_OUTPUT } from '../output-sinks.ts';
import { UNPRIVILEGED_USER } from '../unprivileged-user.ts';
import { openPipes, type OutputPipes } from '../../process/output-pipes.ts';
import type { RunningProgram, WorkspaceFolder, Identity } from '../../program-types.ts';

type RunStreams = Parameters<AttachedWorkspace['run']>[1];

/** Access to granted hosts: a socket mounted inside, and a forwarder there that offers it as a proxy and starts the program. */
export type NetworkBridge = Omit<Bridge, 'refused'> & Partial<Pick<Bridge, 'refused'>>;

/** Opens the way to granted hosts. */
export type OpenNetworkBridge = (
  hosts: readonly string[],
  proxyFrom: ProgramSpec['proxyFrom'],
) => Promise<NetworkBridge>;

export interface LinuxSandboxOptions {
  /** User for programs when the caller is root; never 0 (default: 65534). */
  readonly identity?: Identity;
  /** Opens access to granted hosts. Without it a program that needs a host is denied. */
  readonly bridge?: OpenNetworkBridge;
  /** A probe has shown that it isolates on this machine: skips the trial run, so the first program reports what fails. */
  readonly isKnown?: boolean;
  /** Language runtimes outside /usr that programs see (default: those that `findRuntimes` finds). */
  readonly runtimes?: readonly Runtime[];
  /** False: enforces memory and process limits by polling, as on systems without control groups (default: what is found). */
  readonly controlGroups?: false | SystemdScopes;
}

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';
/** Added to the process limit of the sandbox, so that the control group, which reports the reason, is hit first. */
const SPARE_PROCESSES = 16;
const OPEN_FILES = 1024;
const TEMPORARY_BYTES = 64 * 1024 * 1024;
/** A larger input stays a socket: as a file it would take the place of what programs store in /tmp. */
const STORED_INPUT_BYTES = 16 * 1024 * 1024;
const SHARED_MEMORY_BYTES = 16 * 1024 * 1024;
const SCRIPT = '/usr/bin/script';

interface Machine {
  readonly options: LinuxSandboxOptions;
  readonly identity: Identity | undefined;
  readonly launcher: Launcher;
  readonly filter: Uint8Array;
  readonly system: readonly Mount[];
  readonly groups: ControlGroupFolder | SystemdScopes | undefined;
}

/**
 * Runs programs in new namespaces of every kind, with an allow-list of files, no capabilities, a seccomp filter, and limits. Never runs
 * a program without them.
 */
export function linuxExecutor(launcher: Launcher, options: LinuxSandboxOptions): Executor {
  const identity = programIdentity(options);
  let machine: Machine | undefined;
  return {
    name: launcher.name,
    identity,
    attach: async (place) => {
      if (machine !== undefined) return attached(machine, place);
      const found = await detectMachine(launcher, options, identity);
      const workspace = attached(found, place);
      if (options.isKnown === true) {
        machine = found;
        return explainingFirstFailure(workspace, launcher);
      }
      await trialRun(workspace, launcher).catch(async (error: unknown) => {
        await workspace.detach();
        throw error;
      });
      machine = found;
      return workspace;
    },
  };
}

function programIdentity({ identity }: LinuxSandboxOptions): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = identity ?? UNPRIVILEGED_USER;
  if (uid === 0 || gid === 0) throw invalidInput('programs never run as root', 'a user and a group other than 0');
  return { uid, gid };
}

async function detectMachine(
  launcher: Launcher,
  options: LinuxSandboxOptions,
  identity: Identity | undefined,
): Promise<Machine> {
  const { name } = launcher;
  if (process.platform !== 'linux')
    throw unavailable(name, [`${name} runs on Linux only`], 'use the container executor, or macos on macOS');
  const architecture = findArchitecture();
  if (architecture === undefined)
    throw unavailable(name, [`there is no seccomp filter for ${process.arch}`], 'use the container executor');
  await launcher.check({ identity, isKnown: options.isKnown === true });
  const groups = options.controlGroups === false ? undefined : (options.controlGroups ?? foundGroups());
  return {
    options,
    identity,
    launcher,
    filter: seccompBytes(architecture, groups === undefined ? UNCOUNTED_MEMORY : []),
    system: systemMounts({ runtimes: options.runtimes ?? findRuntimes(), identity }),
    groups,
  };
}

/** The service manager is asked only where this process cannot create groups itself. */
function foundGroups(): Machine['groups'] {
  const groups = findControlGroups();
  if (groups !== undefined) removeStaleGroups(groups);
  return groups ?? findScopes();
}

function attached(machine: Machine, place: WorkspaceFolder): Required<AttachedWorkspace> {
  const pipes = openPipes(path.join(place.root, PIPES_FOLDER));
  const launcher = machine.launcher.open(machine.filter);
  checkWorkspace(place);
  pipes.prepare();
  // Skills are staged while the workspace is in use: each program sees those that are staged when it starts.
  const currentSkills = (): readonly Mount[] =>
    place.skills.flatMap(({ name, snapshot }) => skillMounts(snapshot, `${SANDBOX_ROOT}/skills/${name}`));
  // Includes programs that are being started: they use the files of the launcher, which `detach` closes.
  const underWay = new Set<Promise<RunningProgram>>();
  let isDetached = false;
  const start = async (spec: ProgramSpec, streams: RunStreams, mode?: InteractiveMode): Promise<RunningProgram> => {
    if (isDetached) throw setupFailed(machine.launcher.name, 'the workspace was detached');
    const starting = startProgram({ machine, place, pipes, launcher, skills: currentSkills(), spec, mode }, streams);
    underWay.add(starting);
    const forget = (): boolean => underWay.delete(starting);
    starting.then(({ ended }) => ended).then(forget, forget);
    return await starting;
  };
  return {
    capabilities: listCapabilities(machine),
    root: SANDBOX_ROOT,
    hidesNames: () => machine.launcher.hidesNames(),
    run: async (spec, streams) => {
      if (streams.signal?.aborted === true) return { reason: 'cancelled', durationMs: 0, warnings: [] };
      return await (
        await start(spec, streams)
      ).ended;
    },
    start: (spec, streams) => start(spec, streams, { terminal: streams.terminal }),
    detach: async () => {
      isDetached = true;
      await Promise.allSettled(
        [...underWay].map(async (starting) => {
          const program = await starting;
          program.kill();
          await program.ended;
        }),
      );
      await pipes.close();
      launcher.close();
    },
  };
}

function listCapabilities({ groups, launcher, options: { bridge } }: Machine): AttachedWorkspace['capabilities'] {
  return {
    isolation: launcher.isolation,
    limits: {
      wallMs: 'runtime',
      outputBytes: 'runtime',
      // The limit of the user namespace, which all processes of the sandbox share.
      processes: groups?.version === 2 ? 'cgroup' : 'rlimit',
      memoryBytes: groups === undefined ? 'watched' : 'cgroup',
      fileBytes: 'rlimit',
      diskBytes: 'watched',
      files: 'watched',
    },
    temporaryBytes: TEMPORARY_BYTES + SHARED_MEMORY_BYTES,
    hasNetworkGrants: bridge !== undefined,
    hasInteraction: true,
    hasTerminal: isPresent(SCRIPT),
  };
}

const TRIAL_MS = 30_000;

/** Runs `true` once: an installed launcher says little about what the kernel allows. */
async function trialRun(workspace: AttachedWorkspace, launcher: Launcher): Promise<void> {
  const limits = { ...DEFAULT_LIMITS, wallMs: TRIAL_MS };
  const spec = { argv: ['true'], cwd: '.', env: {}, stdin: new Uint8Array(), limits, network: [] };
  try {
    const end = await workspace.run(spec, { stdout: NO_OUTPUT, stderr: NO_OUTPUT });
    if (end.reason === 'exited' && end.exitCode === 0) return;
    throw unavailable(
      launcher.name,
      [`\`true\` ended with ${end.reason} ${String(end.exitCode ?? end.signal)}`],
      launcher.install,
    );
  } catch (error) {
    throw explained(error, launcher);
  }
}

/** Turns a failed setup into `executor/unavailable` where this machine is the cause. */
function explained(error: unknown, { name, install }: Launcher): unknown {
  if (!isSkillError(error) || error.code !== 'executor/failed' || !('cause' in error.data)) return error;
  // Errors of the network bridge are not errors of the launcher.
  if ('executor' in error.data && error.data.executor === 'network') return error;
  const explanation = explainFailure(error.data.cause, install);
  return explanation === undefined ? error : unavailable(name, [explanation.reason], explanation.install);
}

/** The machine may have changed since its probe: until a first program has ended, failures are explained like those of a trial run. */
function explainingFirstFailure(workspace: Required<AttachedWorkspace>, launcher: Launcher): AttachedWorkspace {
  let hasRun = false;
  const explain = async (ended: Promise<ProgramEnd>): Promise<ProgramEnd> => {
    try {
      const end = await ended;
      hasRun = true;
      return end;
    } catch (error) {
      throw hasRun ? error : explained(error, launcher);
    }
  };
  return {
    ...workspace,
    run: (spec, streams) => explain(workspace.run(spec, streams)),
    start: async (spec, streams) => {
      const running = await workspace.start(spec, streams);
      return { ...running, ended: explain(running.ended) };
    },
  };
}

/** A program that gets more input while it runs. */
interface InteractiveMode {
  readonly terminal: boolean;
}

interface Program {
  readonly machine: Machine;
  readonly place: WorkspaceFolder;
  readonly pipes: OutputPipes;
  readonly launcher: OpenLauncher;
  readonly skills: readonly Mount[];
  readonly spec: ProgramSpec;
  /** Absent: the spec holds all of the input. */
  readonly mode: InteractiveMode | undefined;
}

async function startProgram(program: Program, streams: RunStreams): Promise<RunningProgram> {
  const { machine, spec } = program;
  checkProgram(spec);
  if (spec.network.length === 0) return await startWith(program, streams, undefined);
  const { bridge } = machine.options;
  if (bridge === undefined) return notStarted(networkDenied(spec));
  const opened = await bridge(spec.network, spec.proxyFrom);
  try {
    const running = await startWith(program, streams, opened);
    const ended = running.ended.finally(async () => await opened.close());
    return { ...running, ended: ended.then((end) => ({ ...end, refused: opened.refused?.() ?? [] })) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function startWith(
  { machine, place, pipes, launcher, skills, spec, mode }: Program,
  streams: RunStreams,
  bridge: NetworkBridge | undefined,
): Promise<RunningProgram> {
  const { limits, mounts = [] } = spec;
  const folders = writableFolders(spec).map((name) => ({ name, source: path.join(place.root, name) }));
  const hasEntry = machine.groups?.version === 1;
  const hasBroker = spec.hidden !== undefined;
  const argv = [...(bridge?.forwarderArgv ?? []), ...spec.argv];
  const command = launcher.launch({
    entries: sandboxEntries({
      system: machine.system,
      skills,
      writable: folders,
      mounts,
      temporaryBytes: TEMPORARY_BYTES,
      sharedMemoryBytes: SHARED_MEMORY_BYTES,
      bridgeSocket: bridge?.socketPath,
    }),
    cwd: startFolder(SANDBOX_ROOT, spec.cwd),
    env: { PATH: DEFAULT_PATH, ...spec.env, ...bridge?.env },
    argv: mode?.terminal === true ? inTerminal(argv) : argv,
    limits: {
      processes: limits.processes + (machine.groups?.version === 2 ? SPARE_PROCESSES : countLaunchers(hasBroker)),
      fileBytes: limits.fileBytes,
      openFiles: OPEN_FILES,
      cpuSeconds: Math.ceil(limits.wallMs / 1000) * availableParallelism() + 1,
      ...(machine.groups === undefined ? { dataBytes: limits.memoryBytes } : {}),
    },
    hidden: spec.hidden,
    storesInput: mode === undefined && spec.stdin.length <= Math.min(STORED_INPUT_BYTES, limits.fileBytes),
    hasEntry,
  });
  return await startSandboxed(
    {
      ...command,
      executor: machine.launcher.name,
      identity: machine.identity,
      limits,
      groups: machine.groups,
      folders: countedFolders(place.root, spec),
      stdin: spec.stdin,
      pipes,
      hasBroker,
      isInteractive: mode !== undefined,
    },
    streams,
  );
}

/** A pseudo terminal inside the sandbox: characters injected into it do not reach the host's terminal. */
function inTerminal(argv: readonly string[]): readonly string[] {
  return [SCRIPT, '-qefc', `exec ${argv.map(shellWord).join(' ')}`, '/dev/null'];
}
