/** What a program should return, and the result as models and programs read it. */
import {
  normaliseGlob,
  refusedText,
  compareText,
  type ActionProblem,
  type ProgramEnd,
  type PackageLayer,
  type RunResult,
  type Action,
  type OfType,
  type Executor,
  type ProgramSpec,
  type Redactor,
  isProblem,
} from '#core';
import type { SetAside } from '../mounts/set-aside.ts';
import { collectOutputs } from '../outputs/collect.ts';
import { isSeparate } from '../workspace/layout.ts';
import type { RunFolder, Workspace } from '../workspace/workspace.ts';
import { spanned, type ExecutionParts } from './parts.ts';
import { redactedChunks } from './output-capture.ts';

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
  readonly maxFiles?: number;
  readonly maxFileBytes?: number;
  readonly maxTotalBytes?: number;
  /** True if no outputs were requested; then missing files are not reported. */
  readonly isAutomatic: boolean;
}

/** Where inputs are, relative to the workspace; scripts often write their results beside them. */
const INPUTS_FOLDER = 'work/inputs/';

const AUTOMATIC: OutputRequest = {
  globs: ['out/**', `${INPUTS_FOLDER}**`],
  inline: false,
  showsPrimary: true,
  save: false,
  artifactPrefix: '',
  maxFiles: 20,
  isAutomatic: true,
};

export type Collected = Awaited<ReturnType<typeof collectOutputs>>;
const NOTHING_COLLECTED: Collected = { files: [], saved: [], skipped: [], warnings: [] };

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

export interface RunParts {
  readonly end: ProgramEnd;
  readonly stdout: ShownStream;
  readonly stderr: ShownStream;
  readonly executor: Executor['name'];
  readonly isolation: RunResult['isolation'];
  readonly collected?: Collected;
  readonly stagedInputs?: readonly RunResult['staged_inputs'][number][];
  readonly layers?: readonly PackageLayer[];
  /** Warnings from preparing the run. */
  readonly warnings?: readonly string[];
}

/**
 * Merges both forms: patterns are concatenated, `outputs` decides names and limits, and either form can enable inlining or saving. Without
 * any request, `out/**` and what is new or changed beside the inputs is listed.
 */
export function readOutputRequest(
  parameters: NonNullable<OfType<Action, 'run_command'>['outputs']>,
  places: Parameters<typeof normaliseGlob>[1] = {},
): OutputRequest | ActionProblem {
  const { output_files: files = [], outputs = {}, omit_inline_content: isOmitted = false } = parameters;
  const declared = outputs.globs ?? [];
  const save = (parameters.save_as_artifacts ?? false) || (outputs.save ?? false);
  const artifactPrefix = outputs.name_template ?? parameters.artifact_prefix ?? '';
  const patterns = [...files, ...declared];
  if (patterns.length === 0) return { ...AUTOMATIC, showsPrimary: !isOmitted, save, artifactPrefix };
  const globs = new Set<string>();
  for (const text of patterns) {
    const reading = normaliseGlob(text, places);
    if (isProblem(reading)) return reading;
    globs.add(reading);
  }
  const inline = !isOmitted && (files.length > 0 || (outputs.inline ?? false));
  return {
    globs: [...globs],
    inline,
    // Contents are sent once, and not at all if the caller declined them.
    showsPrimary: !isOmitted && !inline && outputs.inline === undefined,
    save,
    artifactPrefix,
    maxFiles: outputs.max_files,
    maxFileBytes: outputs.max_file_bytes,
    maxTotalBytes: outputs.max_total_bytes,
    isAutomatic: false,
  };
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

function usedLayer({
  ecosystem,
  lockDigest,
  layerDigest,
  packages,
}: PackageLayer): NonNullable<RunResult['packages']>[number] {
  const names = packages.map(({ name, version }) => `${name} ${version}`);
  return { ecosystem, lock_digest: lockDigest, layer_digest: layerDigest, packages: names };
}

function byName<Named extends { readonly name: string }>(list: readonly Named[]): readonly Named[] {
  return list.toSorted((a, b) => compareText(a.name, b.name));
}

/** Collects the output files of a program and saves them as artifacts where that was requested. */
export async function collectFor(
  { workspace, outputs, redactor, startedAt }: PreparedProgram,
  end: ProgramEnd,
  { artifacts, onSpan, changedInputs }: ExecutionParts,
): Promise<Collected> {
  const { root } = workspace.place;
  const hide = (text: string): string => redactor?.text(text) ?? text;
  const collect = {
    name: 'workspace.collect',
    attributes: { patterns: outputs.globs.length },
    after: ({ files, skipped }: Collected) => ({ count: files.length, skipped: skipped.length }),
  } as const;
  const collected = await spanned(onSpan, collect, () =>
    collectOutputs(
      root,
      {
        ...outputs,
        isFailedRun: end.reason !== 'exited' || end.exitCode !== 0,
        programRoot: workspace.attached.root,
        skills: isSeparate(workspace.attached) ? workspace.place.skills : [],
        // Files that earlier runs left are not results of this one.
        changedSince: outputs.isAutomatic ? startedAt : undefined,
      },
      {
        save:
          outputs.save && artifacts !== undefined
            ? ({ name, chunks, mediaType }) =>
                artifacts.save(hide(outputs.artifactPrefix + name), redactedChunks(chunks, redactor), { mediaType })
            : undefined,
      },
    ),
  );
  if (outputs.isAutomatic)
    for (const { name } of [...collected.files, ...collected.skipped])
      if (name.startsWith(INPUTS_FOLDER)) changedInputs.add(name);
  const at = new Date().toISOString();
  const savedAs = collected.saved.map(({ name, version }) => `artifact://${name}@${String(version)}`);
  workspace.note((metadata) => ({
    ...metadata,
    outputs: [...metadata.outputs, { globs: outputs.globs, savedAs, limitsHit: collected.skipped.length > 0, at }],
  }));
  if (!outputs.save || artifacts !== undefined) return collected;
  return { ...collected, warnings: [...collected.warnings, 'artifacts are disabled, so the files are not saved'] };
}

/** The exit code of a program that left something that could not be renamed, and of one whose folders were replaced before it started. */
const UNSAFE = 125;

/** A program is no success if it left something that other tools run or obey. */
export function failLeft(end: ProgramEnd, isLeft: boolean): ProgramEnd {
  return isLeft && end.exitCode === 0 ? { ...end, exitCode: UNSAFE } : end;
}

/** For a program without a result, in which warnings would be shown. */
export function warnWithoutResult({ warnings, isLeft }: SetAside): void {
  if (isLeft) for (const warning of warnings) process.emitWarning(warning);
}

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
  /** To be called after the program: keeps what it wrote, and renames what it created in folders of the user that other tools run. */
  readonly finish: () => Promise<SetAside>;
  /** Removes secrets of this program, and those that others left in the workspace. */
  readonly redactor: Redactor | undefined;
  /** The cause of a failure by its output, with the command that fixes it. */
  readonly explain: (output: string, isTimeout: boolean) => Promise<string | undefined>;
}
