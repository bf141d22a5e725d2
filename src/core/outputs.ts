/** Output files of a run and its result. Fields that go to models and into JSON are in snake case (EXEC-3). */
import { compareText } from './diagnostic.ts';
import type { EndReason, ExecutorName, Isolation, ProgramEnd } from './execution.ts';
import type { ActionProblem } from './failure-codes.ts';
import { normaliseGlob, type GlobVariables } from './glob.ts';
import type { Ecosystem, PackageLayer } from './packages.ts';
import { refusedText, type RefusedConnection } from './network/refused-connection.ts';

/** Output parameters of `skill_run`. `outputs` is the declarative form; the other keys are the older form. */
export interface OutputParameters {
  readonly output_files?: readonly string[];
  readonly save_as_artifacts?: boolean;
  readonly omit_inline_content?: boolean;
  readonly artifact_prefix?: string;
  readonly outputs?: {
    readonly globs?: readonly string[];
    readonly inline?: boolean;
    readonly save?: boolean;
    readonly name_template?: string;
    readonly max_files?: number;
    readonly max_file_bytes?: number;
    readonly max_total_bytes?: number;
  };
}

/** Which files of a workspace are collected, and how. */
export interface OutputRequest {
  /** Relative to the workspace. */
  readonly globs: readonly string[];
  /** Whether text files are included in the result. */
  readonly inline: boolean;
  /** Whether the first short text file is returned as the answer of the run. */
  readonly showsPrimary: boolean;
  /** Whether files are saved as artifacts. */
  readonly save: boolean;
  /** Prefix of artifact names. */
  readonly artifactPrefix: string;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
  /** True if no outputs were requested; then missing files are not reported. */
  readonly isAutomatic: boolean;
}

export type OutputReading =
  | { readonly type: 'request'; readonly request: OutputRequest }
  | { readonly type: 'refused'; readonly failure: ActionProblem };

export const DEFAULT_OUTPUT_LIMITS = {
  maxFiles: 100,
  maxFileBytes: 4 * 1024 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
} as const;

/** Where inputs are, relative to the workspace; scripts often write their results beside them. */
export const INPUTS_FOLDER = 'work/inputs/';

const AUTOMATIC: OutputRequest = {
  ...DEFAULT_OUTPUT_LIMITS,
  globs: ['out/**', `${INPUTS_FOLDER}**`],
  inline: false,
  showsPrimary: true,
  save: false,
  artifactPrefix: '',
  maxFiles: 20,
  isAutomatic: true,
};

/**
 * Merges both forms: patterns are concatenated, `outputs` decides names and limits, and either form can enable inlining or saving. Without
 * any request, `out/**` and what is new or changed beside the inputs is listed.
 */
export function readOutputRequest(parameters: OutputParameters, places: GlobVariables = {}): OutputReading {
  const { output_files: files = [], outputs = {}, omit_inline_content: isOmitted = false } = parameters;
  const declared = outputs.globs ?? [];
  const save = (parameters.save_as_artifacts ?? false) || (outputs.save ?? false);
  const artifactPrefix = outputs.name_template ?? parameters.artifact_prefix ?? '';
  const wanted = [...files, ...declared];
  if (wanted.length === 0)
    return { type: 'request', request: { ...AUTOMATIC, showsPrimary: !isOmitted, save, artifactPrefix } };
  const globs = new Set<string>();
  for (const text of wanted) {
    const reading = normaliseGlob(text, places);
    if (reading.type === 'refused') return reading;
    globs.add(reading.glob);
  }
  const inline = !isOmitted && (files.length > 0 || (outputs.inline ?? false));
  return {
    type: 'request',
    request: {
      globs: [...globs],
      inline,
      // Contents are sent once, and not at all if the caller declined them.
      showsPrimary: !isOmitted && !inline && outputs.inline === undefined,
      save,
      artifactPrefix,
      maxFiles: outputs.max_files ?? DEFAULT_OUTPUT_LIMITS.maxFiles,
      maxFileBytes: outputs.max_file_bytes ?? DEFAULT_OUTPUT_LIMITS.maxFileBytes,
      maxTotalBytes: outputs.max_total_bytes ?? DEFAULT_OUTPUT_LIMITS.maxTotalBytes,
      isAutomatic: false,
    },
  };
}

/** A file that a run left behind. */
export interface OutputFile {
  /** Relative to the workspace. */
  readonly name: string;
  /** Text content; absent for binary files, invalid UTF-8, or if not requested. */
  readonly content?: string;
  /** Detected from the content. */
  readonly mime_type: string;
  readonly size_bytes: number;
  /** Whether `content` is truncated, or the file exceeds the read limit. */
  readonly truncated: boolean;
  /** A reference to the whole file: `workspace://name`. */
  readonly ref: string;
  /** `sha256:` of the whole file; absent if it was not read. */
  readonly digest?: string;
}

/** Why a matching file was not collected completely. */
export const SKIP_REASONS = [
  'max-files',
  'max-file-bytes',
  'max-total-bytes',
  'name',
  'link',
  'link-outside',
  'hard-link',
  'set-id',
  'not-regular',
  'too-deep',
  'changed',
  'empty',
  'unreadable',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Begins the warnings about skipped files. */
export const NOT_COLLECTED = 'not collected (';

export interface SkippedOutput {
  /** Invisible characters are escaped, so it may not be usable as a path. */
  readonly name: string;
  readonly size_bytes: number;
  readonly reason: SkipReason;
}

export interface SavedOutput {
  readonly name: string;
  readonly version: number;
}

/** The result of a collection. */
export interface Collected {
  /** Sorted by name. */
  readonly files: readonly OutputFile[];
  /** The first short text file by name, with its content. */
  readonly primary?: OutputFile;
  readonly saved: readonly SavedOutput[];
  /** Sorted by name; truncated if there are many, with a warning that says how many more. */
  readonly skipped: readonly SkippedOutput[];
  readonly warnings: readonly string[];
}

export const NOTHING_COLLECTED: Collected = { files: [], saved: [], skipped: [], warnings: [] };

const PRIMARY_BYTES = 32 * 1024;

/** Whether a file is short enough to be shown as the answer of a run. */
export function isPrimaryCandidate({ size_bytes: size }: Pick<OutputFile, 'size_bytes'>): boolean {
  return size > 0 && size <= PRIMARY_BYTES;
}

/** Output of a program as shown to the caller. */
export interface ShownStream {
  readonly text: string;
  /** Whether less is shown than was printed. */
  readonly truncated: boolean;
  /** A reference to the whole output. */
  readonly ref?: string;
  /** `sha256:` of the whole output. */
  readonly digest?: string;
}

export interface StagedInput {
  /** Relative to the workspace. */
  readonly name: string;
  /** The reference that was requested. */
  readonly original_name: string;
  readonly mime_type: string;
  readonly size_bytes: number;
}

/** The result of a run (EXEC-3). */
export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  /** -1 if the program did not exit by itself; see `reason`. */
  readonly exit_code: number;
  readonly timed_out: boolean;
  readonly duration_ms: number;
  readonly output_files: readonly OutputFile[];
  readonly primary_output?: OutputFile;
  readonly artifact_files: readonly SavedOutput[];
  readonly warnings: readonly string[];
  readonly reason: EndReason;
  readonly signal?: string;
  readonly isolation: Isolation;
  readonly executor: ExecutorName;
  readonly stdout_ref?: string;
  readonly stdout_digest?: string;
  readonly stderr_ref?: string;
  readonly stderr_digest?: string;
  readonly staged_inputs: readonly StagedInput[];
  readonly skipped_files: readonly SkippedOutput[];
  /** Absent if there are none. */
  readonly refused_connections?: readonly RefusedConnection[];
  /** Packages that were installed for the program. */
  readonly packages?: readonly UsedLayer[];
}

/** A package layer as a run result names it. */
export interface UsedLayer {
  readonly ecosystem: Ecosystem;
  readonly lock_digest: string;
  readonly layer_digest: string;
  /** `name version` each. */
  readonly packages: readonly string[];
}

export interface RunParts {
  readonly end: ProgramEnd;
  readonly stdout: ShownStream;
  readonly stderr: ShownStream;
  readonly executor: ExecutorName;
  readonly isolation: Isolation;
  readonly collected?: Collected;
  readonly stagedInputs?: readonly StagedInput[];
  readonly layers?: readonly PackageLayer[];
  /** Warnings from preparing the run. */
  readonly warnings?: readonly string[];
}

/** Assembles a run result. All lists have a machine-independent order. */
export function makeRunResult(parts: RunParts): RunResult {
  const {
    end,
    stdout,
    stderr,
    executor,
    isolation,
    collected = NOTHING_COLLECTED,
    stagedInputs = [],
    layers = [],
  } = parts;
  const { refused = [] } = end;
  const warnings = [
    ...(parts.warnings ?? []),
    ...end.warnings,
    ...refused.map(refusedText),
    ...(stdout.truncated ? ['stdout truncated'] : []),
    ...(stderr.truncated ? ['stderr truncated'] : []),
    ...(isolation === 'none' ? ['the program ran without isolation'] : []),
    ...collected.warnings,
  ];
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    exit_code: end.exitCode ?? -1,
    timed_out: end.reason === 'timeout',
    duration_ms: Math.round(end.durationMs),
    output_files: byName(collected.files),
    primary_output: collected.primary,
    artifact_files: byName(collected.saved),
    warnings: [...new Set(warnings)],
    reason: end.reason,
    signal: end.signal,
    isolation,
    executor,
    ...(stdout.ref === undefined || isEmpty(stdout) ? {} : { stdout_ref: stdout.ref }),
    stdout_digest: stdout.digest,
    ...(stderr.ref === undefined || isEmpty(stderr) ? {} : { stderr_ref: stderr.ref }),
    stderr_digest: stderr.digest,
    staged_inputs: stagedInputs,
    skipped_files: collected.skipped,
    ...(layers.length === 0 ? {} : { packages: layers.map(usedLayer) }),
    ...(refused.length === 0 ? {} : { refused_connections: refused }),
  };
}

function isEmpty({ text, truncated }: ShownStream): boolean {
  return text === '' && !truncated;
}

function usedLayer({ ecosystem, lockDigest, layerDigest, packages }: PackageLayer): UsedLayer {
  const names = packages.map(({ name, version }) => `${name} ${version}`);
  return { ecosystem, lock_digest: lockDigest, layer_digest: layerDigest, packages: names };
}

function byName<Named extends { readonly name: string }>(list: readonly Named[]): readonly Named[] {
  return list.toSorted((a, b) => compareText(a.name, b.name));
}

/** Whether the run failed; then empty output files are not meaningful. */
export function isFailedEnd({ reason, exitCode }: Pick<ProgramEnd, 'reason' | 'exitCode'>): boolean {
  return reason !== 'exited' || exitCode !== 0;
}
