/** Output files of a run and its result. Fields that go to models and into JSON are in snake case (EXEC-3). */
import type { EndReason, Isolation } from './execution.ts';
import type { Ecosystem } from './packages.ts';
import type { RefusedConnection } from './network/refused-connection.ts';

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

/** A file that a run left behind. */
interface OutputFile {
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

/** Why a matching file was not collected completely, in words. */
export const SKIP_MEANINGS = {
  'max-files': 'the limit on the number of files is reached',
  'max-file-bytes': 'the file is larger than the limit and was not read completely',
  'max-total-bytes': 'the limit on the total size is reached',
  name: 'not every system allows the name: use UTF-8 without invisible characters, backslashes, colons and reserved words',
  link: 'links are not followed',
  'link-outside': 'a link that leaves the workspace',
  'hard-link': 'the file has further hard links',
  'set-id': 'the file has set-user-id or set-group-id bits',
  'not-regular': 'a pipe, socket or device',
  'too-deep': 'the folders are nested too deeply',
  changed: 'the file changed while it was read',
  empty: 'the file is empty and the run failed',
  unreadable: 'the system denies access',
} as const;
type SkipReason = keyof typeof SKIP_MEANINGS;

/** Begins the warnings about files that were skipped, or of which only the start is collected. */
export const COLLECTED = { not: 'not collected (', inPart: 'collected in part (' } as const;

interface SkippedOutput {
  /** Invisible characters are escaped, so it may not be usable as a path. */
  readonly name: string;
  readonly size_bytes: number;
  readonly reason: SkipReason;
}

interface SavedOutput {
  readonly name: string;
  readonly version: number;
}

interface StagedInput {
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
  readonly executor: string;
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
interface UsedLayer {
  readonly ecosystem: Ecosystem;
  readonly lock_digest: string;
  readonly layer_digest: string;
  /** `name version` each. */
  readonly packages: readonly string[];
}
