/**
 * What is wanted of the files that a run leaves behind, in either of trpc's two ways to ask for it, and the result of a run.
 * Fields that go to models and into JSON are in snake case, as EXEC-3 has them.
 */
import { compareText } from './diagnostic.ts';
import type { EndReason, ExecutorName, Isolation, ProgramEnd } from './execution.ts';
import type { Failure } from './failure-codes.ts';
import { normaliseGlob } from './glob.ts';
import type { GlobPlaces } from './glob.ts';

/** The parameters of `skill_run` that are about outputs. `outputs` is the declarative way, the others are the older one. */
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

/** What of a workspace is collected, and what becomes of it. */
export interface OutputRequest {
  /** Relative to the workspace. */
  readonly globs: readonly string[];
  /** Texts are shown in the result. */
  readonly inline: boolean;
  /** The first short text is given as the answer of the run. */
  readonly showsPrimary: boolean;
  /** Files are kept as artifacts. */
  readonly save: boolean;
  /** What the names of artifacts start with, before the name of the file. */
  readonly artifactPrefix: string;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
  /** Nobody asked: nothing is missed where there is nothing. */
  readonly isAutomatic: boolean;
}

export type OutputReading =
  | { readonly type: 'request'; readonly request: OutputRequest }
  | { readonly type: 'refused'; readonly failure: Failure };

export const DEFAULT_OUTPUT_LIMITS = {
  maxFiles: 100,
  maxFileBytes: 4 * 1024 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
} as const;

const AUTOMATIC: OutputRequest = {
  ...DEFAULT_OUTPUT_LIMITS,
  globs: ['out/**'],
  inline: false,
  showsPrimary: true,
  save: false,
  artifactPrefix: '',
  maxFiles: 20,
  isAutomatic: true,
};

/**
 * Both ways make one request. Where both are used their patterns are joined, `outputs` decides on names and limits, and what either
 * of them shows or saves is shown or saved. Where neither is used, `out/**` is looked through and listed.
 */
export function readOutputRequest(parameters: OutputParameters, places: GlobPlaces = {}): OutputReading {
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
  return {
    type: 'request',
    request: {
      globs: [...globs],
      inline: !isOmitted && (files.length > 0 || (outputs.inline ?? false)),
      showsPrimary: !isOmitted,
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
  /** A text, as it is in the file; absent for what is binary, not UTF-8, or not asked for. */
  readonly content?: string;
  /** By content. */
  readonly mime_type: string;
  readonly size_bytes: number;
  /** `content` is the start only, or the file is larger than may be read. */
  readonly truncated: boolean;
  /** Where the whole can be had: `workspace://name`. */
  readonly ref: string;
  /** `sha256:` of the whole; absent where that was not read. */
  readonly digest?: string;
}

/** Why a file that matches was not collected, or not whole. */
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

export interface SkippedOutput {
  /** What does not show in it is written out: not always a name that opens a file. */
  readonly name: string;
  readonly size_bytes: number;
  readonly reason: SkipReason;
}

export interface SavedOutput {
  readonly name: string;
  readonly version: number;
}

/** All that a collection found. */
export interface Collected {
  /** By name. */
  readonly files: readonly OutputFile[];
  /** The first text by name that is short enough to be an answer, with its content. */
  readonly primary?: OutputFile;
  readonly saved: readonly SavedOutput[];
  /** By name; the first of them where there are very many, and then a warning says how many more. */
  readonly skipped: readonly SkippedOutput[];
  readonly warnings: readonly string[];
}

export const NOTHING_COLLECTED: Collected = { files: [], saved: [], skipped: [], warnings: [] };

const PRIMARY_BYTES = 32 * 1024;

/** Could be shown as the answer of a run: a text, whole, and no longer than people read. */
export function isPrimaryCandidate({ size_bytes: size }: Pick<OutputFile, 'size_bytes'>): boolean {
  return size > 0 && size <= PRIMARY_BYTES;
}

/** What a program printed, as it is shown. */
export interface ShownStream {
  readonly text: string;
  /** Less is shown than was printed. */
  readonly truncated: boolean;
  /** Where the whole can be had. */
  readonly ref?: string;
  /** `sha256:` of the whole. */
  readonly digest?: string;
}

export interface StagedInput {
  /** Relative to the workspace. */
  readonly name: string;
  /** As it was asked for. */
  readonly original_name: string;
  readonly mime_type: string;
  readonly size_bytes: number;
}

/** EXEC-3: what came of a run. */
export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  /** -1 where the program did not exit by itself; `reason` says why. */
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
}

export interface RunParts {
  readonly end: ProgramEnd;
  readonly stdout: ShownStream;
  readonly stderr: ShownStream;
  readonly executor: ExecutorName;
  readonly isolation: Isolation;
  readonly collected?: Collected;
  readonly stagedInputs?: readonly StagedInput[];
  /** Of whoever prepared the run. */
  readonly warnings?: readonly string[];
}

/** Puts the parts of a run together. Every list is in an order that does not depend on the machine. */
export function makeRunResult(parts: RunParts): RunResult {
  const { end, stdout, stderr, executor, isolation, collected = NOTHING_COLLECTED, stagedInputs = [] } = parts;
  const warnings = [
    ...(parts.warnings ?? []),
    ...end.warnings,
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
    ...(collected.primary === undefined ? {} : { primary_output: collected.primary }),
    artifact_files: byName(collected.saved),
    warnings: [...new Set(warnings)],
    reason: end.reason,
    ...(end.signal === undefined ? {} : { signal: end.signal }),
    isolation,
    executor,
    ...(stdout.ref === undefined ? {} : { stdout_ref: stdout.ref }),
    ...(stdout.digest === undefined ? {} : { stdout_digest: stdout.digest }),
    ...(stderr.ref === undefined ? {} : { stderr_ref: stderr.ref }),
    ...(stderr.digest === undefined ? {} : { stderr_digest: stderr.digest }),
    staged_inputs: stagedInputs,
    skipped_files: collected.skipped,
  };
}

function byName<Named extends { readonly name: string }>(list: readonly Named[]): readonly Named[] {
  return list.toSorted((a, b) => compareText(a.name, b.name));
}

/** The run did not do what it was started for: its empty files say nothing. */
export function isFailedEnd({ reason, exitCode }: Pick<ProgramEnd, 'reason' | 'exitCode'>): boolean {
  return reason !== 'exited' || exitCode !== 0;
}
