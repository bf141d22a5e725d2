import type { PackageLayer, ProgramSpec, RunResult } from '#core';
import type { Redactor } from '#journal';
import type { RunFolder, Workspace } from '#sandbox';
import type { OutputRequest } from './run-result.ts';

/** A program that is ready to run. */
export interface PreparedProgram {
  readonly type: 'prepared';
  readonly workspace: Workspace;
  readonly run: RunFolder;
  /** By the clock of the file system, see `nextChangeTime`. */
  readonly startedAt: number;
  readonly spec: ProgramSpec;
  readonly outputs: OutputRequest;
  readonly stagedInputs: readonly RunResult['staged_inputs'][number][];
  readonly layers: readonly PackageLayer[];
  readonly warnings: readonly string[];
  /** Further warnings: requirements of the skill that this program does not need. Evaluated while it runs. */
  readonly missing: () => Promise<readonly string[]>;
  /** The script or command line, to tell what it may do. */
  readonly code: string;
  /** Opens the port that is served while the program runs, if any. The caller closes it. */
  readonly openPort: () => Promise<{ close(): Promise<void> } | undefined>;
  /** To be called after the program: keeps what it wrote, checks the folders of the user, and returns further warnings. */
  readonly finish: () => Promise<readonly string[]>;
  /** Removes secrets of this program, and those that others left in the workspace. */
  readonly redactor: Redactor | undefined;
  /** The cause of a failure by its output, with the command that fixes it. */
  readonly explain: (output: string) => Promise<string | undefined>;
}
