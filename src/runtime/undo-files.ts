/** Restores the project files that a run wrote, edited or deleted: by its record, or by its observations. */
import { lstatSync } from 'node:fs';
import path from 'node:path';

import { printable, toRelativePath, typedWord, type Problem, type RelativePath, isProblem } from '#core';
import { isRunId, projectOfRun, readRun, verifyChain, verifyRun, type ReadRun } from '#journal';
import { moveBeneath, namesIn, readSealKey, removeLeftovers, sha256, writeBeneath } from '#platform';
import { writeProtection } from '#policy';
import { deleteFile, keepReplaced, readResolved, resolvePath, type previewWrite } from '#project';
import {
  recordedChanges,
  withInterrupted,
  type EarlierFile,
  type FileChange,
  type RecordedChanges,
  type UndoneFile,
  type UnusableSubagent,
} from './recorded-changes.ts';

type ResolvedPath = Parameters<typeof previewWrite>[0];

const MAX_BYTES = 64 * 1024 * 1024;

interface UndoOptions {
  readonly cwd: string;
  readonly home: string | undefined;
  /** Where the project of `cwd` records its runs. */
  readonly directory: string;
  /** Reports what would be done without doing it. */
  readonly dryRun: boolean;
}

interface UndoneRun {
  readonly run: string;
  /** Where the files are. */
  readonly project: string;
  readonly files: readonly UndoneFile[];
  /** The run that it continues, which is not undone. */
  readonly continues: string | undefined;
}

type UndoProblem = Problem<'run/invalid' | 'run/elsewhere'>;

/**
 * Restores the files that a recorded run and its subagents changed. Nothing is changed if a record was changed or is gone (`run/invalid`), or if
 * nothing tells where the run worked (`run/elsewhere`).
 */
export function undoRun(folder: string, { cwd, home, directory, dryRun }: UndoOptions): UndoneRun | UndoProblem {
  const sealKey = readSealKey(home);
  const { problems } = verifyChain(path.dirname(folder), { home, sealKey });
  // A record that was copied here is not in the chain; it is verified by itself.
  const check = (place: string): string | undefined => {
    const { status } = verifyRun(place, { sealKey });
    if (status === 'tampered' || status === 'unreadable') return status;
    const isChanged = problems.some(({ code, run }) => code !== UNLISTED && run === path.basename(place));
    return isChanged ? 'tampered' : undefined;
  };
  const record = readRun(folder);
  const { info } = record;
  const problem = check(folder);
  if (problem !== undefined)
    return {
      code: 'run/invalid',
      message: `the record of run ${info.run} is ${problem}; no file was changed`,
      hint: `see skillwright runs verify ${info.run}; deleted and replaced files are in .agent/trash`,
    };
  if (record.state === 'running')
    return {
      code: 'run/invalid',
      message: `run ${info.run} is still running; no file was changed`,
      hint: 'stop it first',
    };
  const recorded = recordedChanges(record, check);
  const [unusable] = recorded.unusable;
  if (unusable !== undefined) return subagentProblem(info.run, unusable);
  const { seal } = verifyRun(folder, { sealKey });
  const isCopied = problems.some(({ code, run }) => code === UNLISTED && run === path.basename(folder));
  const project = projectOfRun(info, { folder, cwd, directory, isSealed: seal === 'good', isCopied });
  if (project === undefined) return unknownProject(record, recorded.changes);
  const { changes, unclear } = withInterrupted(project, recorded);
  if (!dryRun) removeKilledCopies(project, recorded, info.startedAt);
  const [first] = record.lines;
  const earlier = first?.event.type === 'run-start' ? first.event.agent?.resumes?.run : undefined;
  const continues = earlier !== undefined && isRunId(earlier) ? earlier : undefined;
  return { run: info.run, project, files: [...undoFiles(project, changes, dryRun), ...unclear], continues };
}

const UNLISTED = 'chain/run-unlisted';

/** Without the changes of one subagent, those of the others may not be the last ones. */
function subagentProblem(parent: string, { run, problem }: UnusableSubagent): UndoProblem {
  return {
    code: 'run/invalid',
    message: `the record of subagent ${run === '' ? 'without an id' : run} of run ${parent} is ${problem}; no file was changed`,
    hint: `${problem === 'missing' ? 'put its folder back' : `see skillwright runs verify ${run}`}; deleted and replaced files are in .agent/trash`,
  };
}

function unknownProject({ info }: ReadRun, changes: readonly FileChange[]): UndoProblem {
  const names = changes.slice(0, 10).map((change) => printable(change.path));
  const more = changes.length > names.length ? ` and ${String(changes.length - names.length)} more` : '';
  return {
    code: 'run/elsewhere',
    message: `run ${info.run} did not work in this folder; no file was changed. It changed ${names.join(', ') || 'no file'}${more}`,
    hint: `run this command in its project${info.project === undefined ? '' : `, ${printable(info.project)}`}`,
  };
}

/** Removes unfinished copies that a killed undo, or the killed run, left beside the files and in the trash. */
function removeKilledCopies(project: string, { changes, interrupted }: RecordedChanges, startedAt: string): void {
  const files = [...changes.map((change) => change.path), ...interrupted.map(({ action }) => action.path)];
  const trash = '.agent/trash';
  const from = `${startedAt.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
  const kept = namesIn(path.join(project, trash)).filter((name) => name >= from);
  const folders = new Set(files.map((file) => path.posix.dirname(file)));
  for (const folder of [
    trash,
    ...[...folders].flatMap((one) => [one, ...kept.map((name) => `${trash}/${name}/${one}`)]),
  ]) {
    const read = toRelativePath(path.posix.normalize(folder));
    if (folder === '.') removeLeftovers(project, '');
    else if (!isProblem(read)) removeLeftovers(project, read);
  }
}

/**
 * Restores each file that still has the content that the run left, with its permissions. A file that someone else changed, between two
 * changes of the run or after them, is left alone. It can be repeated: a file that is already restored is `unchanged`.
 */
export function undoFiles(project: string, changes: readonly FileChange[], dryRun = false): readonly UndoneFile[] {
  return changes.map((change) => {
    const step = planUndo(project, change);
    const undone = 'act' in step ? (dryRun ? { result: step.result } : step.act()) : step;
    return {
      path: change.path,
      ...undone,
      ...missingBits(project, change, { ...undone, isPlanned: 'act' in step && dryRun }),
    };
  });
}

const SPECIAL_BITS = 0o7000;
const BIT_NAMES = [
  [0o4000, 'setuid'],
  [0o2000, 'setgid'],
  [0o1000, 'sticky'],
] as const;

/** Undo sets no setuid, setgid or sticky bit: only a file that is moved back from the trash, with its owner, keeps them. */
function missingBits(
  project: string,
  { path: file, before }: FileChange,
  { result, isPlanned }: Undone & { readonly isPlanned: boolean },
): { readonly reason?: string } {
  const { specialBits = 0, mode = 0, kept } = before ?? {};
  if (specialBits === 0 || (result !== 'restored' && result !== 'unchanged')) return {};
  const source = isPlanned && kept !== undefined ? kept : file;
  const lost = specialBits & ~(lstatSync(path.join(project, source), { throwIfNoEntry: false })?.mode ?? 0);
  if (lost === 0) return {};
  const names = BIT_NAMES.filter(([bit]) => (lost & bit) !== 0).map(([, name]) => name);
  const modeText = (specialBits | mode).toString(8);
  return { reason: `without its ${names.join(' and ')} bit; to set it: chmod ${modeText} ${typedWord(file)}` };
}

type Undone = Omit<UndoneFile, 'path'>;

/** What is to be done with a file, or that nothing is. */
type UndoStep = Undone | { readonly result: 'restored' | 'removed'; readonly act: () => Undone };

function planUndo(project: string, change: FileChange): UndoStep {
  const { path: file, before, after, between } = change;
  const earlier = { earlier: before?.kept };
  const placed = resolvePath(file, { project, skills: [] }, 'write');
  if (placed.type === 'refused') return conflict(placed.failure.message);
  const { relative } = placed;
  if (relative === '' || writeProtection(relative) === 'never') return conflict('tools never write this file');
  // The record has the path with its links resolved: a link that is there now leads to a file that the run did not write.
  if (placed.shown !== file) return conflict('it is now a link, or in a linked folder', { yours: file, ...earlier });
  const current = currentFile(placed);
  if (isAsBefore(current, before, placed)) return restoreMode(placed, relative, change, current);
  if (current?.digest === undefined && current !== undefined)
    return conflict(`it cannot be read (${current.problem})`, { yours: file, ...earlier });
  if (current?.digest !== after?.digest) return conflict('it changed after the run', { yours: file, ...earlier });
  if (between !== undefined)
    return conflict('it was changed between two changes of the run, not by its file tools', {
      yours: between.kept,
      ...earlier,
    });
  if (before === undefined)
    return {
      result: 'removed',
      act() {
        const removed = deleteFile({ type: 'delete_file', path: file }, placed);
        return removed.type === 'failed' ? conflict(removed.message) : { result: 'removed' };
      },
    };
  return planRestore(placed, relative, { ...change, before }, current);
}

/** A file whose content cannot be read has a problem instead of a digest. */
interface CurrentFile {
  readonly digest?: string;
  readonly problem: string;
  readonly mode: number;
  readonly bytes: number;
}

/** Undefined if there is no such file. */
function currentFile(placed: ResolvedPath): CurrentFile | undefined {
  const read = readResolved(placed, MAX_BYTES);
  if (read.type === 'failed' && read.code === 'file/missing') return undefined;
  const stats = lstatSync(path.join(placed.root, placed.relative), { throwIfNoEntry: false });
  const known = { mode: (stats?.mode ?? 0) & 0o777, bytes: stats?.size ?? 0 };
  return read.type === 'read'
    ? { ...known, digest: `sha256:${sha256(read.bytes)}`, problem: '' }
    : { ...known, problem: read.code };
}

/** A file without a digest is as before if it has its size and its copy is no longer in the trash. */
function isAsBefore(
  current: CurrentFile | undefined,
  before: EarlierFile | undefined,
  { root }: ResolvedPath,
): boolean {
  if (current === undefined || before === undefined) return current === before;
  if (before.digest !== undefined) return current.digest === before.digest;
  const isMoved = before.kept !== undefined && !isThere(root, before.kept);
  return isMoved && before.bytes !== undefined && current.bytes === before.bytes;
}

function isThere(root: string, relative: string): boolean {
  return lstatSync(path.join(root, relative), { throwIfNoEntry: false }) !== undefined;
}

/** Whether the permissions are those that the run left, and not those from before it. */
function isModeChanged({ before, after }: FileChange, current: CurrentFile | undefined): boolean {
  return (
    before?.mode !== undefined && current !== undefined && current.mode !== before.mode && current.mode === after?.mode
  );
}

/** The content is as before; the run may have created it again with other permissions. */
function restoreMode(
  placed: ResolvedPath,
  relative: RelativePath,
  change: FileChange,
  current: CurrentFile | undefined,
): UndoStep {
  if (!isModeChanged(change, current) || current?.digest === undefined) return { result: 'unchanged' };
  const read = readResolved(placed, MAX_BYTES);
  if (read.type !== 'read') return conflict(`it cannot be read (${read.code})`);
  return { result: 'restored', act: () => write(placed, relative, read.bytes, { current, mode: change.before?.mode }) };
}

function planRestore(
  placed: ResolvedPath,
  relative: RelativePath,
  change: FileChange & { readonly before: EarlierFile },
  current: CurrentFile | undefined,
): UndoStep {
  const { before } = change;
  const { kept } = before;
  if (kept === undefined) return conflict('the record does not say where its earlier content is');
  if (!isThere(placed.root, kept)) return conflict(`its earlier content, ${kept}, is no longer in the trash`);
  const place = resolvePath(kept, { project: placed.root, skills: [] }, 'read');
  if (place.type === 'refused' || place.relative === '') return conflict(`the kept copy ${kept} cannot be read`);
  if (place.shown !== kept) return conflict(`the kept copy ${kept} is now a link`);
  const from = place.relative;
  const stats = lstatSync(path.join(placed.root, from), { throwIfNoEntry: false });
  if (before.digest === undefined) {
    if (before.bytes !== undefined && stats?.size !== before.bytes)
      return conflict(`the kept copy ${kept} has changed`);
    return { result: 'restored', act: () => move(placed, from, relative, current) };
  }
  const read = readResolved(place, MAX_BYTES);
  if (read.type !== 'read') return conflict(`the kept copy ${kept} cannot be read`);
  if (`sha256:${sha256(read.bytes)}` !== before.digest) return conflict(`the kept copy ${kept} has changed`);
  // A deleted file is moved back as it is; a copy of replaced content has permissions of its own.
  const isOriginal = before.mode === undefined || ((stats?.mode ?? 0) & 0o777) === before.mode;
  const hasBits = ((stats?.mode ?? 0) & SPECIAL_BITS) !== 0;
  if ((current === undefined || hasBits) && isOriginal)
    return { result: 'restored', act: () => move(placed, from, relative, current) };
  const mode = current === undefined || isModeChanged(change, current) ? before.mode : undefined;
  return { result: 'restored', act: () => write(placed, relative, read.bytes, { current, mode }) };
}

/** What the file has now goes to the trash first. */
function move(placed: ResolvedPath, from: RelativePath, to: RelativePath, current: CurrentFile | undefined): Undone {
  if (current !== undefined) {
    const read = readResolved(placed, MAX_BYTES);
    const kept = read.type === 'read' ? keepReplaced(placed, read.bytes) : undefined;
    if (typeof kept !== 'string') return conflict('its current content could not be kept in the trash');
  }
  const moved = moveBeneath(placed.root, from, to, { replaces: current !== undefined });
  return moved.type === 'failed' ? conflict(`it cannot be written (${moved.code})`) : { result: 'restored' };
}

function write(
  { root }: ResolvedPath,
  relative: RelativePath,
  bytes: Uint8Array,
  { current, mode }: { readonly current: CurrentFile | undefined; readonly mode: number | undefined },
): Undone {
  const written = writeBeneath(root, relative, bytes, {
    mayReplace: (found) => (found === undefined ? undefined : `sha256:${found}`) === current?.digest,
    exactMode: mode,
  });
  return written.type === 'failed' ? conflict(`it cannot be written (${written.code})`) : { result: 'restored' };
}

function conflict(reason: string, both: Pick<UndoneFile, 'yours' | 'earlier'> = {}): Undone {
  return { result: 'conflict', reason, ...both };
}
