/**
 * Collects the output files of a run (EXEC-5). A program may have left anything: links, pipes, a million files, files that still grow.
 * Every file is checked on its opened descriptor and read within limits; skipped files are reported.
 */
import { closeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { compareText, compileGlob, COLLECTED, SKIP_MEANINGS, printable, type RunResult } from '#core';
import type { StagedSkill } from '../program-types.ts';
import { isSystemError, type DirectoryHandle } from '#platform';
import { invalid } from '../workspace/layout.ts';
import { openFolders, type WorkspaceFolders, type SkipReason } from './collect-folders.ts';
import { openOutputReader, type ReadOutput, type SaveOutput } from './collect-read.ts';
import { isInSkills, walkOutputs, type Glob, type WalkLimits, type WalkResult } from './collect-walk.ts';

type OutputFile = RunResult['output_files'][number];

const DEFAULT_OUTPUT_LIMITS = {
  maxFiles: 100,
  maxFileBytes: 4 * 1024 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
} as const;

const PRIMARY_BYTES = 32 * 1024;

/** The result of a collection. */
export interface Collected {
  /** Sorted by name. */
  readonly files: RunResult['output_files'];
  /** The first short text file by name, with its content. */
  readonly primary?: OutputFile;
  readonly saved: RunResult['artifact_files'];
  /** Sorted by name; truncated if there are many, with a warning that says how many more. */
  readonly skipped: RunResult['skipped_files'];
  readonly warnings: readonly string[];
}

export interface CollectSpec {
  /** Relative to the workspace; see `normaliseGlob`. */
  readonly globs: readonly string[];
  /** Includes the content of text files in the result. */
  readonly inline?: boolean;
  /** Returns the first short text file separately, with its content. */
  readonly showsPrimary?: boolean;
  readonly maxFiles?: number;
  readonly maxFileBytes?: number;
  readonly maxTotalBytes?: number;
  /** The limit on the inlined content of a file. */
  readonly maxInlineCharacters?: number;
  /** The patterns are defaults: one without a match is not reported. */
  readonly isAutomatic?: boolean;
  /** Skips files that were last changed before this time, in milliseconds of the file system's clock. */
  readonly changedSince?: number;
  /** The program failed: empty files are skipped. */
  readonly isFailedRun?: boolean;
  /** The skills that programs see mounted. Patterns below `skills/` match their files. */
  readonly skills?: readonly Pick<StagedSkill, 'name' | 'snapshot'>[];
  /** Path of the workspace inside the sandbox: links that start with it stay inside. */
  readonly programRoot?: string;
}

export interface CollectOptions {
  /** Stores a file as an artifact. It gets all bytes, or an error before the end if the file changes meanwhile. */
  readonly save?: SaveOutput;
  readonly signal?: AbortSignal;
  readonly confinement?: NonNullable<Parameters<typeof DirectoryHandle.tryOpen>[1]>;
}

/** Maximum number of skipped files that are listed. */
const MAX_LISTED = 100;
/** Maximum nesting; each folder on the way is held open. */
const MAX_DEPTH = 64;
const MAX_NAMES = 1_000_000;
const SLICE_MS = 10;
const MAX_BYTES_OF_CHARACTER = 4;

/** Collects files below a workspace on the host, sorted by name. Memory use does not depend on the number of files. */
export async function collectOutputs(
  root: string,
  spec: CollectSpec,
  { save, signal, confinement }: CollectOptions = {},
): Promise<Collected> {
  signal?.throwIfAborted();
  const { skills = [] } = spec;
  const folders = openWorkspace(root, confinement, skills);
  try {
    const maxFiles = spec.maxFiles ?? DEFAULT_OUTPUT_LIMITS.maxFiles;
    // A pattern that was asked for means every file; only the defaults pass over names that start with a dot.
    const globs = spec.globs.map((glob) => compileGlob(glob, { hidden: spec.isAutomatic !== true }));
    const limits: WalkLimits = {
      maxKept: maxFiles + MAX_LISTED,
      maxDepth: MAX_DEPTH,
      maxNames: MAX_NAMES,
      changedSince: spec.changedSince,
      skills: skills.map(({ name }) => name),
      signal,
    };
    const walked = await walkOutputs(folders, globs, limits);
    const inSkills = spec.isAutomatic === true ? [] : unnamedSkillFiles(globs);
    const left =
      inSkills.length === 0 ? 0 : (await walkOutputs(folders, inSkills, { ...limits, maxKept: 0 })).fileCount;
    const collection = openCollection(folders, { ...spec, maxFiles }, save);
    let sliceEnd = performance.now() + SLICE_MS;
    for (const name of walked.files) {
      signal?.throwIfAborted();
      await collection.take(name);
      if (performance.now() < sliceEnd) continue;
      await nextTurn();
      sliceEnd = performance.now() + SLICE_MS;
    }
    const collected = collection.result(walked);
    return left === 0 ? collected : { ...collected, warnings: [...collected.warnings, skillFilesText(left)] };
  } finally {
    folders.close();
  }
}

/** Patterns for the files of skills that these match without a folder in `skills/`: such files are counted, and not collected. */
function unnamedSkillFiles(globs: readonly Glob[]): readonly Glob[] {
  const named = globs.filter(({ prefix }) => isInSkills(prefix));
  return globs
    .filter((glob) => glob.prefix === '' && glob.reaches('skills'))
    .map((glob) => ({
      prefix: 'skills',
      reaches: (folder) => glob.reaches(folder),
      matches: (name) => glob.matches(name) && !named.some((one) => one.matches(name)),
    }));
}

function skillFilesText(count: number): string {
  const files = count === 1 ? '1 file of skills matches' : `${String(count)} files of skills match`;
  return `${files}, and only patterns that begin with skills/ collect such files`;
}

/** Lists all files of one folder of a workspace, also hidden ones. */
export async function listOutputs(root: string, folder: string, limits: WalkLimits): Promise<WalkResult> {
  const folders = openFolders(root);
  try {
    return await walkOutputs(folders, [compileGlob(`${folder}**`, { hidden: true })], limits);
  } finally {
    folders.close();
  }
}

function openWorkspace(
  root: string,
  confinement: NonNullable<Parameters<typeof DirectoryHandle.tryOpen>[1]> | undefined,
  skills: NonNullable<CollectSpec['skills']>,
): WorkspaceFolders {
  try {
    return openFolders(root, confinement, skills);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const hint = 'it was removed or is not a folder; start another run';
    throw invalid(root, `cannot be opened: ${error.code}`, hint, 'workspace');
  }
}

interface Collection {
  take(name: string): Promise<void>;
  result(walked: WalkResult): Collected;
}

function openCollection(
  folders: WorkspaceFolders,
  spec: CollectSpec & { readonly maxFiles: number },
  save: SaveOutput | undefined,
): Collection {
  const { inline: isInlined = false, maxFileBytes = DEFAULT_OUTPUT_LIMITS.maxFileBytes } = spec;
  const { maxInlineCharacters = maxFileBytes } = spec;
  const files: OutputFile[] = [];
  const saved: RunResult['artifact_files'][number][] = [];
  const skipped: RunResult['skipped_files'][number][] = [];
  const warnings: string[] = [];
  const readOutput = openOutputReader(
    Math.min(maxFileBytes, (isInlined ? maxInlineCharacters : 0) * MAX_BYTES_OF_CHARACTER),
  );
  let primary: OutputFile | undefined;
  let bytesLeft: number = spec.maxTotalBytes ?? DEFAULT_OUTPUT_LIMITS.maxTotalBytes;
  let charactersLeft = bytesLeft;

  const skip = (name: string, size: number, reason: SkipReason): void =>
    void skipped.push({ name, size_bytes: size, reason });
  const withTarget = (name: string, reason: SkipReason): SkipReason =>
    reason === 'link' ? folders.linkReason(name, spec.programRoot) : reason;
  const exceededLimit = (size: number): SkipReason | undefined => {
    if (size === 0 && spec.isFailedRun === true) return 'empty';
    if (size > maxFileBytes) return 'max-file-bytes';
    return size > bytesLeft ? 'max-total-bytes' : undefined;
  };

  const add = (name: string, size: number, isWhole: boolean, read: ReadOutput): void => {
    const { text, digest, isHeadWhole } = read;
    const file = { name, mime_type: read.mediaType, size_bytes: size, ref: `workspace://${name}`, digest };
    const isPrimary = spec.showsPrimary === true && primary === undefined && isPrimaryCandidate(file);
    if (isPrimary && isWhole && isHeadWhole && text !== undefined)
      primary = { ...file, content: text(Number.POSITIVE_INFINITY), truncated: false };
    if (!isInlined || text === undefined) {
      if (isInlined && !read.isBinary)
        warnings.push(`${shown(name)} is text, but not UTF-8, so its content is omitted`);
      files.push({ ...file, truncated: !isWhole });
      return;
    }
    const content = text(Math.min(charactersLeft, maxInlineCharacters));
    charactersLeft -= content.length;
    const truncated = !isWhole || !isHeadWhole || content.length < text(Number.POSITIVE_INFINITY).length;
    if (truncated) warnings.push(`the content of ${shown(name)} is truncated; the whole file is ${shown(file.ref)}`);
    files.push({ ...file, content, truncated });
  };

  /** Returns false if the file changed while it was read. */
  const takeOnce = async (name: string): Promise<boolean> => {
    const opened = folders.openFile(name);
    // It existed a moment ago, so a program is still changing files.
    if (opened.type === 'gone' || (opened.type === 'skipped' && opened.reason === 'changed')) return false;
    if (opened.type === 'skipped') {
      skip(name, opened.bytes, withTarget(name, opened.reason));
      return true;
    }
    const { descriptor, stats } = opened;
    try {
      const reason = exceededLimit(stats.size);
      if (reason !== undefined) skip(name, stats.size, reason);
      if (reason !== undefined && reason !== 'max-file-bytes') return true;
      const isWhole = reason === undefined;
      const read = await readOutput({ name, descriptor, stats, isWhole, save: isWhole ? save : undefined });
      if (read.type === 'changed') return false;
      if (read.type !== 'read') {
        skip(name, stats.size, 'unreadable');
        return true;
      }
      if (isWhole) bytesLeft -= stats.size;
      else if (save !== undefined) warnings.push(`cannot save truncated output file ${shown(name)}`);
      if (read.saved !== undefined) saved.push({ name: read.saved.name, version: read.saved.version });
      if (read.problem !== undefined) warnings.push(`${shown(name)} was not saved: ${read.problem}`);
      add(name, stats.size, isWhole, read);
      return true;
    } finally {
      closeSync(descriptor);
    }
  };

  return {
    async take(name) {
      if (files.length >= spec.maxFiles) skip(name, folders.sizeOf(name), 'max-files');
      // Try again if the file changed while it was read.
      else if (!(await takeOnce(name)) && !(await takeOnce(name))) skip(name, folders.sizeOf(name), 'changed');
    },
    result(walked) {
      for (const { name, reason } of walked.irregular.slice(0, MAX_LISTED))
        skip(name, reason === 'name' ? 0 : folders.sizeOf(name), withTarget(name, reason));
      const sorted = skipped.toSorted((a, b) => compareText(a.name, b.name));
      const all = [...warnings, ...describeSkipped(sorted), ...describeRemainder(walked, spec)];
      return { files, primary, saved, skipped: sorted, warnings: all };
    },
  };
}

function* describeRemainder(walked: WalkResult, { isAutomatic = false, globs }: CollectSpec): Iterable<string> {
  const files = walked.fileCount - walked.files.length;
  if (files > 0) yield `${COLLECTED.not}${SKIP_MEANINGS['max-files']}): ${String(files)} more files that match`;
  const irregular = walked.irregularCount - Math.min(walked.irregular.length, MAX_LISTED);
  if (irregular > 0) yield `${String(irregular)} more links, pipes, devices or invalid names match and are not listed`;
  if (walked.isCut) yield `the program left more than ${String(MAX_NAMES)} files; the rest was ignored`;
  for (const place of isAutomatic ? [] : walked.unmatched) yield `no file matches ${shown(globs[place] ?? '')}`;
}

function shown(name: string): string {
  return `"${printable(name)}"`;
}

const SHOWN_NAMES = 3;

/** One line per reason with the first names. */
function describeSkipped(skipped: readonly RunResult['skipped_files'][number][]): readonly string[] {
  return Object.entries(SKIP_MEANINGS).flatMap(([reason, meaning]) => {
    const names = skipped.filter((output) => output.reason === reason).map(({ name }) => shown(name));
    if (names.length === 0) return [];
    const more = names.length > SHOWN_NAMES ? ` and ${String(names.length - SHOWN_NAMES)} more` : '';
    const start = reason === 'max-file-bytes' ? COLLECTED.inPart : COLLECTED.not;
    return [`${start}${meaning}): ${names.slice(0, SHOWN_NAMES).join(', ')}${more}`];
  });
}

/** Whether a file is short enough to be shown as the answer of a run. */
function isPrimaryCandidate({ size_bytes: size }: Pick<OutputFile, 'size_bytes'>): boolean {
  return size > 0 && size <= PRIMARY_BYTES;
}
