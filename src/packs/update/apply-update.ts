/**
 * Builds the tree of an update plan in a separate folder. All bytes are compared with those that the plan was made from, so that an edit
 * between planning and building stops the update instead of getting lost. After a refusal, the caller removes the partial result.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { compareText, listParentFolders, parentFolder, problemError, quoted, type SkillError } from '#core';
import { isProgram, orRefusal, pause, sha256, walkOpened, type TreeEntry } from '#platform';
import { openNewFile, type FileWriter } from '../archive/extract-tree.ts';
import type { LockedFile } from '../lock/lock-file.ts';
import { mergeText, type MergeConflict } from './merge-text.ts';
import { MAX_MERGED_BYTES, isMergeable } from '../root/originals.ts';
import { orSystemRefusal, packRefusal, refused, type PackRefusal, type TreeRefusal } from '../problems.ts';
import { linkedRefusal, type FileTable, type PlannedFile, type UpdatePlan } from './update-plan.ts';
import { keepsModes } from '../root/keeps-modes.ts';

export interface BuildUpdateRequest {
  readonly plan: UpdatePlan;
  /** Absolute paths of folders. */
  readonly local: string;
  readonly incoming: string;
  /** Returns the bytes of a file as it was installed, if they are still available. The bytes are checked against the lock. */
  readonly base?: (path: string, file: LockedFile) => Uint8Array | undefined;
  /** Must not exist; its parent folder must be private to this process. */
  readonly to: string;
  readonly signal?: AbortSignal;
}

export interface BuiltUpdate {
  readonly type: 'built';
  /** The built files by path. The lock stores the files of the new version instead, as the base of the next update. */
  readonly files: FileTable;
}

/** Why the two sides of a file cannot be merged. */
export interface FileConflict {
  readonly path: string;
  readonly reason: 'lines' | 'binary' | 'too-large' | 'base-unknown';
  /** The conflicting lines, if the reason is `lines`. */
  readonly conflicts?: readonly MergeConflict[];
}

/** A refusal with the code `install/conflict` and all conflicts. */
export interface UpdateConflict extends PackRefusal {
  readonly conflicts: readonly FileConflict[];
}

/** The number of entries between two yields to the event loop. */
const SLICE = 64;

export async function buildUpdate(request: BuildUpdateRequest): Promise<BuiltUpdate | PackRefusal | UpdateConflict> {
  if (request.plan.refusal !== undefined) return request.plan.refusal;
  const built = await orSystemRefusal(
    () => orRefusal(() => build(request)),
    'the update cannot be built',
    'install/unwritable',
  );
  return 'problem' in built ? sideRefusal(built) : built;
}

function sideRefusal({ problem, path: at, message }: TreeRefusal): PackRefusal {
  const isChanged = problem === 'changed' || problem === 'gone';
  return packRefusal(isChanged ? 'source/changed' : 'install/root', message, at === '' ? undefined : at);
}

type Side = 'local' | 'incoming';
type FileEntry = Extract<TreeEntry, { type: 'file' }>;

async function build({ plan, to, signal, ...request }: BuildUpdateRequest): Promise<BuiltUpdate | UpdateConflict> {
  const rows = new Map(plan.files.map((row) => [row.path, row]));
  const files = new Map<string, LockedFile>();
  const folders = new Set(['']);
  /** Folders of the new version that contain a file, directly or nested. */
  const usedFolders = new Set([
    '',
    ...plan.files.flatMap((row) => (row.incoming === undefined ? [] : listParentFolders(row.path))),
  ]);
  const toMerge = { local: new Map<string, Buffer>(), incoming: new Map<string, Buffer>() };

  const makeFolder = (at: string): void => {
    if (folders.has(at)) return;
    makeFolder(parentFolder(at));
    mkdirSync(path.join(to, at), { mode: 0o755 });
    folders.add(at);
  };
  const openFile = ({ path: at, isExecutable }: PlannedFile): FileWriter => {
    makeFolder(parentFolder(at));
    if (folders.has(at)) throw refused('install/conflict', `${quoted(at)} is a folder in the new version`, at);
    return openNewFile(path.join(to, at), isExecutable ? 0o755 : 0o644);
  };
  const finishFile = ({ path: at, isExecutable }: PlannedFile, { sha256: hash, bytes }: LockedFile): void => {
    files.set(at, { sha256: hash, bytes, ...(isExecutable ? { executable: true } : {}) });
  };
  /** Reads a file once, so that the compared bytes are the written bytes. Local files are compared even if they are not copied. */
  const copyFile = (entry: FileEntry, row: PlannedFile, expected: LockedFile, side: Side): void => {
    const isTaken = row.take === side;
    const pieces: Buffer[] = [];
    const isMerged = row.take === 'merge' && expected.bytes <= MAX_MERGED_BYTES;
    // An unused file of the new version need not be read; an unused local file could have a new edit.
    if (!isTaken && !isMerged && side === 'incoming') return;
    const write = isTaken ? openFile(row) : undefined;
    try {
      const hash = entry.hash((bytes) => {
        write?.write(bytes);
        if (isMerged) pieces.push(Buffer.from(bytes));
      });
      if (hash !== expected.sha256) throw changedDuringUpdate(side, entry.path);
    } finally {
      write?.close();
    }
    if (isMerged) toMerge[side].set(entry.path, Buffer.concat(pieces));
    if (isTaken) finishFile(row, expected);
  };
  /** Copies the files that the plan takes from one side. Refuses if that side no longer matches the plan. */
  const copySide = async (side: Side): Promise<void> => {
    const seen = new Set<string>();
    let count = 0;
    for (const entry of walkOpened(request[side])) {
      count += 1;
      if (count % SLICE === 0) await pause(signal);
      if (entry.type === 'link') throw problemError(linkRefusal(side, entry.path));
      if (entry.type === 'folder') {
        // Folders with files are created with their first file.
        if (side === 'incoming' && !usedFolders.has(entry.path)) makeFolder(entry.path);
        continue;
      }
      const row = rows.get(entry.path);
      const expected = row?.[side];
      const isSameMode = isProgram(entry.stats) === (expected?.executable === true);
      if (row === undefined || expected === undefined || (!isSameMode && keepsModes(request[side])))
        throw changedDuringUpdate(side, entry.path);
      copyFile(entry, row, expected, side);
      seen.add(entry.path);
    }
    for (const { path: at, [side]: expected } of rows.values())
      if (expected !== undefined && !seen.has(at)) throw changedDuringUpdate(side, at);
  };
  const mergeFile = (at: string): readonly FileConflict[] => {
    const row = rows.get(at);
    const [local, incoming] = [toMerge.local.get(at), toMerge.incoming.get(at)];
    if (row === undefined || local === undefined || incoming === undefined) return [{ path: at, reason: 'too-large' }];
    if (!isMergeable(local) || !isMergeable(incoming)) return [{ path: at, reason: 'binary' }];
    const base = row.base === undefined ? undefined : request.base?.(at, row.base);
    if (base === undefined || sha256(base) !== row.base?.sha256) return [{ path: at, reason: 'base-unknown' }];
    if (!isMergeable(base)) return [{ path: at, reason: 'binary' }];
    const merge = mergeText({ base: text(base), local: text(local), incoming: text(incoming) });
    if (merge.type === 'conflict') return [{ path: at, reason: 'lines', conflicts: merge.conflicts }];
    const bytes = Buffer.from(merge.text, 'utf8');
    const write = openFile(row);
    try {
      write.write(bytes);
    } finally {
      write.close();
    }
    finishFile(row, { sha256: sha256(bytes), bytes: bytes.length });
    return [];
  };

  mkdirSync(to, { mode: 0o755 });
  await copySide('incoming');
  // `force` discards all local files, so they need not be read.
  if (plan.mode !== 'force') await copySide('local');
  const conflicts = plan.toMerge.flatMap(mergeFile);
  if (conflicts.length > 0) return toConflictRefusal(conflicts);
  return { type: 'built', files: Object.fromEntries([...files].toSorted(([a], [b]) => compareText(a, b))) };
}

function linkRefusal(side: Side, at: string): PackRefusal {
  if (side === 'incoming') return packRefusal('archive/link', `${quoted(at)} is a link`, at);
  return linkedRefusal(at);
}

function changedDuringUpdate(side: Side, at: string): SkillError {
  const where = side === 'local' ? 'the installed skill' : 'the new version';
  return refused('source/changed', `${quoted(at)} of ${where} changed during the update`, at);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

const REASONS: Readonly<Record<FileConflict['reason'], string>> = {
  lines: 'has conflicting changes here and in the new version',
  binary: 'was changed here and in the new version, and is not a text file',
  'too-large': `was changed here and in the new version, and is too large to merge (limit: ${String(MAX_MERGED_BYTES)} bytes)`,
  'base-unknown': 'was changed here and in the new version, and the installed original is no longer available',
};

/** The conflicts of a refusal; empty if it has another reason. */
export function conflictsIn(refusal: PackRefusal | UpdateConflict): readonly FileConflict[] {
  return 'conflicts' in refusal ? refusal.conflicts : [];
}

function toConflictRefusal(conflicts: readonly FileConflict[]): UpdateConflict {
  const [first = { path: '', reason: 'lines' as const }] = conflicts;
  const more = conflicts.length === 1 ? '' : `, and ${String(conflicts.length - 1)} more`;
  const message = `${quoted(first.path)} ${REASONS[first.reason]}${describeFirstConflict(first)}${more}`;
  return { ...packRefusal('install/conflict', message, first.path), conflicts };
}

function describeFirstConflict({ conflicts = [] }: FileConflict): string {
  const [first] = conflicts;
  return first === undefined ? '' : ` (first conflict at local line ${String(first.local.line)})`;
}
