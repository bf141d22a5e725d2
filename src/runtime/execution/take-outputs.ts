/** Copies results to the host by the rules for writes: no link is followed, protected files are asked about, all files or none. */
import { rmdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';

import { askCallback } from '../../policy/approval/read-answer.ts';
import type { Approve, ApprovalRequest } from '../../core/approval.ts';
import { SkillError, isSkillError } from '../../core/errors.ts';
import { stableJson } from '../../core/json/stable-json.ts';
import { toRelativePath } from '../../core/path.ts';
import type { RelativePath } from '../../core/path.ts';
import { quoted } from '../../core/text/text.ts';
import { openConfined } from '../../platform/fs/confined-directory.ts';
import { writeBeneath } from '../../platform/fs/confined-write.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';
import { isInside, isPresent, isSystemError, realPath, tryRealPath } from '../../platform/fs/paths.ts';
import { sha256 } from '../../platform/hash.ts';
import { isNeverWritten, isProtectedPath } from '../../policy/protected-names.ts';
import { redacted } from '../secrets/redact-value.ts';
import type { Session } from '../session.ts';

export interface TakeOutputsOptions {
  /** Asked about files that other tools run or obey; absent: they are refused. */
  readonly approve?: Approve;
  readonly signal?: AbortSignal;
}

const MAX_FILES = 10_000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

interface OutputCopy {
  readonly name: RelativePath;
  readonly target: string;
  readonly bytes: Buffer;
  readonly isExecutable: boolean;
  /** The file that is replaced. */
  readonly before: Buffer | undefined;
}

/** Copies the files in `out/` to a host folder and returns the written paths. Skips links and special files. */
export async function takeOutputs(
  { execution }: Session,
  folder: string,
  options: TakeOutputsOptions,
): Promise<readonly string[]> {
  const workspace = await execution?.openWorkspace();
  if (workspace === undefined || execution === undefined) return [];
  // The files are the program's own; their names are not shown with a secret in them.
  const clean = (text: string): string => execution.redactor?.text(text) ?? text;
  try {
    const root = realTarget(folder);
    const copies = readOutputs(path.join(workspace.place.root, 'out'), root, folder);
    refuse(copies, execution.skillRoots.map(realPath));
    for (const copy of copies.filter(({ target }) => isProtectedPath(target)))
      await ask(copy, options, (request) =>
        execution.redactor === undefined ? request : redacted(request, execution.redactor),
      );
    if (realTarget(folder) !== root) throw failedAt(folder, 'it was replaced meanwhile', 'repeat the command');
    writeAll(root, copies);
    return copies.map(({ name }) => clean(path.join(folder, name)));
  } catch (error) {
    if (isSkillError(error) && error.code === 'policy/refused') throw refused(clean(error.message), clean(error.hint));
    if (isSkillError(error) && error.code === 'io/failed') throw notWritten(clean(error.message), error.hint);
    throw isSystemError(error) ? failedAt(folder, error.code, 'choose another folder') : error;
  }
}

/** The real path of a folder that need not exist yet. */
function realTarget(folder: string): string {
  const found = tryRealPath(folder);
  const parent = path.dirname(folder);
  return found ?? (parent === folder ? folder : path.join(realTarget(parent), path.basename(folder)));
}

/** Throws for a file that cannot be copied: part of the results would look like all of them. */
function readOutputs(out: string, root: string, folder: string): readonly OutputCopy[] {
  const opening = openConfined(out);
  if (opening.type === 'failed') return [];
  const there = openConfined(root);
  const { directory } = opening;
  try {
    const { files, isCut } = directory.list({ maxFiles: MAX_FILES, maxDepth: 32 });
    if (isCut)
      throw failedAt(folder, `out/ has more than ${String(MAX_FILES)} files, or names that cannot be used`, LARGE_HINT);
    return files.flatMap(({ path: name, type }) => {
      const relative = toRelativePath(name);
      if (type !== 'file' || relative.type === 'refused') return [];
      const file = directory.read(relative.path, { maxBytes: MAX_FILE_BYTES });
      if (file.type === 'failed') throw failedAt(folder, `out/${name}: ${file.detail ?? file.code}`, LARGE_HINT);
      const old =
        there.type === 'failed'
          ? undefined
          : there.directory.read(relative.path, { maxBytes: MAX_FILE_BYTES, allowHardLinks: true });
      const before = old?.type === 'read' ? old.bytes : undefined;
      const { bytes, isExecutable } = file;
      return [{ name: relative.path, target: path.join(root, name), bytes, isExecutable, before }];
    });
  } finally {
    directory.close();
    if (there.type !== 'failed') there.directory.close();
  }
}

const LARGE_HINT = 'collect fewer or smaller files, for example as one archive';

function refuse(copies: readonly OutputCopy[], skillRoots: readonly string[]): void {
  for (const { target } of copies) {
    const root = skillRoots.find((each) => isInside(target, each));
    if (root !== undefined)
      throw refusedAt(
        target,
        `it is in the skill folder ${quoted(root)}`,
        'choose a folder outside; install skills with skillwright install',
      );
    if (isNeverWritten(target)) throw refusedAt(target, 'other tools run what is there', 'choose another folder');
  }
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
    risk: 'high',
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
        throw failedAt(copy.target, result.detail ?? result.code, 'remove what is there, or choose another folder');
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
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
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
