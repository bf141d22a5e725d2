import { NOBODY } from '../../core/execution.ts';
import type { Capabilities, Executor, Identity, LimitName, RunLimits } from '../../core/execution.ts';
import { isPresent } from '../../platform/fs/paths.ts';
import { tryRead } from './proc.ts';
import { countedFolders, isRoot } from '../workspace/layout.ts';
import { plainProcesses } from './plain-processes.ts';

export interface LocalOptions {
  /** User for programs when the caller is root (default: 65534). */
  readonly identity?: Identity;
}

const PRLIMIT = '/usr/bin/prlimit';
const SCRIPT = '/usr/bin/script';
const OPEN_FILES = 1024;
/** Headroom over the polled process limit. The kernel's limit counts all processes of the user and only stops fork bombs between two polls. */
const SPARE_PROCESSES = 4096;

/**
 * Runs programs as plain processes: their own process group, a clean environment, limits, and no isolation at all. Used only when
 * chosen by name. When the caller is root, programs run as another user.
 */
export function localExecutor({ identity = NOBODY }: LocalOptions = {}): Executor {
  return plainProcesses({
    name: 'local',
<<<<<<< ours
    identity: isRoot() ? identity : undefined,
    capabilities: detectCapabilities,
    commandsFor:
      () =>
      ({ argv, env, limits }) => ({ argv: limited(argv, limits), env }),
||||||| base
    ...(isRoot() ? { identity } : {}),
    attach: async (place) => await Promise.resolve(attach(place, isRoot() ? identity : undefined, shared)),
  };
}

/** State shared by all workspaces of one executor. */
interface Shared {
  readonly processes: ProcessTable;
  readonly children: LivingChildren;
}

/** Kills running programs when this process exits early, for example on a second interrupt. */
class LivingChildren {
  readonly #children = new Set<Child>();

  add(child: Child): void {
    if (this.#children.size === 0) process.on('exit', this.#killAll);
    this.#children.add(child);
  }

  delete(child: Child): void {
    this.#children.delete(child);
    if (this.#children.size === 0) process.off('exit', this.#killAll);
  }

  readonly #killAll = (): void => {
    for (const child of this.#children) child.kill();
  };
}

function attach(
  place: WorkspacePlace,
  identity: Identity | undefined,
  { processes, children }: Shared,
): AttachedWorkspace {
  checkWorkspace(place);
  const root = tryRealPath(place.root) ?? place.root;
  const capabilities = detectCapabilities();
  const running = new Map<AbortController, Promise<unknown>>();
  const pipes = new OutputPipes(path.join(root, PIPES_FOLDER));
  let isDetached = false;

  const begin = async (spec: ProgramSpec, streams: StartStreams): Promise<StartedProgram> => {
    if (isDetached) throw detached(place.root);
    const started = performance.now();
    const cwd = resolveCwd(root, spec);
    const stop = new AbortController();
    const signal = streams.signal === undefined ? stop.signal : AbortSignal.any([streams.signal, stop.signal]);
    const { limits } = spec;
    const folders = writableFolders(spec).map((name) => path.join(place.root, name));
    const isOverDisk = diskWatch({ folders, limits, processes: () => [] });
    const starting = startChild(
      {
        argv: limited(spec.argv, limits),
        cwd,
        env: spec.env,
        ...(identity === undefined ? {} : { identity }),
        ...(streams.stdin === undefined ? {} : { stdin: streams.stdin }),
        terminal: streams.terminal === true,
        maxOutputBytes: limits.outputBytes,
        processes,
        pipes,
        executor: 'local',
      },
      streams,
    );
    const ended = starting.then(async (child) => {
      const poll = (isLast: boolean): EndReason | undefined => {
        if (isLast) return isOverDisk(isLast) ? 'disk' : undefined;
        return exceededLimit(child, limits, processes) ?? (isOverDisk(isLast) ? 'disk' : undefined);
      };
      children.add(child);
      try {
        const end = await supervise(child, { limits, streams: { ...streams, signal }, started, poll });
        return withWarnings(end, capabilities);
      } finally {
        children.delete(child);
      }
    });
    // `detach` waits for it too; the caller gets its failure.
    running.set(stop, Promise.allSettled([ended]));
    void Promise.allSettled([ended]).then(() => running.delete(stop));
    return { child: await starting, ended, stop: () => stop.abort() };
  };

  return {
    capabilities,
    root,
    run: async (spec, streams) => {
      if (streams.signal?.aborted === true) return { reason: 'cancelled', durationMs: 0, warnings: [] };
      const denied = mountsDenied(movedMounts(spec));
      if (denied !== undefined) return denied;
      const { ended } = await begin(spec, { ...streams, stdin: spec.stdin });
      return await ended;
    },
    start: async (spec, streams) => {
      const denied = mountsDenied(movedMounts(spec));
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

interface StartStreams extends RunStreams {
  readonly terminal?: boolean;
  /** The whole input of a program that is not interactive. */
  readonly stdin?: Uint8Array;
}

interface StartedProgram {
  readonly child: Child;
  readonly ended: Promise<ProgramEnd>;
  readonly stop: () => void;
}

/** Without isolation a program sees every folder, but only at its own path. */
function movedMounts({ mounts = [], ...spec }: ProgramSpec): ProgramSpec {
  return { ...spec, mounts: mounts.filter(({ source, target }) => source !== target) };
}

/** Resolves the working directory, which must be inside the workspace or a mount even after links are followed. */
function resolveCwd(root: string, { cwd, mounts = [] }: ProgramSpec): string {
  const real = cwd.includes('\0') ? undefined : tryRealPath(startFolder(root, cwd));
  const roots = path.isAbsolute(cwd) ? mounts.map(({ target }) => target) : [root];
  if (real !== undefined && roots.some((folder) => isInside(real, folder)) && isDirectory(real)) return real;
  throw new SkillError({
    code: 'input/invalid',
    message: `the folder ${quoted(cwd, 200)} is not in the workspace`,
    hint: 'use a folder of the workspace: work, out, or one below skills/',
    data: { expected: 'a folder below the workspace' },
=======
    ...(isRoot() ? { identity } : {}),
    attach: async (place) => await Promise.resolve(attach(place, isRoot() ? identity : undefined, shared)),
  };
}

/** State shared by all workspaces of one executor. */
interface Shared {
  readonly processes: ProcessTable;
  readonly children: LivingChildren;
}

/** Kills running programs when this process exits early, for example on a second interrupt. */
class LivingChildren {
  readonly #children = new Set<Child>();

  add(child: Child): void {
    if (this.#children.size === 0) process.on('exit', this.#killAll);
    this.#children.add(child);
  }

  delete(child: Child): void {
    this.#children.delete(child);
    if (this.#children.size === 0) process.off('exit', this.#killAll);
  }

  readonly #killAll = (): void => {
    for (const child of this.#children) child.kill();
  };
}

function attach(
  place: WorkspacePlace,
  identity: Identity | undefined,
  { processes, children }: Shared,
): AttachedWorkspace {
  checkWorkspace(place);
  const root = tryRealPath(place.root) ?? place.root;
  const capabilities = detectCapabilities();
  const running = new Map<AbortController, Promise<unknown>>();
  const pipes = new OutputPipes(path.join(root, PIPES_FOLDER));
  let isDetached = false;

  const begin = async (spec: ProgramSpec, streams: StartStreams): Promise<StartedProgram> => {
    if (isDetached) throw detached(place.root);
    const started = performance.now();
    const cwd = resolveCwd(root, spec);
    const stop = new AbortController();
    const signal = streams.signal === undefined ? stop.signal : AbortSignal.any([streams.signal, stop.signal]);
    const { limits } = spec;
    const folders = countedFolders(place.root, spec);
    const isOverDisk = diskWatch({ folders, limits, processes: () => [] });
    const starting = startChild(
      {
        argv: limited(spec.argv, limits),
        cwd,
        env: spec.env,
        ...(identity === undefined ? {} : { identity }),
        ...(streams.stdin === undefined ? {} : { stdin: streams.stdin }),
        terminal: streams.terminal === true,
        maxOutputBytes: limits.outputBytes,
        processes,
        pipes,
        executor: 'local',
      },
      streams,
    );
    const ended = starting.then(async (child) => {
      const poll = (isLast: boolean): EndReason | undefined => {
        if (isLast) return isOverDisk(isLast) ? 'disk' : undefined;
        return exceededLimit(child, limits, processes) ?? (isOverDisk(isLast) ? 'disk' : undefined);
      };
      children.add(child);
      try {
        const end = await supervise(child, { limits, streams: { ...streams, signal }, started, poll });
        return withWarnings(end, capabilities);
      } finally {
        children.delete(child);
      }
    });
    // `detach` waits for it too; the caller gets its failure.
    running.set(stop, Promise.allSettled([ended]));
    void Promise.allSettled([ended]).then(() => running.delete(stop));
    return { child: await starting, ended, stop: () => stop.abort() };
  };

  return {
    capabilities,
    root,
    run: async (spec, streams) => {
      if (streams.signal?.aborted === true) return { reason: 'cancelled', durationMs: 0, warnings: [] };
      const denied = mountsDenied(movedMounts(spec));
      if (denied !== undefined) return denied;
      const { ended } = await begin(spec, { ...streams, stdin: spec.stdin });
      return await ended;
    },
    start: async (spec, streams) => {
      const denied = mountsDenied(movedMounts(spec));
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

interface StartStreams extends RunStreams {
  readonly terminal?: boolean;
  /** The whole input of a program that is not interactive. */
  readonly stdin?: Uint8Array;
}

interface StartedProgram {
  readonly child: Child;
  readonly ended: Promise<ProgramEnd>;
  readonly stop: () => void;
}

/** Without isolation a program sees every folder, but only at its own path. */
function movedMounts({ mounts = [], ...spec }: ProgramSpec): ProgramSpec {
  return { ...spec, mounts: mounts.filter(({ source, target }) => source !== target) };
}

/** Resolves the working directory, which must be inside the workspace or a mount even after links are followed. */
function resolveCwd(root: string, { cwd, mounts = [] }: ProgramSpec): string {
  const real = cwd.includes('\0') ? undefined : tryRealPath(startFolder(root, cwd));
  const roots = path.isAbsolute(cwd) ? mounts.map(({ target }) => target) : [root];
  if (real !== undefined && roots.some((folder) => isInside(real, folder)) && isDirectory(real)) return real;
  throw new SkillError({
    code: 'input/invalid',
    message: `the folder ${quoted(cwd, 200)} is not in the workspace`,
    hint: 'use a folder of the workspace: work, out, or one below skills/',
    data: { expected: 'a folder below the workspace' },
>>>>>>> theirs
  });
}

function detectCapabilities(): Capabilities {
  const limits: LimitName[] = ['wallMs', 'outputBytes', 'diskBytes', 'files'];
  if (process.platform === 'linux' && isPresent('/proc/self/status')) limits.push('memoryBytes', 'processes');
  if (isPresent(PRLIMIT)) limits.push('fileBytes');
  return {
    isolation: 'none',
    limits,
    hasNetworkGrants: false,
    hasInteraction: true,
    hasTerminal: isPresent(SCRIPT),
  };
}

/** Wraps the command in prlimit, whose limits apply to each process alone; polling checks their sum. */
function limited(argv: readonly string[], { memoryBytes, fileBytes, processes }: RunLimits): readonly string[] {
  // An empty command is rejected when the process is started.
  if (!isPresent(PRLIMIT) || argv[0] === undefined || argv[0] === '') return argv;
  const limits = [
    // Twice the limit: a program over the limit should be ended with the reason `memory` instead of failing on its own.
    limit('data', 'Max data size', memoryBytes * 2),
    limit('fsize', 'Max file size', fileBytes),
    limit('nofile', 'Max open files', OPEN_FILES),
    limit('nproc', 'Max processes', processes + SPARE_PROCESSES),
    '--core=0',
  ];
  return [PRLIMIT, ...limits, '--', ...argv];
}

/** Capped at the hard limit of this process, because raising it would fail. */
function limit(option: string, row: string, wanted: number): string {
  const allowed = hardLimits().get(row) ?? Infinity;
  return `--${option}=${String(Math.min(Math.floor(wanted), allowed))}`;
}

function hardLimits(): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [, name = '', hard] of (tryRead('/proc/self/limits') ?? '').matchAll(/^(\S.*?)\s{2,}\S+\s+(\d+)\s/gm))
    found.set(name, Number(hard));
  return found;
}
