import path from 'node:path';

import {
  defined,
  invalidInput,
  quoted,
  type AttachedWorkspace,
  type Executor,
  type OutputSink,
  type ProgramEnd,
  type ProgramSpec,
} from '#core';
import { isDirectory, isInside, tryRealPath } from '#platform';
import { measureMemory, openSockets } from './socket-memory.ts';
import { diskWatch } from './disk-watch.ts';
import { setupOutput } from './linux/setup-output.ts';
import { checkWorkspace, movedMountsDenied, networkDenied, notStarted, startFolder } from './program-spec.ts';
import { PIPES_FOLDER, invalid, writableFolders } from '../workspace/layout.ts';
import { setupFailed } from './linux/unavailable.ts';
import { processTable, type ProcessTable } from '../process/process-tree.ts';
import { openPipes } from '../process/output-pipes.ts';
import { startChild, supervise, type Child } from '../process/child-process.ts';
import type { RunLimits, RunningProgram, WorkspaceFolder, Identity } from '../program-types.ts';

type Capabilities = AttachedWorkspace['capabilities'];

/** How programs are started and what that can enforce. */
export interface ProgramStarter {
  readonly name: Executor['name'];
  /** User of the programs, where it is not the current user. */
  readonly identity: Identity | undefined;
  /** Checked for each workspace: programs may be installed meanwhile, and checking is cheap. */
  readonly capabilities: () => Capabilities;
  /** Set up for one workspace, with absolute paths. */
  readonly commandsFor: (place: WorkspaceFolder) => (program: StartedSpec) => StartCommand;
}

export interface StartedSpec extends ProgramSpec {
  /** The resolved working directory. */
  readonly folder: string;
  /** The one port to which a package manager may connect; see `landlock/building.ts`. */
  readonly proxyPort?: number;
}

interface StartCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly inherited?: readonly NonNullable<Parameters<typeof startChild>[0]['inherited']>[number][];
  /**
   * The command is a launcher: it writes READY to stderr once the program is confined, and ends all that the program started when it gets
   * SIGTERM. If it ends before, the program was not started.
   */
  readonly announces?: boolean;
}

/** A snapshot of the process table is shared by every program that polls within this time. */
const ROWS_MS = 80;

/** Runs programs as plain processes in their own process group, and finds all that they start by searching the process table. */
export function plainProcesses(starter: ProgramStarter): Executor {
  const shared: Shared = { processes: processTable(), children: livingChildren() };
  const { name, identity } = starter;
  return {
    name,
    identity,
    attach: async (place) => await Promise.resolve(attach(place, starter, shared)),
  };
}

/** State shared by all workspaces of one executor. */
interface Shared {
  readonly processes: ProcessTable;
  readonly children: ReturnType<typeof livingChildren>;
}

/** Kills running programs when this process exits early, for example on a second interrupt. */
function livingChildren(): { add(child: Child): void; delete(child: Child): void } {
  const children = new Set<Child>();
  const killAll = (): void => {
    for (const child of children) child.kill();
  };
  return {
    add(child) {
      if (children.size === 0) process.on('exit', killAll);
      children.add(child);
    },
    delete(child) {
      children.delete(child);
      if (children.size === 0) process.off('exit', killAll);
    },
  };
}

function attach(
  place: WorkspaceFolder,
  { name, identity, ...starter }: ProgramStarter,
  { processes, children }: Shared,
): AttachedWorkspace {
  checkWorkspace(place);
  const root = tryRealPath(place.root) ?? place.root;
  const capabilities = starter.capabilities();
  const commandOf = starter.commandsFor({ ...place, root });
  const running = new Map<AbortController, Promise<unknown>>();
  const pipes = openPipes(path.join(root, PIPES_FOLDER));
  let isDetached = false;

  const begin = async (spec: ProgramSpec, original: StartStreams): Promise<StartedProgram> => {
    if (isDetached) throw invalid(place.root, 'is closed', 'open it again', 'workspace');
    const started = performance.now();
    const cwd = resolveCwd(root, spec);
    const { argv, env, inherited, announces = false } = commandOf({ ...spec, folder: cwd });
    const capped = announces ? cappedOutput(original, spec.limits) : original;
    const setup = announces ? setupOutput(capped.stderr) : undefined;
    const streams = setup === undefined ? original : { ...capped, stderr: setup };
    const stop = new AbortController();
    const signal = original.signal === undefined ? stop.signal : AbortSignal.any([original.signal, stop.signal]);
    const { limits } = spec;
    const folders = writableFolders(spec).map((folder) => path.join(place.root, folder));
    const members: { now: () => readonly number[] } = { now: () => [] };
    const disk = diskWatch({ folders, limits, processes: () => members.now() });
    const starting = startChild(
      {
        argv,
        cwd,
        env,
        inherited,
        identity,
        ...defined({ stdin: streams.stdin }),
        terminal: streams.terminal === true,
        maxOutputBytes: limits.outputBytes + (announces ? 1 : 0),
        processes,
        pipes,
        executor: name,
        isReaper: announces,
      },
      streams,
    );
    const ended = starting.then(async (child) => {
      members.now = () => listPids(child, processes);
      const poll = (isLast: boolean): ProgramEnd['reason'] | undefined => {
        if (isLast) return disk.isExceeded(isLast) ? 'disk' : undefined;
        // A launcher that announces itself stays beside the program, and so does a broker.
        const allowed = limits.processes + (announces ? (spec.hidden === undefined ? 1 : 2) : 0);
        return (
          exceededLimit(child, { ...limits, processes: allowed }, processes) ??
          (disk.isExceeded(isLast) ? 'disk' : undefined)
        );
      };
      children.add(child);
      try {
        const pauseMs = (): number => disk.pauseMs();
        const end = await supervise(child, { limits, streams: { ...streams, signal }, started, poll, pauseMs });
        const isOwnEnd = end.reason === 'exited' || end.reason === 'signal';
        if (setup?.isReady() === false && isOwnEnd)
          throw setupFailed(name, setup.text() || `${name} ended without a message`);
        return withWarnings(end, capabilities);
      } finally {
        children.delete(child);
      }
    });
    // `detach` waits for it too; the caller gets its failure.
    running.set(stop, Promise.allSettled([ended]));
    const forget = (): boolean => running.delete(stop);
    ended.then(forget, forget);
    return { child: await starting, ended, stop: () => stop.abort() };
  };

  return {
    capabilities,
    root,
    run: async (spec, streams) => {
      if (streams.signal?.aborted === true) return { reason: 'cancelled', durationMs: 0, warnings: [] };
      const denied = deniedRequest(spec, capabilities);
      if (denied !== undefined) return denied;
      const { ended } = await begin(spec, { ...streams, stdin: spec.stdin });
      return await ended;
    },
    start: async (spec, streams) => {
      const denied = deniedRequest(spec, capabilities);
      if (denied !== undefined) return notStarted(denied);
      const { child, ended, stop } = await begin(spec, streams);
      if (spec.stdin.length > 0) child.write(spec.stdin);
      return {
        ended,
        write: (bytes) => child.write(bytes),
        closeInput: () => child.closeInput(),
        kill: stop,
      } satisfies RunningProgram;
    },
    detach: async () => {
      isDetached = true;
      for (const stop of running.keys()) stop.abort();
      await Promise.all(running.values());
      await pipes.close();
    },
  };
}

/** The limit without the READY byte, which may arrive after output of the program on the other stream. */
function cappedOutput(streams: StartStreams, { outputBytes }: RunLimits): StartStreams {
  let left = outputBytes;
  const cap = (sink: OutputSink): OutputSink => ({
    write: (chunk) => {
      const part = chunk.subarray(0, left);
      left -= part.length;
      return (part.length === 0 || sink.write(part)) && part.length === chunk.length;
    },
  });
  return { ...streams, stdout: cap(streams.stdout), stderr: cap(streams.stderr) };
}

type StartStreams = Parameters<AttachedWorkspace['run']>[1] & {
  readonly terminal?: boolean;
  /** The whole input of a program that is not interactive. */
  readonly stdin?: Uint8Array;
};

interface StartedProgram {
  readonly child: Child;
  readonly ended: Promise<ProgramEnd>;
  readonly stop: () => void;
}

function deniedRequest(spec: ProgramSpec, { isolation }: Capabilities): ProgramEnd | undefined {
  // Without isolation a program reaches every host.
  return isolation !== 'none' && spec.network.length > 0 ? networkDenied(spec) : movedMountsDenied(spec);
}

/** Resolves the working directory, which must be inside the workspace or a mount even after links are followed. */
function resolveCwd(root: string, { cwd, mounts = [] }: ProgramSpec): string {
  const real = cwd.includes('\0') ? undefined : tryRealPath(startFolder(root, cwd));
  const roots = path.isAbsolute(cwd) ? mounts.map(({ target }) => target) : [root];
  if (real !== undefined && roots.some((folder) => isInside(real, folder)) && isDirectory(real)) return real;
  throw invalidInput(
    `the folder ${quoted(cwd, 200)} is not in the workspace`,
    'a folder below the workspace',
    'use a folder of the workspace: work, out, or one below skills/',
  );
}

const ALL_LIMITS: Readonly<Record<keyof RunLimits, string>> = {
  wallMs: 'time',
  memoryBytes: 'memory',
  processes: 'processes',
  outputBytes: 'output',
  fileBytes: 'file size',
  diskBytes: 'disk space',
  files: 'files',
};

function withWarnings(end: ProgramEnd, { limits }: Capabilities): ProgramEnd {
  const missing = Object.entries(ALL_LIMITS).filter(([name]) => !Object.hasOwn(limits, name));
  const warnings = missing.map(([, what]) => `the limit on ${what} cannot be enforced here`);
  // The kernel sends SIGXFSZ when a file exceeds its limit.
  const reason = end.signal === 'SIGXFSZ' && end.reason === 'signal' ? 'disk' : end.reason;
  return { ...end, reason, warnings: [...end.warnings, ...warnings] };
}

function listPids(child: Child, table: ProcessTable): readonly number[] {
  return (child.members?.(table.since(performance.now() - ROWS_MS)) ?? []).map(({ pid }) => pid);
}

function exceededLimit(
  child: Child,
  { processes, memoryBytes }: RunLimits,
  table: ProcessTable,
): ProgramEnd['reason'] | undefined {
  const pids = listPids(child, table);
  if (pids.length > processes) return 'processes';
  const own = measureMemory(pids, memoryBytes);
  return own + openSockets(pids, memoryBytes - own) > memoryBytes ? 'memory' : undefined;
}
