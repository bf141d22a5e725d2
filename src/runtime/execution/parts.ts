import type { ArtifactStore } from '../../artifact/store.ts';
import type { Executor, RunLimits } from '../../core/execution.ts';
import type { OnSpan } from '../../core/span.ts';
import type { InputSources } from '../../executor/inputs.ts';
import type { Inspect } from '../../executor/preflight.ts';
import type { Workspace } from '../../executor/workspace.ts';

/** What the runs of one session share. */
export interface ExecutionParts {
  readonly executor: Executor;
  readonly limits: Partial<RunLimits>;
  /** Hosts that programs may reach. */
  readonly network: readonly string[];
  /** Given to every program, on top of what is always there. */
  readonly env: Readonly<Record<string, string>>;
  readonly programFolders: readonly string[];
  readonly artifacts: ArtifactStore | undefined;
  readonly inputSources: InputSources;
  /** The workspace of the session; made by the first program. */
  openWorkspace(): Promise<Workspace>;
  /** Told of output as it comes. */
  readonly onOutput: ((stream: 'stdout' | 'stderr', chunk: Uint8Array) => void) | undefined;
  readonly onSpan: OnSpan | undefined;
  /** How programs are asked about where they will run. */
  readonly inspect: Inspect | undefined;
  /** Skills whose needs were looked at, by digest. */
  readonly examined: Map<string, readonly Missing[]>;
}

/** Something a skill needs that is not there. */
export interface Missing {
  readonly message: string;
  readonly hint: string;
  readonly neededBy: string;
}
