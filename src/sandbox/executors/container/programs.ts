import {
  isSkillError,
  type HostMount,
  type Identity,
  type OutputSink,
  type ProgramEnd,
  type ProgramSpec,
  type RunningProgram,
  type WorkspaceFolder,
  type AttachedWorkspace,
} from '#core';
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
import { WorkspaceCopy } from './workspace-copy.ts';
import { countedFolders, writableFolders } from '../../workspace/layout.ts';
import { supervise, type Child } from '../../process/child-process.ts';

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
  readonly copy: WorkspaceCopy | undefined;
  readonly bridge: NetworkBridge | undefined;
}

/** The programs of one attached workspace. */
export class ContainerPrograms {
  readonly #options: ProgramsOptions;
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: ProgramsOptions) {
    this.#options = options;
  }

  async run(spec: ProgramSpec, streams: RunStreams): Promise<ProgramEnd> {
    checkProgram(spec);
    const early = endBeforeStart(spec, streams, this.#options);
    if (early !== undefined) return early;
    const hasInput = spec.stdin.length > 0;
    const begun = await this.#tracked(this.#begin(spec, streams, { hasTerminal: false, hasInput }));
    if ('reason' in begun) return begun;
    begun.child.write(spec.stdin);
    begun.child.closeInput();
    return await this.#tracked(this.#untilEnd(begun, spec, streams));
  }

  async start(spec: ProgramSpec, streams: RunStreams & { readonly terminal: boolean }): Promise<RunningProgram> {
    checkProgram(spec);
    const early = endBeforeStart(spec, streams, this.#options);
    const how = { hasTerminal: streams.terminal, hasInput: true };
    const begun = early ?? (await this.#tracked(this.#begin(spec, streams, how)));
    if ('reason' in begun) return notStarted(begun);
    const { child } = begun;
    if (spec.stdin.length > 0) child.write(spec.stdin);
    return {
      ended: this.#tracked(this.#untilEnd(begun, spec, streams)),
      write: (bytes) => child.write(bytes),
      closeInput: () => child.closeInput(),
      kill: () => child.kill(),
    };
  }

  /** Resolves when no program is running any more. */
  async settled(): Promise<void> {
    // A program has several steps, one after the other.
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  #tracked<Result>(work: Promise<Result>): Promise<Result> {
    this.#running.add(work);
    const forget = (): void => {
      this.#running.delete(work);
    };
    work.then(forget, forget);
    return work;
  }

  async #begin(
    spec: ProgramSpec,
    streams: RunStreams,
    { hasTerminal, hasInput }: Pick<ExecProgram, 'hasTerminal' | 'hasInput'>,
  ): Promise<StartedProgram | ProgramEnd> {
    const { client, pool, place, user, isShared, skills } = this.#options;
    const requested = performance.now();
    let container: WarmContainer | undefined;
    const bridge = spec.network.length === 0 ? undefined : await this.#options.bridge?.(spec.network, spec.proxyFrom);
    try {
      const mounts = [...(spec.mounts ?? []), ...(bridge === undefined ? [] : [socketMount(bridge)])];
      container = await pool.take(containerNeeds({ ...spec, mounts }, skills()), streams.signal);
      if (container === undefined) {
        await bridge?.close();
        return cancelledBeforeStart(streams, requested);
      }
      const copy = isShared
        ? undefined
        : new WorkspaceCopy({ client, container, place, user, folders: writableFolders(spec) });
      await copy?.upload(streams.signal);
      // Waiting for a container does not count as time of the program.
      const started = performance.now();
      const program: ExecProgram = {
        argv: [...(bridge?.forwarderArgv ?? []), ...spec.argv],
        cwd: startFolder(INSIDE, spec.cwd),
        env: { PATH: DEFAULT_PATH, ...spec.env, ...bridge?.env },
        user,
        hasTerminal,
        hasInput,
        maxOutputBytes: spec.limits.outputBytes,
      };
      const before = counterValues(container);
      const child = await startExec(client, container, { program, streams });
      return { container, before, started, copy, bridge, child };
    } catch (error) {
      await bridge?.close();
      if (container !== undefined) await this.#giveBack(container, false);
      if (isSkillError(error) && streams.signal?.aborted === true) return cancelledBeforeStart(streams, requested);
      throw error;
    }
  }

  async #untilEnd(program: StartedProgram, spec: ProgramSpec, streams: RunStreams): Promise<ProgramEnd> {
    const { container, child, started, copy, bridge } = program;
    let isClean = false;
    try {
      const { limits } = spec;
      const end = withExitSignal(await supervise(child, { limits, streams, started, ...this.#pollOf(program, spec) }));
      const counted = await this.#withMemory(end, container);
      const finalEnd = bridge === undefined ? counted : { ...counted, refused: bridge.refused?.() ?? [] };
      const tooMuch = await copy?.download(limits);
      // The next container gets a socket of its own.
      isClean =
        copy === undefined && bridge === undefined && (finalEnd.reason === 'exited' || finalEnd.reason === 'signal');
      return tooMuch === undefined
        ? finalEnd
        : { reason: tooMuch, durationMs: finalEnd.durationMs, warnings: [...finalEnd.warnings, TOO_MUCH] };
    } finally {
      await bridge?.close();
      await this.#giveBack(container, isClean);
    }
  }

  /** Polls the limits that no event reports. The kernel's counters come first, because they know the reason. */
  #pollOf(
    { container: { counters, hostPid }, before, child }: Pick<StartedProgram, 'container' | 'before' | 'child'>,
    spec: ProgramSpec,
  ): Pick<Parameters<typeof supervise>[1], 'poll' | 'pauseMs'> {
    const { place, isShared } = this.#options;
    const { limits } = spec;
    const disk = isShared
      ? diskWatch({
          folders: countedFolders(place.root, spec),
          limits,
          processes: () => counters?.pids() ?? [],
        })
      : undefined;
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
  async #withMemory(end: ProgramEnd, container: WarmContainer): Promise<ProgramEnd> {
    if (container.counters !== undefined || end.signal !== 'SIGKILL' || end.reason !== 'signal') return end;
    return (await container.wasOutOfMemory()) ? { ...end, reason: 'memory' } : end;
  }

  /** Reuses a container only if the program left nothing in it that the next program could find. */
  async #giveBack(container: WarmContainer, isClean: boolean): Promise<void> {
    const { pool } = this.#options;
    if (!isClean || !container.isOpen) {
      await pool.giveBack(container, false);
      return;
    }
    const isDirty = hasScratchFiles(container.hostPid);
    if (isDirty !== undefined) {
      await pool.giveBack(container, !isDirty);
      return;
    }
    // In the background: a failing engine is reported to the next program.
    this.#findScratchFiles(container)
      .then((found) => pool.giveBack(container, !found))
      .catch((error: unknown) => {
        if (!isSkillError(error)) throw error;
      });
  }

  /** Checks for scratch files from inside, where the processes of the engine are not visible from here. */
  async #findScratchFiles(container: WarmContainer): Promise<boolean> {
    const { client, user } = this.#options;
    const nothing: OutputSink = { write: () => true };
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
    const streams = { stdout: nothing, stderr: nothing, signal: AbortSignal.timeout(CLEAN_MS) };
    const { ended } = await startExec(client, container, { program, streams });
    return (await ended).exitCode !== 0;
  }
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
