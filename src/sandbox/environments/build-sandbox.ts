/** Runs package managers in a sandbox of their own: no files of the user, and network only to the configured index. */
import path from 'node:path';

import { DEFAULT_LIMITS, isSkillError, type ProgramSpec, type ProgramEnd } from '#core';
import type { Workspace } from '../workspace/workspace.ts';
import { textSink } from '../executors/output-sinks.ts';
import { programEnvironment } from '../process/program-environment.ts';
import type { HostMount, RunLimits } from '../program-types.ts';

interface BuildProgram {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly network?: readonly string[];
  readonly mounts?: readonly HostMount[];
  /** Relative to the workspace (default: `work`). */
  readonly cwd?: string;
}

export interface BuildOutcome {
  readonly isDone: boolean;
  readonly stdout: string;
  readonly stderr: string;
  /** How the program ended, for messages. */
  readonly end: string;
  readonly refused: readonly NonNullable<ProgramEnd['refused']>[number][];
}

export interface BuildSandbox {
  /** The workspace as programs see it. */
  readonly root: string;
  /** Host path of its working folder. */
  readonly work: string;
  /** Host files cannot be mounted elsewhere: programs see them at their own path. */
  readonly isOwnPath: boolean;
  run(program: BuildProgram): Promise<BuildOutcome>;
  /** Like `run`, but a program that the sandbox cannot start has failed. */
  attempt(program: BuildProgram): Promise<BuildOutcome>;
  close(): Promise<void>;
}

const GIB = 1024 * 1024 * 1024;
const LIMITS: RunLimits = {
  ...DEFAULT_LIMITS,
  wallMs: 15 * 60_000,
  memoryBytes: 2 * GIB,
  outputBytes: 16 * 1024 * 1024,
  fileBytes: 4 * GIB,
  diskBytes: 12 * GIB,
  files: 500_000,
};

export function openBuildSandbox(
  workspace: Workspace,
  {
    programFolders,
    signal,
    proxyFrom,
    isOwnPath = false,
  }: {
    readonly programFolders: readonly string[];
    readonly signal: AbortSignal | undefined;
    /** The user's environment: installations use the proxy that it names. */
    readonly proxyFrom?: ProgramSpec['proxyFrom'];
    readonly isOwnPath?: boolean;
  },
): BuildSandbox {
  const { attached, place } = workspace;
  const { root } = attached;
  const home = workspace.homeOf(undefined);
  const run: BuildSandbox['run'] = async ({ argv, env = {}, stdin = '', network = [], mounts = [], cwd = 'work' }) => {
    const [stdout, stderr] = [textSink(), textSink()];
    const base = programEnvironment({ root, runFolder: workspace.newRunFolder().path, home, programFolders });
    const spec = {
      // The package index may be on this machine: NO_PROXY of the sandbox would bypass the proxy, which is the only way out.
      argv: ['env', '-u', 'NO_PROXY', '-u', 'no_proxy', ...argv],
      cwd,
      env: { ...(base.type === 'environment' ? base.env : {}), ...env },
      stdin: Buffer.from(stdin),
      limits: LIMITS,
      network,
      mounts,
      home,
      proxyFrom,
    };
    const streams = { stdout, stderr };
    const end = await attached.run(spec, signal === undefined ? streams : { ...streams, signal });
    if (end.reason === 'cancelled') signal?.throwIfAborted();
    return {
      isDone: end.reason === 'exited' && end.exitCode === 0,
      stdout: stdout.text(),
      stderr: stderr.text(),
      end: end.reason === 'exited' ? `exit code ${String(end.exitCode)}` : [end.reason, ...end.warnings].join(': '),
      refused: end.refused ?? [],
    };
  };
  return {
    root,
    isOwnPath,
    work: path.join(place.root, 'work'),
    run,
    async attempt(program) {
      try {
        return await run(program);
      } catch (error) {
        if (!isSkillError(error) || error.code !== 'executor/failed') throw error;
        return { isDone: false, stdout: '', stderr: '', end: error.message, refused: [] };
      }
    },
    close: () => workspace.close(),
  };
}
