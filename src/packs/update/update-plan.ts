/**
 * Plans an update per file from three digests: the base (the lock), the local file and the incoming file. A file that was changed, added
 * or deleted locally is a local edit. Only `force` loses local edits, and it lists them.
 */
import { listParentFolders, collisionKey, compareText, quoted } from '#core';
import type { LockedFile } from '../lock/lock-file.ts';
import { packRefusal, type PackRefusal } from '../problems.ts';

/**
 * `refuse`: refuses if there are local edits. `merge`: merges local and incoming edits, or reports a conflict. `keep`: keeps edited
 * files and updates all others. `force`: replaces all files.
 */
export const UPDATE_MODES = ['refuse', 'merge', 'keep', 'force'] as const;
export type UpdateMode = (typeof UPDATE_MODES)[number];

export type FileTable = Readonly<Record<string, LockedFile>>;

export interface UpdateRequest {
  /** The files of the lock: those of the source, never a merge result. */
  readonly base: FileTable;
  readonly local: FileTable;
  readonly incoming: FileTable;
  readonly mode: UpdateMode;
}

/** How a file changed on both sides; independent of the mode. */
type FileChange =
  | 'unchanged'
  | 'updated'
  | 'added'
  | 'removed'
  /** Changed locally; unchanged in the new version. */
  | 'edited-locally'
  | 'added-locally'
  | 'deleted-locally'
  /** Both sides made the same change. */
  | 'same-on-both-sides'
  /** Both sides edited the file; a merge by lines may succeed. */
  | 'edited-on-both-sides'
  | 'added-on-both-sides'
  | 'deleted-locally-updated'
  | 'edited-locally-removed'
  /** A local file whose name collides with a folder or a differently spelled name of the new version. */
  | 'name-taken';

export interface PlannedFile {
  readonly path: string;
  readonly change: FileChange;
  /** The origin of the resulting bytes. With a `conflict`, nothing is built. */
  readonly take: 'local' | 'incoming' | 'merge' | 'nothing' | 'conflict';
  /** The executable bit of the result, from the side that changed it. */
  readonly isExecutable: boolean;
  readonly base?: LockedFile;
  readonly local?: LockedFile;
  readonly incoming?: LockedFile;
}

export interface UpdatePlan {
  readonly mode: UpdateMode;
  /** Every path of the three tables, sorted. */
  readonly files: readonly PlannedFile[];
  readonly edited: readonly string[];
  /** Local edits that `force` discards; empty in other modes. */
  readonly lost: readonly string[];
  /** Paths to merge by lines, which can still conflict. */
  readonly toMerge: readonly string[];
  /** Paths of files that keep their local state and differ from the new version. */
  readonly kept: readonly string[];
  /** Whether the new version differs from the installed one. */
  readonly hasNews: boolean;
  /** Why the update is not possible in this mode. */
  readonly refusal?: PackRefusal;
}

export function planUpdate({ base, local, incoming, mode }: UpdateRequest): UpdatePlan {
  const [bases, locals, incomings] = [base, local, incoming].map((table) => new Map(Object.entries(table)));
  const paths = new Set([base, local, incoming].flatMap((table) => Object.keys(table)));
  const planned = [...paths]
    .sort(compareText)
    .map((path) =>
      planFile({ path, base: bases?.get(path), local: locals?.get(path), incoming: incomings?.get(path) }, mode),
    );
  const files = mode === 'force' ? planned : withNameCollisions(planned);
  const edited = files.filter(isLocalEdit).map(({ path }) => path);
  const refusal = findRefusal(files, mode);
  return {
    mode,
    files,
    edited,
    lost: mode === 'force' ? edited : [],
    toMerge: files.filter(({ take }) => take === 'merge').map(({ path }) => path),
    kept: files
      .filter(({ take, incoming: theirs }) => take === 'local' || (take === 'nothing' && theirs !== undefined))
      .map(({ path }) => path),
    hasNews: files.some(({ base: before, incoming: there }) => !isEqual(before, there)),
    refusal,
  };
}

type FileSides = Pick<PlannedFile, 'path' | 'base' | 'local' | 'incoming'>;

function isEqual(a: LockedFile | undefined, b: LockedFile | undefined): boolean {
  return a?.sha256 === b?.sha256 && a?.executable === b?.executable;
}

/** The local file is neither the installed nor the incoming one. */
function isLocalEdit({ base, local, incoming }: FileSides): boolean {
  return !isEqual(base, local) && !isEqual(local, incoming);
}

function planFile(file: FileSides, mode: UpdateMode): PlannedFile {
  const change = classifyChange(file);
  const take = chooseSide(file, change, mode);
  return { ...file, change, take, isExecutable: isExecutable(file, mode) };
}

function classifyChange({ base, local, incoming }: FileSides): FileChange {
  if (isEqual(base, local)) {
    if (isEqual(base, incoming)) return 'unchanged';
    return base === undefined ? 'added' : incoming === undefined ? 'removed' : 'updated';
  }
  if (isEqual(local, incoming)) return 'same-on-both-sides';
  if (isEqual(base, incoming)) {
    if (local === undefined) return 'deleted-locally';
    return base === undefined ? 'added-locally' : 'edited-locally';
  }
  if (local === undefined) return 'deleted-locally-updated';
  if (incoming === undefined) return 'edited-locally-removed';
  return base === undefined ? 'added-on-both-sides' : 'edited-on-both-sides';
}

function chooseSide({ base, local, incoming }: FileSides, change: FileChange, mode: UpdateMode): PlannedFile['take'] {
  const theirs = incoming === undefined ? 'nothing' : 'incoming';
  const ours = local === undefined ? 'nothing' : 'local';
  if (mode === 'force' || NOT_EDITED.has(change)) return theirs;
  if (mode === 'keep' || ONLY_OURS.has(change)) return ours;
  if (change !== 'edited-on-both-sides') return 'conflict';
  // If one side changed only the executable bit, the bytes come from the other side.
  if (local?.sha256 === base?.sha256) return 'incoming';
  return incoming?.sha256 === base?.sha256 || incoming?.sha256 === local?.sha256 ? 'local' : 'merge';
}

const NOT_EDITED = new Set<FileChange>(['unchanged', 'updated', 'added', 'removed', 'same-on-both-sides']);
const ONLY_OURS = new Set<FileChange>(['edited-locally', 'added-locally', 'deleted-locally']);

/** The executable bit of the side that changed it; `keep` keeps the local bit of edited files. */
function isExecutable(file: FileSides, mode: UpdateMode): boolean {
  const { base, local, incoming } = file;
  if (mode === 'force' || local === undefined) return incoming?.executable === true;
  if (incoming === undefined) return local.executable === true;
  const isOurs = local.executable !== base?.executable || (mode === 'keep' && isLocalEdit(file));
  return (isOurs ? local : incoming).executable === true;
}

/**
 * A kept local file conflicts with the new version if the new version has a folder of that name, a file as its parent folder, or a name
 * that differs only in spelling, which is the same file on many systems.
 */
function withNameCollisions(files: readonly PlannedFile[]): readonly PlannedFile[] {
  const theirs = files
    .filter(({ take }) => take === 'incoming' || take === 'merge')
    .map(({ path }) => collisionKey(path));
  const theirFiles = new Set(theirs);
  const theirFolders = new Set(theirs.flatMap(listParentFolders));
  return files.map((file) => {
    // Of a conflict, too: --keep would keep the local file.
    if (file.take !== 'local' && !(file.take === 'conflict' && file.local !== undefined)) return file;
    const name = collisionKey(file.path);
    const isTaken =
      theirFiles.has(name) ||
      theirFolders.has(name) ||
      listParentFolders(name).some((folder) => theirFiles.has(folder));
    return isTaken ? { ...file, change: 'name-taken', take: 'conflict' } : file;
  });
}

function findRefusal(files: readonly PlannedFile[], mode: UpdateMode): PackRefusal | undefined {
  if (mode !== 'merge' && mode !== 'keep' && mode !== 'force') {
    const edits = files.filter(isLocalEdit);
    const [first] = edits;
    if (first === undefined) return undefined;
    const linked = edits.find(({ local }) => local?.sha256 === '');
    if (linked !== undefined) return linkedRefusal(linked.path);
    return packRefusal('install/edited', `locally modified: ${listNames(edits)}`, first.path);
  }
  const conflicts = files.filter(({ take }) => take === 'conflict');
  const [first] = conflicts;
  if (first === undefined) return undefined;
  const more = conflicts.length === 1 ? '' : `, and ${String(conflicts.length - 1)} more`;
  const refusal = packRefusal(
    'install/conflict',
    `${quoted(first.path)} ${CONFLICTS[first.change] ?? ''}${more}`,
    first.path,
  );
  // Neither file can be kept beside the other.
  return first.change === 'name-taken' ? { ...refusal, hint: NAME_TAKEN_HINT } : refusal;
}

const NAME_TAKEN_HINT =
  'rename or remove your file and update again, or use --force, which keeps it in the previous version';

/** A link or a special file cannot be merged or kept. */
export function linkedRefusal(at: string): PackRefusal {
  const hint = 'put a file in its place and update again, or use --force, which keeps it in the previous version';
  return packRefusal('install/edited', `${quoted(at)} was replaced here by something other than a file`, {
    path: at,
    hint,
  });
}

const SHOWN_NAMES = 5;

function listNames(files: readonly PlannedFile[]): string {
  const names = files.slice(0, SHOWN_NAMES).map(({ path }) => quoted(path));
  return files.length <= SHOWN_NAMES
    ? names.join(', ')
    : `${names.join(', ')} and ${String(files.length - SHOWN_NAMES)} more`;
}

const CONFLICTS: Readonly<Partial<Record<FileChange, string>>> = {
  'added-on-both-sides': 'was added here, and the new version adds a different file with the same name',
  'deleted-locally-updated': 'was deleted here, and the new version changes it',
  'edited-locally-removed': 'was changed here, and the new version removes it',
  'name-taken': 'collides with a file or folder of the new version',
};
