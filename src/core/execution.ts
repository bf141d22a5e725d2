/**
 * The shared language of workspaces, executors and their callers.
 *
 * A workspace is a folder with `skills/ work/ runs/ out/` and `metadata.json`. An executor runs one program in it and reports how it ended.
 * Programs see the workspace at `AttachedWorkspace.root`, which differs from the host path if the executor isolates.
 */

import type { RefusedConnection } from './network/refused-connection.ts';

/** The executors that are built in. */
export const EXECUTOR_NAMES = ['bubblewrap', 'namespaces', 'container', 'macos', 'landlock', 'local'] as const;
export type ExecutorName = (typeof EXECUTOR_NAMES)[number];

/** What is known about an executor before it is attached. */
interface ExecutorTraits {
  readonly isolation: Isolation;
  /** How packages reach programs: mounted at a fixed path, or where they are on this machine. Absent: not at all. */
  readonly layers?: 'mounted' | 'in-place';
  readonly hasInteraction: boolean;
  /** Whether the kernel holds the limits of memory and disk where the machine allows it. Otherwise they are always watched. */
  readonly hasKernelLimits?: boolean;
}

const MOUNTING = { layers: 'mounted', hasInteraction: true } as const;

const TRAITS: Readonly<Record<ExecutorName, ExecutorTraits>> = {
  bubblewrap: { isolation: 'bubblewrap', ...MOUNTING, hasKernelLimits: true },
  namespaces: { isolation: 'namespaces', ...MOUNTING, hasKernelLimits: true },
  container: { isolation: 'container', ...MOUNTING },
  macos: { isolation: 'seatbelt', hasInteraction: false },
  landlock: { isolation: 'landlock', layers: 'in-place', hasInteraction: true },
  local: { isolation: 'none', hasInteraction: true },
};

/** An executor of the caller may have another name; nothing is known about its isolation. */
export function executorTraits(name: string): ExecutorTraits {
  const known = EXECUTOR_NAMES.find((one) => one === name);
  return known === undefined ? { isolation: 'none', ...MOUNTING } : TRAITS[known];
}

/** The isolation of the executor that a setting names; undefined for `auto`, and for an executor of the caller. */
export function namedIsolation(setting: unknown): Isolation | undefined {
  return EXECUTOR_NAMES.flatMap((name) => (name === setting ? [TRAITS[name].isolation] : []))[0];
}

/** Whether an isolation leaves gaps that the others close, so that it needs the consent of the user. */
export function isWeaker(isolation: Isolation | undefined): boolean {
  return isolation === 'landlock';
}

/** How a program is isolated from the host; `none` is always reported. */
export type Isolation = 'bubblewrap' | 'namespaces' | 'container' | 'seatbelt' | 'landlock' | 'none';

/** Resource limits for the whole process tree. An executor reports which of them it can enforce. */
export interface RunLimits {
  readonly wallMs: number;
  readonly memoryBytes: number;
  readonly processes: number;
  /** Total size of stdout and stderr. */
  readonly outputBytes: number;
  /** Maximum size of one file. */
  readonly fileBytes: number;
  /** Total size of all files left in the workspace. */
  readonly diskBytes: number;
  /** Number of files and folders left in the workspace. */
  readonly files: number;
}

export type LimitName = keyof RunLimits;

/**
 * How a limit is enforced: by the kernel for all processes together (`cgroup`) or for each (`rlimit`), by the size of a file system
 * (`tmpfs`), by this process, which reads all output and keeps the time (`runtime`), or by polling, so that a program may be above it for a
 * moment (`watched`).
 */
type Enforcement = 'cgroup' | 'rlimit' | 'tmpfs' | 'runtime' | 'watched' | 'none';

/** The limits of one program and how each was enforced. */
export type LimitReport = Readonly<
  Partial<Record<LimitName | 'temporaryBytes', { readonly limit: number; readonly enforcedBy: Enforcement }>>
>;

/** The limits of a program that is given none. */
export const DEFAULT_LIMITS: RunLimits = {
  wallMs: 300_000,
  memoryBytes: 1024 * 1024 * 1024,
  processes: 64,
  outputBytes: 64 * 1024 * 1024,
  fileBytes: 64 * 1024 * 1024,
  diskBytes: 256 * 1024 * 1024,
  files: 20_000,
};

/** One program and its complete environment; nothing is inherited. */
export interface ProgramSpec {
  /** No shell is involved unless the first word is one. */
  readonly argv: readonly string[];
  /** Relative to the workspace, with forward slashes: `.`, `work`, `skills/pdf`. Or an absolute path in one of `mounts`. */
  readonly cwd: string;
  /** The complete environment, with paths as the program sees them. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array;
  readonly limits: RunLimits;
  /** Hosts that the program may reach: `example.org` or `*.example.org`, optionally with `:port`. Empty: no network. */
  readonly network: readonly string[];
  /** Reach granted hosts through the proxy that this environment of the user names. Only for programs that the user runs for himself. */
  readonly proxyFrom?: Readonly<Record<string, string | undefined>>;
  /** Private folder of the skill, relative to the workspace: only this program and others of the skill see it. */
  readonly home?: string;
  /** Folders at the top of the workspace that the program may write to, besides `work`, `out` and `runs`. */
  readonly folders?: readonly string[];
  /** Host folders that the program sees besides the workspace. An executor without mounts of its own ends the program as `denied`. */
  readonly mounts?: readonly HostMount[];
  /** Files of mounted folders that the program must not read, also if they get their name while it runs. */
  readonly hidden?: HiddenFiles;
}

/** Expressions that hold for JavaScript and perl, for paths below a folder in any letter case. */
export interface HiddenNames {
  /** Matches to the end of the path, from its start or a slash. */
  readonly names: string;
  /** Like `names`: an entry of the hidden folder itself, behind the name of that folder. */
  readonly pairs: string;
  /** Found anywhere: not hidden after all. */
  readonly shown: string;
  /** Like `names`, without exceptions. */
  readonly always: string;
  /** Like `names`: folders whose name hides files in them. */
  readonly parents: string;
  /** Found anywhere: files that `contents` hides. */
  readonly documents: string;
  readonly contents: string;
}

interface HiddenFiles {
  /** As the program sees them. */
  readonly folders: readonly string[];
  /** Folders in them where every file is shown. */
  readonly free: readonly string[];
  /** Files that are hidden by any name: `device:inode:nanoseconds`, with the time when the file was created. */
  readonly secrets: readonly string[];
  readonly names: HiddenNames;
}

/** A file or folder of the host that a program sees at a fixed path. */
interface HostMount {
  readonly source: string;
  /** Absolute path inside. Only a file or folder that exists in the mount before it may be below a folder that programs may write. */
  readonly target: string;
  readonly access: 'read' | 'write';
}

/** Why a program ended. `exited`: by itself, with any exit code. */
const END_REASONS = [
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
  /** Absent if the program did not exit by itself. */
  readonly exitCode?: number;
  readonly signal?: string;
  readonly durationMs: number;
  /** Warnings for a person, such as a limit that could not be enforced. */
  readonly warnings: readonly string[];
  /** Connections that the proxy refused; absent if the program had no proxy. */
  readonly refused?: readonly RefusedConnection[];
}

/** Receives output as it is produced. `write` returns false once the limit is reached; then the program is ended. */
export interface OutputSink {
  write(chunk: Uint8Array): boolean;
}

export interface RunStreams {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  readonly signal?: AbortSignal;
}

/** A running interactive program. */
export interface RunningProgram {
  /** Resolves when all of its processes have ended. */
  readonly ended: Promise<ProgramEnd>;
  write(bytes: Uint8Array): void;
  /** Closes stdin. */
  closeInput(): void;
  /** Kills all of its processes. */
  kill(): void;
}

/** What an executor supports, established by probing; anything unproven is false. */
export interface Capabilities {
  readonly isolation: Isolation;
  /** How limits are enforced for the whole process tree. Absent: not at all. */
  readonly limits: Readonly<Partial<Record<LimitName, Enforcement>>>;
  /** Size of `/tmp` and `/dev/shm` together, if they are file systems in memory. */
  readonly temporaryBytes?: number;
  /** OCI runtime of a container engine, and those that it could use instead. */
  readonly runtime?: { readonly used: string; readonly others: readonly string[] };
  /** Network access per host; without it a program has none, or full access if `isolation` is `none`. */
  readonly hasNetworkGrants: boolean;
  readonly hasInteraction: boolean;
  /** Whether interactive programs get a terminal. */
  readonly hasTerminal: boolean;
}

/** A skill as staged in a workspace. */
export interface StagedSkill {
  readonly name: string;
  /** Tree digest of the staged files. */
  readonly digest: string;
  /** Host path of a read-only copy. An isolating executor mounts it at `skills/<name>`. */
  readonly snapshot: string;
}

export interface WorkspaceFolder {
  readonly id: string;
  /** Absolute host path. */
  readonly root: string;
  readonly skills: readonly StagedSkill[];
}

/** A workspace that an executor has prepared. */
export interface AttachedWorkspace {
  readonly capabilities: Capabilities;
  /** Where programs see the workspace. */
  readonly root: string;
  /** Runs a program until it ends. Failures of the program are results; throws `SkillError` only if it cannot be started. */
  run(spec: ProgramSpec, streams: RunStreams): Promise<ProgramEnd>;
  /** Starts an interactive program; absent if unsupported. */
  start?(spec: ProgramSpec, streams: RunStreams & { readonly terminal: boolean }): Promise<RunningProgram>;
  /** Whether `hidden` of a program holds while it runs; otherwise only what exists when it starts is hidden. */
  hidesNames?(): boolean;
  /** Ends everything that is still running in it. Idempotent. */
  detach(): Promise<void>;
}

/** A system user. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** A way to run programs. Creating one has no effect; `attach` checks that it works and fails closed. */
export interface Executor {
  /** Appears in results and records. One of your own has a name of its own, such as `e2b`. */
  readonly name: string;
  /** The user that programs run as if this process is root; the writable folders of a workspace belong to it. */
  readonly identity?: Identity;
  /** The image whose files programs see instead of those of this machine. */
  readonly image?: string;
  /** What programs can do that the other executors block; absent for a full isolation and for none. */
  readonly gaps?: readonly string[];
  attach(place: WorkspaceFolder): Promise<AttachedWorkspace>;
}
