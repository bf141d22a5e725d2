import type { Executor, ProgramSpec, RunResult } from '#core';
import type { SandboxEntry } from './profile.ts';
import type { startChild } from '../../process/child-process.ts';
import type { Identity } from '../../program-types.ts';

/** A tool that starts a program in new namespaces of every kind, without capabilities and with a seccomp filter. */
export interface Launcher {
  readonly name: Executor['name'];
  readonly isolation: RunResult['isolation'];
  /** Fixes a machine on which the launcher does not work. */
  readonly install: string;
  /** Throws `executor/unavailable` where the tool is missing or too old. `isKnown`: a probe has shown that it works. */
  check(options: { readonly identity: Identity | undefined; readonly isKnown: boolean }): Promise<void>;
  /** Whether it hides files by their names when programs open them. */
  hidesNames(): boolean;
  /** Prepares what all programs of a workspace share. */
  open(filter: Uint8Array): OpenLauncher;
}

export interface OpenLauncher {
  launch(request: LaunchRequest): LaunchCommand;
  close(): void;
}

export interface LaunchRequest {
  readonly entries: readonly SandboxEntry[];
  /** Absolute path inside. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly argv: readonly string[];
  readonly limits: ProcessLimits;
  readonly hidden?: ProgramSpec['hidden'];
  /** The program gets its input as a file, once all of it has come. */
  readonly storesInput?: boolean;
  /** The launcher enters the control group itself, by an inherited file. */
  readonly hasEntry: boolean;
}

/** Limits that the kernel holds for each process. */
export interface ProcessLimits {
  /** Of the whole sandbox. */
  readonly processes: number;
  readonly fileBytes: number;
  /** Absent where a control group limits the memory of all processes together. */
  readonly dataBytes?: number;
  readonly openFiles: number;
  readonly cpuSeconds: number;
}

export interface LaunchCommand {
  readonly argv: readonly string[];
  /** Files for descriptors 3, 4, ...; `entry` is the file by which the launcher enters its control group. */
  readonly inherited: (
    entry: string | undefined,
  ) => readonly NonNullable<Parameters<typeof startChild>[0]['inherited']>[number][];
}
