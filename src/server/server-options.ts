import type { AgentOptions, AgentResult } from '#agent';
import type { Model, Surroundings } from '#core';
import type { ExecutionOptions } from '#sandbox';
import type { CaseHistory, EvaluationRow } from './api/govern.ts';
import type { PriceAnswer } from './event-row.ts';
import type { Immutable } from './router.ts';

export interface RunServerOptions extends Pick<AgentOptions, 'runtime' | 'model'> {
  /** The folder in which runs are recorded and listed. */
  readonly directory: string;
  /** At least 16 characters (default: a random token). */
  readonly token?: string;
  readonly host?: '127.0.0.1' | '::1';
  /** Default: any free port. */
  readonly port?: number;
  /** Options for every run. */
  readonly agent?: Omit<AgentOptions, 'runtime' | 'model' | 'request' | 'signal'>;
  readonly limits?: Partial<RunServerLimits>;
  /** The working folder, home folder and environment (default: those of the process). */
  readonly surroundings?: Surroundings;
  /** Why `model` is used, for the page. */
  readonly reasonForModel?: string;
  /** Opens a model that a request names. Absent: every run uses `model`. */
  readonly openModel?: (name: string, signal: AbortSignal) => Promise<Model>;
  /** Runs an agent (default: `runAgent`). `live` passes on the output of programs while they run. */
  readonly runAgent?: (options: AgentOptions, live: Pick<ExecutionOptions, 'onOutput'>) => Promise<AgentResult>;
  /** The options of a run that is resumed or forked, with programs (default: those of `agent`). */
  readonly resumed?: (live: Pick<ExecutionOptions, 'onOutput'>) => NonNullable<AgentOptions['run']>;
  /** What programs of a run reach outside their sandbox, for explanations of the policy (default: nothing). */
  readonly reach?: {
    readonly executor?: string;
    readonly writes: readonly string[];
    readonly hosts: readonly string[];
  };
  /** What runs do without asking, if a person may choose it on the page. The caller answers questions by it. */
  readonly mode?: { readonly name: string; choose(name: 'ask' | 'edits'): void };
  /** What an answer of a model costs in US dollars, undefined if that is not known (default: runs have no money). */
  readonly price?: PriceAnswer;
  /** Folder of the built page (default: the server has no page). */
  readonly console?: string;
  /** Finished evaluations (default: none). */
  readonly evaluations?: EvaluationSource;
}

/** Evaluations as the page needs them. Evaluations are above the server, so a caller passes this. */
interface EvaluationSource {
  readonly list: () => readonly Immutable<EvaluationRow>[];
  /** The data of the report page; throws `input/invalid` for an unknown id. */
  readonly page: (id: string, against: string | undefined) => unknown;
  /** The report as one HTML file. */
  readonly html: (id: string, against: string | undefined) => string;
  /** How cases ended: all cases unless one is named, in all evaluations unless a suite is named. */
  readonly history: (query: {
    readonly case?: string | undefined;
    readonly suite?: string | undefined;
  }) => Immutable<CaseHistory>['attempts'];
}

export interface RunServerLimits {
  readonly bodyBytes: number;
  /** Size of one uploaded file. */
  readonly uploadBytes: number;
  readonly connections: number;
  /** Concurrent runs. */
  readonly runs: number;
  /** A reader that takes no data for this long is disconnected. */
  readonly stalledMs: number;
}
