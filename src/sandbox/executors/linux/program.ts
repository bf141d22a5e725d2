import { statfsSync } from 'node:fs';

import type { ProgramEnd, Executor, AttachedWorkspace } from '#core';
import { isSystemError } from '#platform';
import { measureMemory, namespaceSockets } from '../socket-memory.ts';
import { makeRunGroup, type ControlGroupFolder, type RunGroup } from '../cgroup.ts';
import { makeScope, type SystemdScopes } from '../systemd-scope.ts';
import { diskWatch } from '../disk-watch.ts';
import { withExitSignal } from '../exit-signal.ts';
import type { LaunchCommand } from './launcher.ts';
import { killNamespace, namespaceGone, processesInside, sandboxProcesses, type SandboxProcesses } from './namespace.ts';
import { setupOutput, type SetupOutput } from './setup-output.ts';
import { setupFailed } from './unavailable.ts';
import { readProcess } from '../../process/proc.ts';
import type { OutputPipes } from '../../process/output-pipes.ts';
import { startChild, supervise, type Child } from '../../process/child-process.ts';
import type { RunLimits, RunningProgram, Identity } from '../../program-types.ts';

type ProgramStreams = Parameters<AttachedWorkspace['run']>[1];

/** The command line of a launcher with everything around it. */
export interface SandboxCommand extends LaunchCommand {
  readonly executor: Executor['name'];
  readonly identity: Identity | undefined;
  readonly limits: RunLimits;
  readonly groups: ControlGroupFolder | SystemdScopes | undefined;
  /** Writable folders on the host. */
  readonly folders: readonly string[];
  readonly stdin: Uint8Array;
  readonly pipes: OutputPipes;
  /** A broker hides files from the program. */
  readonly hasBroker: boolean;
  /** Keeps stdin open after `stdin` was written. */
  readonly isInteractive: boolean;
}

/** Processes beside those of the program: the launcher outside, the init process inside, and the broker. */
export function countLaunchers(hasBroker: boolean): number {
  return hasBroker ? 3 : 2;
}

const OUTER_ENV = { PATH: '/usr/bin:/bin' };

interface Sandbox {
  readonly child: Child;
  readonly command: SandboxCommand;
  readonly group: RunGroup | undefined;
  readonly stderr: SetupOutput;
  /** Set from when the gate was reached until the namespace is gone. */
  processes: SandboxProcesses | undefined;
  isKilled: boolean;
}

/** Starts the command. Input written before the gate has opened is held back until then. */
export async function startSandboxed(command: SandboxCommand, streams: ProgramStreams): Promise<RunningProgram> {
  const { executor } = command;
  const started = performance.now();
  const group = command.groups === undefined ? undefined : newGroup(command.groups, command);
  const stderr = setupOutput(streams.stderr);
  const inner = { ...streams, stderr };
  const child = await startOuter(command, group, inner).catch(async (error: unknown) => {
    await group?.remove();
    throw error;
  });
  const sandbox: Sandbox = { child, command, group, stderr, processes: undefined, isKilled: false };
  const contained = containedChild(sandbox);
  const input = heldInput(child, command);
  // The launcher usually has no children yet, so all of them are born in the group. With an entry file it enters by itself.
  const joined = group?.entersItself === true ? Promise.resolve() : addTo(group, child.pid, executor);
  joined.catch(() => undefined);
  const released = (async (): Promise<void> => {
    await stderr.ready;
    const found = sandboxProcesses(child.pid, command.hasBroker);
    sandbox.processes = found;
    await joined;
    if (found === undefined) {
      // Processes that are hidden from us cannot be limited, so the gate stays closed.
      if (!sandbox.isKilled && readProcess(child.pid)?.isZombie === false)
        throw setupFailed(executor, 'its processes cannot be seen in /proc');
      return;
    }
    if (group?.has(found.gate) === false) await addTo(group, found.gate, executor);
    input.release();
  })();
  // A failure of the setup ends the program and is reported by `ended`.
  const failing = new Promise<never>((_, reject) => {
    released.catch((error: unknown) => {
      contained.kill();
      reject(error);
    });
  });
  const ended = (async (): Promise<ProgramEnd> => {
    try {
      const watch = { limits: command.limits, streams: inner, started, ...buildPoll(sandbox) };
      return programEnd(await Promise.race([supervise(contained, watch), failing]), sandbox);
    } finally {
      contained.kill();
      await group?.remove();
    }
  })();
  return {
    ended,
    write: (bytes) => input.write(bytes),
    closeInput: () => input.close(),
    kill: () => {
      sandbox.isKilled = true;
      contained.kill();
    },
  };
}

async function startOuter(
  { argv, inherited, executor, identity, limits, pipes }: SandboxCommand,
  group: RunGroup | undefined,
  streams: ProgramStreams,
): Promise<Child> {
  return await startChild(
    {
      argv: group?.wrap?.(argv) ?? argv,
      inherited: inherited(group?.entry),
      cwd: '/',
      env: group?.outerEnv ?? OUTER_ENV,
      // One byte more for READY.
      maxOutputBytes: limits.outputBytes + 1,
      isContained: true,
      pipes,
      executor,
      identity,
    },
    streams,
  );
}

function newGroup(
  place: ControlGroupFolder | SystemdScopes,
  { executor, limits, hasBroker }: SandboxCommand,
): RunGroup {
  try {
    return place.version === 'scope'
      ? makeScope(place, limits)
      : makeRunGroup(place, limits, { spare: countLaunchers(hasBroker) });
  } catch (error) {
    // It worked when the executor was attached; without the group the promised limits would not hold.
    if (isSystemError(error)) throw setupFailed(executor, `a control group cannot be created (${error.code})`);
    throw error;
  }
}

async function addTo(group: RunGroup | undefined, pid: number, executor: Executor['name']): Promise<void> {
  try {
    await group?.add(pid);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // ESRCH: the process ended before it was released, so there is nothing to limit.
    if (error.code !== 'ESRCH') throw setupFailed(executor, `the control group rejects the program (${error.code})`);
  }
}

/** The child, which counts as ended only when its namespace is gone. */
function containedChild(sandbox: Sandbox): Child {
  const { child, command } = sandbox;
  const ended = child.ended.then(async (exit) => {
    if (sandbox.processes !== undefined && !(await namespaceGone(sandbox.processes)))
      throw setupFailed(command.executor, 'processes of the program survived SIGKILL');
    sandbox.processes = undefined;
    return exit;
  });
  // `supervise` awaits it; until then a rejection must not count as unhandled.
  ended.catch(() => undefined);
  return {
    ...child,
    ended,
    kill: () => {
      child.kill();
      if (sandbox.processes !== undefined) killNamespace(sandbox.processes);
    },
  };
}

interface HeldInput {
  write(bytes: Uint8Array): void;
  close(): void;
  release(): void;
}

/** Queues input behind the line that opens the gate. */
function heldInput(child: Child, { stdin, isInteractive }: SandboxCommand): HeldInput {
  // The first write of a process costs Node a millisecond: start the line while the launcher sets up; only its end opens the gate.
  child.write(Buffer.from(' '));
  let waiting: Uint8Array[] | undefined = [stdin];
  let isClosed = !isInteractive;
  return {
    write: (bytes) => {
      if (isClosed) return;
      if (waiting === undefined) child.write(bytes);
      else waiting.push(bytes);
    },
    close: () => {
      isClosed = true;
      if (waiting === undefined) child.closeInput();
    },
    release: () => {
      child.write(Buffer.concat([Buffer.from('\n'), ...(waiting ?? [])]));
      waiting = undefined;
      if (isClosed) child.closeInput();
    },
  };
}

/** Polls the limits that no event reports. The kernel's counters come first, because they know the reason. */
function buildPoll(sandbox: Sandbox): Required<Pick<Parameters<typeof supervise>[1], 'poll' | 'pauseMs'>> {
  const { command, group } = sandbox;
  const { limits } = command;
  const inside = (): readonly number[] => (sandbox.processes === undefined ? [] : processesInside(sandbox.processes));
  const disk = diskWatch({ folders: command.folders, limits, processes: inside });
  const poll = (isLast: boolean): ProgramEnd['reason'] | undefined => {
    if (group !== undefined) {
      if (group.memoryKills(isLast) > 0) return 'memory';
      if ((group.refusedProcesses() ?? 0) > 0) return 'processes';
    }
    const pids = inside();
    const temporaries = temporaryUse(sandbox.processes);
    if (
      group === undefined &&
      uncountedMemory(sandbox.processes, pids, limits) + temporaries.bytes > limits.memoryBytes
    )
      return 'memory';
    // The launcher outside is not among them.
    if (pids.length - countLaunchers(command.hasBroker) + 1 >= limits.processes) return 'processes';
    // /tmp and /dev/shm have a size, but under bubblewrap no limit on the number of files, which cost kernel memory.
    return disk.isExceeded(isLast) || temporaries.files > limits.files ? 'disk' : undefined;
  };
  return { poll, pauseMs: () => disk.pauseMs() };
}

/** Memory of the processes and of their sockets, where no control group knows it. */
function uncountedMemory(
  processes: SandboxProcesses | undefined,
  pids: readonly number[],
  { memoryBytes }: RunLimits,
): number {
  const own = measureMemory(pids, memoryBytes);
  return processes === undefined ? own : own + namespaceSockets(processes.gate, memoryBytes - own);
}

/** What the fuller of /tmp and /dev/shm holds in files, and both in bytes. */
function temporaryUse(processes: SandboxProcesses | undefined): { readonly files: number; readonly bytes: number } {
  let most = 0;
  let used = 0;
  for (const folder of processes === undefined ? [] : ['tmp', 'dev/shm'])
    try {
      // The init process of `namespaces` shows its root to root alone.
      const { files, ffree, blocks, bfree, bsize } = statfsSync(`/proc/${String(processes?.gate)}/root/${folder}`);
      most = Math.max(most, files - ffree);
      used += (blocks - bfree) * bsize;
    } catch (error) {
      // The sandbox has ended, or the kernel denies access to its root.
      if (!isSystemError(error)) throw error;
    }
  return { files: most, bytes: used };
}

/** Derives the end of the program from the end of the launcher. */
function programEnd(end: ProgramEnd, { command, stderr, isKilled }: Sandbox): ProgramEnd {
  const isOwnEnd = end.reason === 'exited' || end.reason === 'signal';
  if (!stderr.isReady() && isOwnEnd && !isKilled)
    throw setupFailed(command.executor, stderr.text() || `${command.executor} exited without a message`);
  return withExitSignal(end);
}
