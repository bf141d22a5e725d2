/**
 * Running programs in a workspace: the language that workspaces, executors and their users share.
 *
 * A workspace is a folder with `skills/ work/ runs/ out/` and `metadata.json`. An executor runs one program in it and says how that
 * ended. Programs see the workspace at `AttachedWorkspace.root`, which is another path than on the host where there is isolation.
 */

export const EXECUTOR_NAMES = ['bubblewrap', 'container', 'macos', 'local'] as const;
export type ExecutorName = (typeof EXECUTOR_NAMES)[number];

/** What keeps a program from the host; `none` is said, never hidden. */
export type Isolation = 'bubblewrap' | 'container' | 'seatbelt' | 'none';

/** What may be used of the machine. Every limit holds for the whole tree of processes; what an executor cannot hold it says. */
export interface RunLimits {
  readonly wallMs: number;
  readonly memoryBytes: number;
  readonly processes: number;
  /** Of stdout and stderr together. */
  readonly outputBytes: number;
  /** Of one file. */
  readonly fileBytes: number;
  /** Of all that the program leaves in the workspace. */
  readonly diskBytes: number;
  /** Files and folders that it leaves there. */
  readonly files: number;
}

export type LimitName = keyof RunLimits;

export const DEFAULT_LIMITS: RunLimits = {
  wallMs: 300_000,
  memoryBytes: 1024 * 1024 * 1024,
  processes: 64,
  outputBytes: 64 * 1024 * 1024,
  fileBytes: 64 * 1024 * 1024,
  diskBytes: 256 * 1024 * 1024,
  files: 20_000,
};

/** One program, with everything it is given: nothing comes from the process that starts it. */
export interface ProgramSpec {
  /** No shell unless the first word is one. */
  readonly argv: readonly string[];
  /** Below the workspace, with forward slashes: `.`, `work`, `skills/pdf`. */
  readonly cwd: string;
  /** All of it. Paths in it are those the program sees. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array;
  readonly limits: RunLimits;
  /** Hosts it may reach, `example.org` or `*.example.org`, with or without `:port`; none: no network at all. */
  readonly network: readonly string[];
}

/** Why a program is not running any more. `exited`: by itself, whatever its status. */
export const END_REASONS = [
  'exited',
  'signal',
  'timeout',
  'memory',
  'processes',
  'output',
  'disk',
  'cancelled',
  'denied',
] as const;
export type EndReason = (typeof END_REASONS)[number];

export interface ProgramEnd {
  readonly reason: EndReason;
  /** Absent where it did not exit by itself. */
  readonly exitCode?: number;
  readonly signal?: string;
  readonly durationMs: number;
  /** What a person should know: a limit that could not be held here, a process that had to be hunted. */
  readonly warnings: readonly string[];
}

/** Where output goes while it comes. `write` gives false once nothing more is taken: then the program is ended for its output. */
export interface OutputSink {
  write(chunk: Uint8Array): boolean;
}

export interface RunStreams {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  readonly signal?: AbortSignal;
}

/** A running program that is talked to. */
export interface RunningProgram {
  /** Resolves when every process of it is gone. */
  readonly ended: Promise<ProgramEnd>;
  write(bytes: Uint8Array): void;
  /** No more input. */
  closeInput(): void;
  /** Ends every process of it. */
  kill(): void;
}

/** What an executor is able to do, found out and not assumed: what is not known to work is false. */
export interface Capabilities {
  readonly isolation: Isolation;
  /** Limits that hold for the whole tree of processes. */
  readonly limits: readonly LimitName[];
  /** Network by host; without it a program has none, or all where `isolation` is none. */
  readonly hasNetworkGrants: boolean;
  readonly hasInteraction: boolean;
  /** A terminal for interactive programs. */
  readonly hasTerminal: boolean;
}

/** A skill as it lies in a workspace. */
export interface StagedSkill {
  readonly name: string;
  /** Tree digest of what was staged. */
  readonly digest: string;
  /** On the host, read-only by agreement: an isolating executor shows it at `skills/<name>` without a copy. */
  readonly snapshot: string;
}

export interface WorkspacePlace {
  readonly id: string;
  /** On the host, absolute. */
  readonly root: string;
  readonly skills: readonly StagedSkill[];
}

/** A workspace that an executor has made ready. */
export interface AttachedWorkspace {
  readonly capabilities: Capabilities;
  /** Where programs see the workspace. */
  readonly root: string;
  /** Runs a program to its end. Does not throw for what the program does; throws `SkillError` where it cannot be started at all. */
  run(spec: ProgramSpec, streams: RunStreams): Promise<ProgramEnd>;
  /** Starts one to talk to; absent where that is not possible. */
  start?(spec: ProgramSpec, streams: RunStreams & { readonly terminal: boolean }): Promise<RunningProgram>;
  /** Ends everything that still runs in it. May be called twice. */
  detach(): Promise<void>;
}

/** A user of the system. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** Whom programs run as where we are root and nobody says otherwise. */
export const NOBODY: Identity = { uid: 65_534, gid: 65_534 };

/** A way to run programs. Constructing one does nothing; `attach` finds out whether it works and fails closed. */
export interface Executor {
  readonly name: ExecutorName;
  /** Whom programs run as where we are root ourselves; the writable folders of a workspace are given to them. */
  readonly identity?: Identity;
  attach(place: WorkspacePlace): Promise<AttachedWorkspace>;
}
