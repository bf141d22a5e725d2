/** Copies results to the host by the rules for writes: no link is followed, protected files are asked about, all files or none. */
import { lstatSync, rmdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';

import { askCallback, resultProtection } from '#policy';
import {
  fileProblemText,
  isSkillError,
  quoted,
  SkillError,
  stableJson,
  type ApprovalRequest,
  type Approve,
  type Redactor,
} from '#core';
import {
  isInside,
  isPresent,
  makeFolders,
  openConfined,
  realPath,
  sha256,
  tryRealPath,
  writeBeneath,
  isSystemError,
  quietly,
} from '#platform';
import { redacted } from '../secrets/redact-value.ts';
import { MAX_FILE_BYTES, isNeverResult, type ResultFile } from './results.ts';
import type { Session } from '../session.ts';

export interface TakeOutputsOptions {
  /** Asked about files that other tools run or obey; absent: they are refused. */
  readonly approve?: Approve;
  readonly signal?: AbortSignal;
  /** Whether files with other content are replaced (default: true). */
  readonly mayReplace?: boolean;
}

export interface WriteResultsOptions extends TakeOutputsOptions {
  /** Folders of skills, into which nothing is copied. */
  readonly skillRoots?: readonly string[];
  /** Removes secrets from what is shown. */
  readonly redactor?: Redactor | undefined;
}

interface OutputCopy extends ResultFile {
  readonly target: string;
  /** The file that is replaced. */
  readonly before: Buffer | undefined;
}

/** Copies results of a session to a host folder and returns the written paths. */
export function takeOutputs(
  { execution }: Pick<Session, 'execution'>,
  files: readonly ResultFile[],
  folder: string,
  options: TakeOutputsOptions,
): Promise<readonly string[]> {
  const { redactor, skillRoots = [] } = execution ?? {};
  return writeResults(files, folder, { ...options, skillRoots, redactor });
}

/** Writes all files below a folder, or none, and returns their paths. Throws `policy/refused` and `io/failed`. */
export async function writeResults(
  files: readonly ResultFile[],
  folder: string,
  { skillRoots = [], redactor, ...options }: WriteResultsOptions,
): Promise<readonly string[]> {
  if (files.length === 0) return [];
  // The files are the program's own; their names are not shown with a secret in them.
  const clean = (text: string): string => redactor?.text(text) ?? text;
  try {
    const root = realTarget(folder);
    const copies = withTargets(files, root);
    refuse(copies, skillRoots.map(realPath));
    if (options.mayReplace === false) refuseReplacing(copies);
    for (const copy of copies.filter(needsApproval))
      await ask(copy, options, (request) => (redactor === undefined ? request : redacted(request, redactor)));
    if (realTarget(folder) !== root) throw failedAt(folder, 'it was replaced meanwhile', 'repeat the command');
    writeAll(root, copies);
    return copies.map(({ name }) => clean(path.join(folder, name)));
  } catch (error) {
    if (isSkillError(error) && error.code === 'policy/refused') throw refused(clean(error.message), clean(error.hint));
    if (isSkillError(error) && error.code === 'io/failed') throw notWritten(clean(error.message), error.hint);
    throw isSystemError(error) ? failedAt(folder, error.code, 'choose another folder') : error;
  }
}

/** Whether a folder has none of the files, or has them with the same content. */
export function isFreeFor(files: readonly ResultFile[], folder: string): boolean {
  const stats = quietly(() => lstatSync(folder));
  if (stats !== undefined && !stats.isDirectory()) return false;
  return stats === undefined || withTargets(files, realTarget(folder)).every((copy) => !isReplacing(copy));
}

/** The real path of a folder that need not exist yet. */
function realTarget(folder: string): string {
  const found = tryRealPath(folder);
  const parent = path.dirname(folder);
  return found ?? (parent === folder ? folder : path.join(realTarget(parent), path.basename(folder)));
}

function withTargets(files: readonly ResultFile[], root: string): readonly OutputCopy[] {
  const there = openConfined(root);
  try {
    return files.map((file) => {
      const old =
        there.type === 'failed'
          ? undefined
          : there.directory.read(file.name, { maxBytes: MAX_FILE_BYTES, allowHardLinks: true });
      return { ...file, target: path.join(root, file.name), before: old?.type === 'read' ? old.bytes : undefined };
    });
  } finally {
    if (there.type !== 'failed') there.directory.close();
  }
}

function isReplacing({ bytes, before, target }: OutputCopy): boolean {
  return before === undefined ? isPresent(target) : !before.equals(bytes);
}

function refuseReplacing(copies: readonly OutputCopy[]): void {
  const existing = copies.find(isReplacing);
  if (existing !== undefined)
    throw failedAt(existing.target, 'it exists and has other content', 'choose another folder, or remove the file');
}

function refuse(copies: readonly OutputCopy[], skillRoots: readonly string[]): void {
  const inSkills = new Map<string, string | undefined>();
  for (const { target } of copies) {
    const root = skillRoots.find((each) => isInside(target, each)) ?? findSkill(path.dirname(target), inSkills);
    if (root !== undefined || resultProtection(target) === 'skill')
      throw refusedAt(
        target,
        root === undefined ? 'it is in a folder of skills' : `it is in the skill folder ${quoted(root)}`,
        'choose a folder outside; install skills with skillwright install',
      );
    if (isNeverResult(target)) throw refusedAt(target, 'other tools run what is there', 'choose another folder');
  }
}

/** The innermost folder with a SKILL.md, of this one and those around it. */
function findSkill(folder: string, known: Map<string, string | undefined>): string | undefined {
  if (known.has(folder)) return known.get(folder);
  const parent = path.dirname(folder);
  const isSkill = ['SKILL.md', 'skill.md'].some((name) => isPresent(path.join(folder, name)));
  const found = isSkill ? folder : parent === folder ? undefined : findSkill(parent, known);
  known.set(folder, found);
  return found;
}

/** Files that other tools run or obey: some always, and those of a build where one is replaced. */
function needsApproval(copy: OutputCopy): boolean {
  const protection = resultProtection(copy.target);
  return protection === 'build' ? isReplacing(copy) : protection !== 'free';
}

/** Asks about one file, with its change. Anything but a yes refuses all files. */
async function ask(
  copy: OutputCopy,
  { approve, signal }: TakeOutputsOptions,
  shown: (request: ApprovalRequest) => ApprovalRequest,
): Promise<void> {
  const { target, bytes, before } = copy;
  const content = bytes.toString('utf8');
  const action = { type: 'write_file', path: target, content } as const;
  const request: ApprovalRequest = {
    id: `sha256:${sha256(stableJson({ action, bytes: sha256(bytes), before: before === undefined ? '' : sha256(before) }))}`,
    tool: 'write_file',
    // `--yes` answers for a build file, and `--auto` does not.
    risk: resultProtection(target) === 'build' ? 'medium' : 'high',
    action,
    rule: 'the output of a program',
    origin: { layer: 'built-in', where: '' },
    detail: { kind: 'write', path: target, before: before?.toString('utf8'), after: content },
    affects: [target],
    scopes: ['once'],
    coverage: stableJson(['output', target, sha256(bytes)]),
  };
  const answer =
    approve === undefined
      ? 'nobody'
      : await askCallback((options) => approve(shown(request), options), request, { signal });
  if (typeof answer === 'object' && answer.verdict === 'yes') return;
  throw refusedAt(
    target,
    'other tools run or obey it, so it needs approval',
    `approve it with --approve ${request.id.replace(/^sha256:/, '')}, or choose another folder and copy it yourself`,
  );
}

/** Writes every file, or restores what was there. A file that changed since it was shown is not replaced. */
function writeAll(root: string, copies: readonly OutputCopy[]): void {
  const written: OutputCopy[] = [];
  const folders = missingFolders(root, copies);
  try {
    makeFolders(root);
    for (const copy of copies) {
      const before = copy.before === undefined ? undefined : sha256(copy.before);
      const mode = copy.isExecutable ? 0o777 : 0o666;
      const result = writeBeneath(root, copy.name, copy.bytes, { mode, mayReplace: (digest) => digest === before });
      if (result.type === 'failed')
        throw failedAt(copy.target, `it ${fileProblemText(result)}`, 'remove what is there, or choose another folder');
      written.push(copy);
    }
  } catch (error) {
    for (const { name, before, target } of written.reverse()) {
      if (before === undefined) unlinkSync(target);
      else writeBeneath(root, name, before);
    }
    for (const folder of folders) removeEmpty(folder);
    throw error;
  }
}

/** Folders that the copies will create, innermost first. */
function missingFolders(root: string, copies: readonly OutputCopy[]): readonly string[] {
  const found = new Set<string>();
  for (const { target } of [...copies, { target: path.join(root, 'file') }])
    for (let folder = path.dirname(target); !found.has(folder) && !isPresent(folder); folder = path.dirname(folder))
      found.add(folder);
  return [...found].toSorted((a, b) => b.length - a.length);
}

function removeEmpty(folder: string): void {
  quietly(() => rmdirSync(folder));
}

function failedAt(file: string, cause: string, hint: string): SkillError<'io/failed'> {
  return notWritten(`the files cannot be written to ${quoted(file, 200)}: ${cause}`, hint);
}

function notWritten(message: string, hint: string): SkillError<'io/failed'> {
  return new SkillError({ code: 'io/failed', message, hint, data: { path: 'out', cause: message } });
}

function refusedAt(file: string, reason: string, hint: string): SkillError<'policy/refused'> {
  return refused(`${quoted(file, 200)} is not written, and neither are the other outputs: ${reason}`, hint);
}

function refused(message: string, hint: string): SkillError<'policy/refused'> {
  return new SkillError({ code: 'policy/refused', message, hint, data: { rule: 'output', approval: '', command: '' } });
}
