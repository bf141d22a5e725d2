import { availableParallelism, homedir } from 'node:os';
import path from 'node:path';

import { SkillError, isSkillError } from '../../../core/errors.ts';
import { DEFAULT_LIMITS, NOBODY } from '../../../core/execution.ts';
import type {
  AttachedWorkspace,
  Capabilities,
  Executor,
  Identity,
  LimitName,
  ProgramEnd,
  ProgramSpec,
  RunStreams,
  RunningProgram,
  WorkspacePlace,
} from '../../../core/execution.ts';
import { quoted } from '../../../core/text/text.ts';
import { OutputPipes } from '../../../platform/process/output-pipes.ts';
import { isDirectory, isPresent } from '../../../platform/fs/paths.ts';
import { findControlGroups, removeLeftGroups } from '../cgroup.ts';
import type { ControlGroupPlace } from '../cgroup.ts';
import { PIPES_FOLDER, WRITABLE_FOLDERS } from '../../workspace/layout.ts';
import { seccompBytes } from '../seccomp/filter.ts';
import { SECCOMP_ARCHITECTURES } from '../seccomp/system-calls.ts';
import { gatedCommand, splitEnvironment } from './gate.ts';
import { findBubblewrap, hostView, skillView } from './host-view.ts';
import { ARGUMENTS_DESCRIPTOR, ENTRY_DESCRIPTOR, KeptFiles, descriptorsOf, inheritedFiles } from './kept-files.ts';
import { SANDBOX_ROOT, encodeArguments, invalidInput, sandboxArguments } from './profile.ts';
import type { Shown } from './profile.ts';
import { SANDBOX_PROCESSES, failed, startSandboxed } from './program.ts';
import { checkInstalled, unavailable, whyNot } from './support.ts';

/** A way to granted hosts: a socket shown inside, and a program there that offers it as a proxy and runs another. */
export interface NetworkBridge {
  /** On the host. */
  readonly socketPath: string;
  /** For the program: `HTTPS_PROXY` and the like. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs inside, given `BRIDGE_SOCKET` by its author; the program's words follow it. */
  readonly forwarderArgv: readonly string[];
  close(): Promise<void>;
}

export interface BubblewrapOptions {
  /** The executable; one of the usual places otherwise. `PATH` is not searched. */
  readonly command?: string;
  /** Whom programs run as where we are root: 65534 otherwise, and never 0. */
  readonly identity?: Identity;
  /** Executables outside /usr that programs may use; the running Node otherwise. */
  readonly interpreters?: readonly string[];
  /** Opens the way to granted hosts; without it a program that needs one is denied. */
  readonly bridge?: (hosts: readonly string[]) => Promise<NetworkBridge>;
  /** It was seen to isolate here, as it is now: it is not tried out again before the first program, which then tells what is wrong. */
  readonly isKnown?: boolean;
  /** False: limits of memory and processes are held by looking, as where the kernel allows no groups. */
  readonly controlGroups?: boolean;
  readonly temporaryBytes?: number;
  readonly sharedMemoryBytes?: number;
}

/** Folders of a workspace that programs may write. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';
/** Behind the kernel's bound for the group, which tells of it: a second one that does not. */
const SPARE_PROCESSES = 16;
const TEMPORARY_BYTES = 64 * 1024 * 1024;
const SHARED_MEMORY_BYTES = 16 * 1024 * 1024;
const INSTALL_HINT = 'apt-get install bubblewrap';
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

interface Machine {
  readonly command: string;
  readonly filter: Uint8Array;
  readonly system: readonly Shown[];
  readonly groups: ControlGroupPlace | undefined;
}

/**
 * Runs programs in bubblewrap: their own user, process, network, mount and other namespaces, an allow-list of files, no capabilities, a
 * filter of system calls, and limits. The default on Linux. Never runs anything without them.
 */
export function bubblewrapExecutor(options: BubblewrapOptions = {}): Executor {
  const identity = ourIdentity(options);
  let machine: Machine | undefined;
  return {
    name: 'bubblewrap',
    ...(identity === undefined ? {} : { identity }),
    attach: async (place) => {
      if (machine !== undefined) return attached({ options, identity, machine, place });
      const found = await examine(options, identity);
      const workspace = attached({ options, identity, machine: found, place });
      if (options.isKnown === true) {
        machine = found;
        return explaining(workspace);
      }
      await tryOut(workspace).catch(async (error: unknown) => {
        await workspace.detach();
        throw error;
      });
      machine = found;
      return workspace;
    },
  };
}

function ourIdentity({ identity }: BubblewrapOptions): Identity | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = identity ?? NOBODY;
  if (uid === 0 || gid === 0) throw invalidInput('programs never run as root', 'a user and a group other than 0');
  return { uid, gid };
}

async function examine(options: BubblewrapOptions, identity: Identity | undefined): Promise<Machine> {
  if (process.platform !== 'linux') throw unavailable(['bubblewrap is for Linux'], 'use Docker, or macos there');
  const architecture = SECCOMP_ARCHITECTURES.find((name) => name === process.arch);
  if (architecture === undefined)
    throw unavailable([`there is no filter of system calls for ${process.arch}`], 'use the container executor');
  const command = options.command ?? findBubblewrap();
  if (command === undefined || !isPresent(command))
    throw unavailable(['bubblewrap is not installed'], 'apt-get install bubblewrap');
  if (options.isKnown !== true) await checkInstalled(command, identity);
  const groups = options.controlGroups === false ? undefined : findControlGroups();
  if (groups !== undefined) removeLeftGroups(groups);
  const interpreters = options.interpreters ?? [process.execPath];
  return {
    command,
    filter: seccompBytes(architecture),
    system: hostView({ interpreters, withheld: [homedir()], identity }),
    groups,
  };
}

interface Attachment {
  readonly options: BubblewrapOptions;
  readonly identity: Identity | undefined;
  readonly machine: Machine;
  readonly place: WorkspacePlace;
}

function attached(attachment: Attachment): Required<AttachedWorkspace> {
  const { machine, options, place } = attachment;
  const pipes = new OutputPipes(path.join(place.root, PIPES_FOLDER));
  const kept = new KeptFiles(machine.filter);
  const missing = WRITABLE_FOLDERS.find((name) => !isDirectory(path.join(place.root, name)));
  if (missing !== undefined)
    throw new SkillError({
      code: 'workspace/invalid',
      message: `the workspace ${quoted(place.root)} has no folder ${missing}`,
      hint: 'make the workspace anew',
      data: { path: place.root },
    });
  pipes.prepare();
  // Skills are staged while the workspace is in use: each program sees those of its moment.
  const skillsNow = (): readonly Shown[] =>
    place.skills.flatMap(({ name, snapshot }) => skillView(snapshot, `${SANDBOX_ROOT}/skills/${name}`));
  // From the moment they are asked for: one that is being started has been given files that are closed below.
  const underWay = new Set<Promise<RunningProgram>>();
  let isDetached = false;
  const start = async (spec: ProgramSpec, streams: RunStreams, talk?: Talk): Promise<RunningProgram> => {
    if (isDetached) throw failed('the workspace was detached');
    const starting = startProgram({ attachment, pipes, kept, skills: skillsNow(), spec, talk }, streams);
    underWay.add(starting);
    const forget = (): void => {
      underWay.delete(starting);
    };
    starting.then(({ ended }) => ended).then(forget, forget);
    return await starting;
  };
  return {
    capabilities: capabilitiesOf(machine, options),
    root: SANDBOX_ROOT,
    run: async (spec, streams) => {
      if (streams.signal?.aborted === true) return { reason: 'cancelled', durationMs: 0, warnings: [] };
      return await (
        await start(spec, streams)
      ).ended;
    },
    start: async (spec, streams) => await start(spec, streams, { terminal: streams.terminal }),
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
      kept.close();
    },
  };
}

/** Limits that hold wherever bubblewrap runs; memory of the whole tree only where the kernel counts it. */
const ALWAYS_HELD: readonly LimitName[] = ['wallMs', 'processes', 'outputBytes', 'fileBytes', 'diskBytes', 'files'];

function capabilitiesOf({ groups }: Machine, { bridge }: BubblewrapOptions): Capabilities {
  return {
    isolation: 'bubblewrap',
    limits: groups === undefined ? ALWAYS_HELD : [...ALWAYS_HELD, 'memoryBytes'],
    hasNetworkGrants: bridge !== undefined,
    hasInteraction: true,
    hasTerminal: isPresent('/usr/bin/script'),
  };
}

const TRIAL_MS = 30_000;

/** The real thing, once: that bubblewrap is installed says little about what the kernel lets it do. */
async function tryOut(workspace: AttachedWorkspace): Promise<void> {
  const nothing = { write: () => true };
  const limits = { ...DEFAULT_LIMITS, wallMs: TRIAL_MS };
  const spec = { argv: ['true'], cwd: '.', env: {}, stdin: new Uint8Array(), limits, network: [] };
  try {
    const end = await workspace.run(spec, { stdout: nothing, stderr: nothing });
    if (end.reason === 'exited' && end.exitCode === 0) return;
    throw unavailable([`\`true\` ended with ${end.reason} ${String(end.exitCode ?? end.signal)}`], INSTALL_HINT);
  } catch (error) {
    throw explained(error);
  }
}

/** What a sandbox that could not be made says about this machine. */
function explained(error: unknown): unknown {
  if (!isSkillError(error) || error.code !== 'executor/failed' || !('cause' in error.data)) return error;
  // What opens the network has its own words, and no other bubblewrap would change it.
  if ('executor' in error.data && error.data.executor === 'network') return error;
  const reasons = whyNot(error.data.cause);
  return reasons === undefined ? error : unavailable([reasons.reason], reasons.install);
}

/** The machine may have changed since it was seen to isolate: until a program has come to its end, failures are told as a trial's. */
function explaining(workspace: Required<AttachedWorkspace>): AttachedWorkspace {
  let isTried = false;
  const told = async (ended: Promise<ProgramEnd>): Promise<ProgramEnd> => {
    try {
      const end = await ended;
      isTried = true;
      return end;
    } catch (error) {
      throw isTried ? error : explained(error);
    }
  };
  return {
    ...workspace,
    run: (spec, streams) => told(workspace.run(spec, streams)),
    start: async (spec, streams) => {
      const running = await workspace.start(spec, streams);
      return { ...running, ended: told(running.ended) };
    },
  };
}

interface Talk {
  readonly terminal: boolean;
}

interface Program {
  readonly attachment: Attachment;
  readonly pipes: OutputPipes;
  readonly kept: KeptFiles;
  readonly skills: readonly Shown[];
  readonly spec: ProgramSpec;
  /** Absent: all of the input is in the spec. */
  readonly talk: Talk | undefined;
}

async function startProgram(program: Program, streams: RunStreams): Promise<RunningProgram> {
  const { attachment, spec } = program;
  checkSpec(spec);
  if (spec.network.length === 0) return await startWith(program, streams, undefined);
  const { bridge } = attachment.options;
  if (bridge === undefined) return denied(spec);
  const opened = await bridge(spec.network);
  try {
    const running = await startWith(program, streams, opened);
    const ended = running.ended.finally(async () => await opened.close());
    return { ...running, ended };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A program that needs hosts which nobody opened a way to: it is not started. */
function denied({ network }: ProgramSpec): RunningProgram {
  const warning = `the network was asked for (${network.map(quoted).join(', ')}) and there is no way to it here`;
  return {
    ended: Promise.resolve({ reason: 'denied', durationMs: 0, warnings: [warning] }),
    write: () => undefined,
    closeInput: () => undefined,
    kill: () => undefined,
  };
}

async function startWith(
  { attachment, pipes, kept, skills, spec, talk }: Program,
  streams: RunStreams,
  bridge: NetworkBridge | undefined,
): Promise<RunningProgram> {
  const { machine, options, identity, place } = attachment;
  const folders = WRITABLE_FOLDERS.map((name) => ({ name, source: path.join(place.root, name) }));
  const env = splitEnvironment({ PATH: DEFAULT_PATH, ...spec.env, ...bridge?.env });
  const { limits } = spec;
  const hasGroup = machine.groups !== undefined;
  const hasEntry = machine.groups?.version === 1;
  const command = gatedCommand({
    argv: [...(bridge?.forwarderArgv ?? []), ...spec.argv],
    limits,
    processes: limits.processes + (machine.groups?.version === 2 ? SPARE_PROCESSES : SANDBOX_PROCESSES),
    cpuSeconds: Math.ceil(limits.wallMs / 1000) * availableParallelism() + 1,
    lateEnv: env.late,
    terminal: talk?.terminal ?? false,
    ...(hasEntry ? { entryDescriptor: ENTRY_DESCRIPTOR } : {}),
    ...(hasGroup ? {} : { dataBytes: limits.memoryBytes }),
  });
  const profile = {
    system: machine.system,
    skills,
    writable: folders,
    cwd: spec.cwd,
    env: env.early,
    descriptors: descriptorsOf({ hasEntry, hasWords: command.wordsFile !== undefined }),
    temporaryBytes: options.temporaryBytes ?? TEMPORARY_BYTES,
    sharedMemoryBytes: options.sharedMemoryBytes ?? SHARED_MEMORY_BYTES,
    ...(bridge === undefined ? {} : { bridgeSocket: bridge.socketPath }),
  };
  const args = encodeArguments(sandboxArguments(profile));
  return await startSandboxed(
    {
      argv: [machine.command, '--args', String(ARGUMENTS_DESCRIPTOR), '--', ...command.argv],
      inherited: (entry) => inheritedFiles({ args, entry, kept, words: command.wordsFile }),
      identity,
      limits,
      groups: machine.groups,
      folders: folders.map(({ source }) => source),
      stdin: spec.stdin,
      pipes,
      isTalkedTo: talk !== undefined,
    },
    streams,
  );
}

function checkSpec({ argv, cwd, env }: ProgramSpec): void {
  if (argv.length === 0 || argv[0] === '')
    throw invalidInput('there is no program to run', 'a program and its arguments');
  const parts = cwd.split('/');
  if (cwd === '' || cwd.startsWith('/') || parts.includes('..'))
    throw invalidInput(`the folder ${quoted(cwd)} is not below the workspace`, 'a folder below the workspace');
  const odd = Object.keys(env).find((name) => !VARIABLE.test(name));
  if (odd !== undefined)
    throw invalidInput(`${quoted(odd)} is no name of a variable`, 'names of letters, digits and _');
}
