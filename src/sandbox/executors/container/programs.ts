import { isSkillError, type ProgramEnd, type ProgramSpec, type AttachedWorkspace } from '#core';
import { diskWatch } from '../disk-watch.ts';
import { checkProgram, mountsDenied, networkDenied, notStarted, startFolder } from '../program-spec.ts';
import type { NetworkBridge } from '../linux/executor.ts';
import { BRIDGE_SOCKET } from '../linux/profile.ts';
import type { ContainerOptions } from './engine.ts';
import { engineFailure, type EngineClient } from './client.ts';
import { SCRATCH_FOLDERS, hasScratchFiles, isScratchFull } from './counters.ts';
import { startExec, type ExecProgram } from './exec.ts';
import { withExitSignal } from '../exit-signal.ts';
import type { ContainerPool } from './pool.ts';
import { INSIDE, containerNeeds } from './settings.ts';
import type { WarmContainer } from './warm-container.ts';
import { downloadWorkspace, uploadWorkspace, type CopiedWorkspace } from './workspace-copy.ts';
import { NO_OUTPUT } from '../output-sinks.ts';
import { countedFolders, writableFolders } from '../../workspace/layout.ts';
import { supervise, type Child } from '../../process/child-process.ts';
import type { HostMount, RunningProgram, WorkspaceFolder, Identity } from '../../program-types.ts';

type RunStreams = Parameters<AttachedWorkspace['run']>[1];

export interface ProgramsOptions {
  readonly client: EngineClient;
  readonly pool: ContainerPool;
  readonly place: WorkspaceFolder;
  readonly user: Identity;
  /** The key of the skills that are staged now. */
  readonly skills: () => string;
  readonly bridge: ContainerOptions['bridge'];
  /** The engine mounts the workspace; otherwise it is copied before each program and back after it. */
  readonly isShared: boolean;
}

const CLEAN_MS = 10_000;
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';
const TOO_MUCH = 'the program left more files or bytes than its limits allow; none of them were copied back';

interface StartedProgram {
  readonly container: WarmContainer;
  /** Counters before the start: on a busy machine a program may hit a limit before its start is reported. */
  readonly before: CounterValues;
  readonly child: Child;
  readonly started: number;
  readonly copy: CopiedWorkspace | undefined;
  readonly bridge: NetworkBridge | undefined;
}

/** The programs of one attached workspace. */
export interface ContainerPrograms extends Required<Pick<AttachedWorkspace, 'run' | 'start'>> {
  /** Resolves when no program is running any more. */
  readonly settled: () => Promise<void>;
}

export function openPrograms(options: ProgramsOptions): ContainerPrograms {
  const running = new Set<Promise<unknown>>();
  const tracked = <Result>(work: Promise<Result>): Promise<Result> => {
    running.add(work);
    const forget = (): boolean => running.delete(work);
    work.then(forget, forget);
    return work;
  };
  const start = async (
    spec: ProgramSpec,
    streams: RunStreams,
    how: Pick<ExecProgram, 'hasTerminal' | 'hasInput'>,
  ): Promise<RunningProgram> => {
    checkProgram(spec);
    const begun = endBeforeStart(spec, streams, options) ?? (await tracked(begin(spec, streams, how, options)));
    if ('reason' in begun) return notStarted(begun);
    const { child } = begun;
    if (spec.stdin.length > 0) child.write(spec.stdin);
    return {
      ended: tracked(untilEnd(begun, spec, streams, options)),
      write: (bytes) => child.write(bytes),
      closeInput: () => child.closeInput(),
      kill: () => child.kill(),
    };
  };
  return {
    async run(spec, streams) {
      const program = await start(spec, streams, { hasTerminal: false, hasInput: spec.stdin.length > 0 });
      program.closeInput();
      return await program.ended;
    },
    start: (spec, streams) => start(spec, streams, { hasTerminal: streams.terminal, hasInput: true }),
    async settled() {
      // A program has several steps, one after the other.
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

async function begin(
  spec: ProgramSpec,
  streams: RunStreams,
  how: Pick<ExecProgram, 'hasTerminal' | 'hasInput'>,
  options: ProgramsOptions,
): Promise<StartedProgram | ProgramEnd> {
  const { client, pool, place, user, isShared, skills } = options;
  const requested = performance.now();
  let container: WarmContainer | undefined;
  const bridge = spec.network.length === 0 ? undefined : await options.bridge?.(spec.network, spec.proxyFrom);
  try {
    const mounts = [...(spec.mounts ?? []), ...(bridge === undefined ? [] : [socketMount(bridge)])];
    container = await pool.take(containerNeeds({ ...spec, mounts }, skills()), streams.signal);
    if (container === undefined) {
      await bridge?.close();
      return cancelledBeforeStart(streams, requested);
    }
    const copy = isShared ? undefined : { client, container, place, user, folders: writableFolders(spec) };
    if (copy !== undefined) await uploadWorkspace(copy, streams.signal);
    // Waiting for a container does not count as time of the program.
    const started = performance.now();
    const program: ExecProgram = {
      argv: [...(bridge?.forwarderArgv ?? []), ...spec.argv],
      cwd: startFolder(INSIDE, spec.cwd),
      env: { PATH: DEFAULT_PATH, ...spec.env, ...bridge?.env },
      user,
      ...how,
      maxOutputBytes: spec.limits.outputBytes,
    };
    const before = counterValues(container);
    const child = await startExec(client, container, { program, streams });
    return { container, before, started, copy, bridge, child };
  } catch (error) {
    await bridge?.close();
    if (container !== undefined) await giveBack(container, false, options);
    if (isSkillError(error) && streams.signal?.aborted === true) return cancelledBeforeStart(streams, requested);
    throw error;
  }
}

async function untilEnd(
  program: StartedProgram,
  spec: ProgramSpec,
  streams: RunStreams,
  options: ProgramsOptions,
): Promise<ProgramEnd> {
  const { container, child, started, copy, bridge } = program;
  const { limits } = spec;
  let isClean = false;
  try {
    const watch = { limits, streams, started, ...buildPoll(program, spec, options) };
    const end = await findMemoryEnd(withExitSignal(await supervise(child, watch)), container);
    const finalEnd = bridge === undefined ? end : { ...end, refused: bridge.refused?.() ?? [] };
    const tooMuch = copy === undefined ? undefined : await downloadWorkspace(copy, limits);
    // The next container gets a socket of its own.
    isClean =
      copy === undefined && bridge === undefined && (finalEnd.reason === 'exited' || finalEnd.reason === 'signal');
    return tooMuch === undefined
      ? finalEnd
      : { reason: tooMuch, durationMs: finalEnd.durationMs, warnings: [...finalEnd.warnings, TOO_MUCH] };
  } finally {
    await bridge?.close();
    await giveBack(container, isClean, options);
  }
}

/** Polls the limits that no event reports. The kernel's counters come first, because they know the reason. */
function buildPoll(
  { container: { counters, hostPid }, before, child }: StartedProgram,
  spec: ProgramSpec,
  { place, isShared }: ProgramsOptions,
): Pick<Parameters<typeof supervise>[1], 'poll' | 'pauseMs'> {
  const { limits } = spec;
  const processes = (): readonly number[] => counters?.pids() ?? [];
  const disk = isShared ? diskWatch({ folders: countedFolders(place.root, spec), limits, processes }) : undefined;
  const counted = (): ProgramEnd['reason'] | undefined => {
    if (counters === undefined) return undefined;
    if (counters.memoryKills() > before.kills) return 'memory';
    if (counters.refusedProcesses() > before.refused) return 'processes';
    return isScratchFull(hostPid, limits.files) ? 'disk' : undefined;
  };
  let atExit: ProgramEnd['reason'] | undefined;
  const read = (): void => {
    atExit = counted();
  };
  // The counters go with the container, which is removed where the program left processes behind.
  child.exited?.then(read, read);
  const poll = (isLast: boolean): ProgramEnd['reason'] | undefined =>
    atExit ?? counted() ?? (disk?.isExceeded(isLast) === true ? 'disk' : undefined);
  return disk === undefined ? { poll } : { poll, pauseMs: () => disk.pauseMs() };
}

/** Asks the engine where the kernel's counters are not visible. */
async function findMemoryEnd(end: ProgramEnd, container: WarmContainer): Promise<ProgramEnd> {
  if (container.counters !== undefined || end.signal !== 'SIGKILL' || end.reason !== 'signal') return end;
  return (await container.wasOutOfMemory()) ? { ...end, reason: 'memory' } : end;
}

/** Reuses a container only if the program left nothing in it that the next program could find. */
async function giveBack(container: WarmContainer, isClean: boolean, options: ProgramsOptions): Promise<void> {
  const { pool } = options;
  const isDirty = !isClean || !container.isOpen || hasScratchFiles(container.hostPid);
  if (isDirty !== undefined) {
    await pool.giveBack(container, !isDirty);
    return;
  }
  // In the background: a failing engine is reported to the next program.
  findScratchFiles(container, options)
    .then((found) => pool.giveBack(container, !found))
    .catch((error: unknown) => {
      if (!isSkillError(error)) throw error;
    });
}

/** Checks for scratch files from inside, where the processes of the engine are not visible from here. */
async function findScratchFiles(container: WarmContainer, { client, user }: ProgramsOptions): Promise<boolean> {
  const patterns = SCRATCH_FOLDERS.flatMap((folder) => [`${folder}/*`, `${folder}/.[!.]*`, `${folder}/..?*`]);
  const script = `for f in ${patterns.join(' ')}; do if [ -e "$f" ] || [ -L "$f" ]; then exit 1; fi; done`;
  const program: ExecProgram = {
    argv: ['/bin/sh', '-c', script],
    cwd: '/',
    env: {},
    user,
    hasTerminal: false,
    hasInput: false,
    maxOutputBytes: 0,
  };
  const streams = { stdout: NO_OUTPUT, stderr: NO_OUTPUT, signal: AbortSignal.timeout(CLEAN_MS) };
  const { ended } = await startExec(client, container, { program, streams });
  return (await ended).exitCode !== 0;
}

interface CounterValues {
  readonly kills: number;
  readonly refused: number;
}

function counterValues({ counters }: WarmContainer): CounterValues {
  return { kills: counters?.memoryKills() ?? 0, refused: counters?.refusedProcesses() ?? 0 };
}

function endBeforeStart(
  spec: ProgramSpec,
  { signal }: RunStreams,
  { isShared, bridge }: Pick<ProgramsOptions, 'isShared' | 'bridge'>,
): ProgramEnd | undefined {
  if (signal?.aborted === true) return { reason: 'cancelled', durationMs: 0, warnings: [] };
  // An engine on another machine cannot mount files of this one, and no socket.
  if (spec.network.length > 0 && (bridge === undefined || !isShared)) return networkDenied(spec);
  return isShared ? undefined : mountsDenied(spec);
}

function socketMount({ socketPath }: NetworkBridge): HostMount {
  return { source: socketPath, target: BRIDGE_SOCKET, access: 'write' };
}

function cancelledBeforeStart({ signal }: RunStreams, requested: number): ProgramEnd {
  if (signal?.aborted !== true) throw engineFailure('the workspace was detached', 'the workspace was detached');
  return { reason: 'cancelled', durationMs: Math.round(performance.now() - requested), warnings: [] };
}
