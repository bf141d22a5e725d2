import { statfsSync } from 'node:fs';

import { SkillError } from '../../../core/errors.ts';
import type {
  EndReason,
  Identity,
  ProgramEnd,
  RunLimits,
  RunStreams,
  RunningProgram,
} from '../../../core/execution.ts';
import { startChild, supervise } from '../../../platform/process/child-process.ts';
import type { Child } from '../../../platform/process/child-process.ts';
import type { Inherited } from '../../../platform/process/inherited-descriptors.ts';
import type { OutputPipes } from '../../../platform/process/output-pipes.ts';
import { isSystemError } from '../../../platform/fs/paths.ts';
import { makeRunGroup } from '../cgroup.ts';
import type { ControlGroupPlace, RunGroup } from '../cgroup.ts';
import { readProcess } from '../process-row.ts';
import { diskWatch } from '../disk-watch.ts';
import { withExitSignal } from '../exit-signal.ts';
import { killNamespace, memoryBytes, namespaceGone, processesInside, sandboxProcesses } from './namespace.ts';
import type { SandboxProcesses } from './namespace.ts';
import { setupSink } from './setup-sink.ts';
import type { SetupSink } from './setup-sink.ts';

/** A program with its sandbox around it, ready to be started. */
export interface SandboxCommand {
  readonly argv: readonly string[];
  /** Found at descriptors 3, 4, ...; given the file by which the gate enters its control group, where it does that itself. */
  readonly inherited: (entry: string | undefined) => readonly Inherited[];
  readonly identity: Identity | undefined;
  readonly limits: RunLimits;
  readonly groups: ControlGroupPlace | undefined;
  /** Folders it may write, on the host. */
  readonly folders: readonly string[];
  readonly stdin: Uint8Array;
  readonly pipes: OutputPipes;
  /** More input will follow. */
  readonly isTalkedTo: boolean;
}

/** Counted beside the program's own: bubblewrap outside and the first process inside. */
export const SANDBOX_PROCESSES = 2;
/** bubblewrap needs nothing of ours. */
const OUTER_ENV = { PATH: '/usr/bin:/bin' };
const NO_GROUPS =
  'no control group could be made here: memory of all processes together is held by looking ten times a second, not by the kernel';

interface Sandbox {
  readonly child: Child;
  readonly command: SandboxCommand;
  readonly group: RunGroup | undefined;
  readonly stderr: SetupSink;
  /** Known from when the gate was reached until they are seen to be gone: what is gone need not be looked for again. */
  readonly processes: () => SandboxProcesses | undefined;
  readonly setGone: () => void;
  /** Whoever started it wanted it ended. */
  readonly isKilled: () => boolean;
}

/** Starts it. Input that comes before the gate has opened waits until then. */
export async function startSandboxed(command: SandboxCommand, streams: RunStreams): Promise<RunningProgram> {
  const started = performance.now();
  const group = command.groups === undefined ? undefined : newGroup(command.groups, command.limits);
  const stderr = setupSink(streams.stderr);
  const inner = { ...streams, stderr };
  const child = await startOuter(command, group, inner).catch(async (error: unknown) => {
    await group?.remove();
    throw error;
  });
  let processes: SandboxProcesses | undefined;
  let isKilled = false;
  const sandbox: Sandbox = {
    child,
    command,
    group,
    stderr,
    processes: () => processes,
    setGone: () => {
      processes = undefined;
    },
    isKilled: () => isKilled,
  };
  const contained = containedChild(sandbox);
  const input = heldInput(child, command);
  // While bubblewrap makes the sandbox: most often it has no children yet, and all that come are born in the group. Where the gate
  // enters by itself, bubblewrap's own two processes stay outside: they are the same for every program.
  const joined = group?.entry === undefined ? addTo(group, child.pid) : Promise.resolve();
  joined.catch(() => undefined);
  const released = (async (): Promise<void> => {
    await stderr.ready;
    const found = sandboxProcesses(child.pid);
    processes = found;
    await joined;
    if (found === undefined) {
      // Over already, or hidden from us: what cannot be seen cannot be bounded, and stays behind the gate.
      if (readProcess(child.pid)?.isZombie === false) throw failed('its processes cannot be seen in /proc');
      return;
    }
    if (group?.has(found.gate) === false) await addTo(group, found.gate);
    input.release();
  })();
  // What goes wrong there ends the program; `ended` tells.
  const failing = new Promise<never>((_, reject) => {
    released.catch((error: unknown) => {
      contained.kill();
      reject(error);
    });
  });
  const ended = (async (): Promise<ProgramEnd> => {
    try {
      const watch = { limits: command.limits, streams: inner, started, poll: pollOf(sandbox) };
      return judged(await Promise.race([supervise(contained, watch), failing]), sandbox);
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
      isKilled = true;
      contained.kill();
    },
  };
}

async function startOuter(
  { argv, inherited, identity, limits, pipes }: SandboxCommand,
  group: RunGroup | undefined,
  streams: RunStreams,
): Promise<Child> {
  return await startChild(
    {
      argv,
      inherited: inherited(group?.entry),
      cwd: '/',
      env: OUTER_ENV,
      // The gate's mark is one of them.
      maxOutputBytes: limits.outputBytes + 1,
      isContained: true,
      pipes,
      executor: 'bubblewrap',
      ...(identity === undefined ? {} : { identity }),
    },
    streams,
  );
}

function newGroup(place: ControlGroupPlace, limits: RunLimits): RunGroup {
  try {
    return makeRunGroup(place, limits, { spare: SANDBOX_PROCESSES });
  } catch (error) {
    // It worked when it was tried: without it the limits would not hold as was said.
    if (isSystemError(error)) throw failed(`no control group can be made (${error.code})`);
    throw error;
  }
}

async function addTo(group: RunGroup | undefined, pid: number): Promise<void> {
  try {
    await group?.add(pid);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // It ended before it was let go: there is nothing to bound.
    if (error.code !== 'ESRCH') throw failed(`the control group does not take the program (${error.code})`);
  }
}

/** The child, but gone only when its namespace is. */
function containedChild({ child, processes, setGone }: Sandbox): Child {
  const ended = child.ended.then(async (exit) => {
    const inside = processes();
    if (inside !== undefined && !(await namespaceGone(inside)))
      throw failed('processes of the program are still there after they were killed');
    setGone();
    return exit;
  });
  // Whoever supervises waits for it; until then a refusal is nobody's.
  ended.catch(() => undefined);
  return {
    ...child,
    ended,
    kill: () => {
      child.kill();
      const inside = processes();
      if (inside !== undefined) killNamespace(inside);
    },
  };
}

interface HeldInput {
  write(bytes: Uint8Array): void;
  close(): void;
  release(): void;
}

/** Input in order behind the line that opens the gate. */
function heldInput(child: Child, { stdin, isTalkedTo }: SandboxCommand): HeldInput {
  // The first write of a process takes Node a millisecond: the line is begun while bubblewrap works, and only its end opens the gate.
  child.write(Buffer.from(' '));
  let waiting: Uint8Array[] | undefined = [stdin];
  let isClosed = !isTalkedTo;
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

/** Looks at what no event tells. The kernel's own counts come first: they know the reason. */
function pollOf({ command, group, processes }: Sandbox): (isLast: boolean) => EndReason | undefined {
  const { limits } = command;
  const inside = (): readonly number[] => {
    const known = processes();
    return known === undefined ? [] : processesInside(known);
  };
  const isDiskFull = diskWatch({ folders: command.folders, limits, processes: inside });
  return (isLast) => {
    if (group !== undefined) {
      if (group.memoryKills() > 0) return 'memory';
      if ((group.refusedProcesses() ?? 0) > 0) return 'processes';
    }
    const pids = inside();
    if (group === undefined && memoryBytes(pids, limits.memoryBytes) > limits.memoryBytes) return 'memory';
    // One of them is bubblewrap's.
    if (pids.length - 1 >= limits.processes) return 'processes';
    return isDiskFull(isLast) || hasTooManyTemporaries(processes(), limits) ? 'disk' : undefined;
  };
}

/** The sized /tmp and /dev/shm bound bytes and not files, which take memory of the kernel's own. */
function hasTooManyTemporaries(processes: SandboxProcesses | undefined, limits: RunLimits): boolean {
  if (processes === undefined) return false;
  return ['tmp', 'dev/shm'].some((folder) => {
    try {
      const { files, ffree } = statfsSync(`/proc/${String(processes.first.pid)}/root/${folder}`);
      return files - ffree > limits.files;
    } catch (error) {
      // It is over, or the kernel does not let us look.
      if (isSystemError(error)) return false;
      throw error;
    }
  });
}

/** What the end of bubblewrap says about the end of the program. */
function judged(end: ProgramEnd, { group, stderr, isKilled }: Sandbox): ProgramEnd {
  const isOwnEnd = end.reason === 'exited' || end.reason === 'signal';
  if (!stderr.isReady() && isOwnEnd && !isKilled()) throw failed(stderr.said() || 'bubblewrap ended without a word');
  const warnings = group === undefined ? [...end.warnings, NO_GROUPS] : end.warnings;
  return withExitSignal({ ...end, warnings });
}

export function failed(cause: string): SkillError<'executor/failed'> {
  return new SkillError({
    code: 'executor/failed',
    message: `the sandbox could not be made: ${cause}`,
    hint: 'run skillwright doctor to see what works here',
    data: { executor: 'bubblewrap', cause },
  });
}
