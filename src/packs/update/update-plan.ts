/**
 * What an update does to every file, decided from digests alone: what was installed (the lock), what lies here, what is brought. A file
 * that a person changed, added or deleted here is a local edit. In every mode but `force` no local edit is lost; `force` loses those
 * that it lists.
 */
import { compareText } from '../../core/diagnostic.ts';
import { foldersOf } from '../../core/path.ts';
import { quoted } from '../../core/text/text.ts';
import type { LockedFile } from '../lock/lock.ts';
import { collisionKey } from '../sources/portable-name.ts';
import { packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';

/**
 * `refuse`: not where there are local edits. `merge`: local edits and new ones together, or a conflict. `keep`: edited files stay as
 * they are here, all others become the new ones. `force`: all files become the new ones.
 */
export const UPDATE_MODES = ['refuse', 'merge', 'keep', 'force'] as const;
export type UpdateMode = (typeof UPDATE_MODES)[number];

export type FileTable = Readonly<Record<string, LockedFile>>;

export interface UpdateRequest {
  /** The files of the lock: what upstream had, never what a merge made of it. */
  readonly base: FileTable;
  readonly local: FileTable;
  readonly incoming: FileTable;
  readonly mode: UpdateMode;
}

/** What became of a file on both sides, whatever the mode. */
export type FileChange =
  | 'unchanged'
  | 'updated'
  | 'added'
  | 'removed'
  /** Edited, added or deleted here; the new version has it as before. */
  | 'edited-locally'
  | 'added-locally'
  | 'deleted-locally'
  /** The same was done on both sides. */
  | 'same-on-both-sides'
  /** Edited on both sides: its lines may go together. */
  | 'edited-on-both-sides'
  | 'added-on-both-sides'
  | 'deleted-locally-updated'
  | 'edited-locally-removed'
  /** A file here, and a folder or another spelling of its name there. */
  | 'name-taken';

export interface PlannedFile {
  readonly path: string;
  readonly change: FileChange;
  /** Where the bytes of the result come from. `conflict`: nobody can say, and nothing is built. */
  readonly take: 'local' | 'incoming' | 'merge' | 'nothing' | 'conflict';
  /** Whether the result may be run; from the side that changed it. */
  readonly isExecutable: boolean;
  readonly base?: LockedFile;
  readonly local?: LockedFile;
  readonly incoming?: LockedFile;
}

export interface UpdatePlan {
  readonly mode: UpdateMode;
  /** Every path of the three tables, sorted. */
  readonly files: readonly PlannedFile[];
  /** Paths of local edits. */
  readonly edited: readonly string[];
  /** Local edits that are not in the result; only `force` has any. */
  readonly lost: readonly string[];
  /** Paths of which lines must be merged, which can still fail. */
  readonly toMerge: readonly string[];
  /** Something of the new version comes in; without it an update changes nothing here. */
  readonly hasNews: boolean;
  /** Why nothing may be done, in this mode. The table says what it is about. */
  readonly refusal?: PackRefusal;
}

export function planUpdate({ base, local, incoming, mode }: UpdateRequest): UpdatePlan {
  const tables = { base: new Map(Object.entries(base)), local: new Map(Object.entries(local)) };
  const brought = new Map(Object.entries(incoming));
  const paths = [...new Set([...tables.base.keys(), ...tables.local.keys(), ...brought.keys()])].sort(compareText);
  const sides = paths.map((path): FileSides => {
    const [before, here, there] = [tables.base.get(path), tables.local.get(path), brought.get(path)];
    return {
      path,
      ...(before === undefined ? {} : { base: before }),
      ...(here === undefined ? {} : { local: here }),
      ...(there === undefined ? {} : { incoming: there }),
    };
  });
  const planned = sides.map((file) => planFile(file, mode));
  const files = mode === 'force' ? planned : withTakenNames(planned);
  const edited = files.filter(isLocalEdit).map(({ path }) => path);
  const refusal = refusalOf(files, mode);
  return {
    mode,
    files,
    edited,
    lost: mode === 'force' ? edited : [],
    toMerge: files.filter(({ take }) => take === 'merge').map(({ path }) => path),
    hasNews: files.some(({ base: before, incoming: there }) => !isEqual(before, there)),
    ...(refusal === undefined ? {} : { refusal }),
  };
}

type FileSides = Pick<PlannedFile, 'path' | 'base' | 'local' | 'incoming'>;

function isEqual(a: LockedFile | undefined, b: LockedFile | undefined): boolean {
  return a?.sha256 === b?.sha256 && a?.executable === b?.executable;
}

/** What is here is neither what was installed nor what is brought. */
function isLocalEdit({ base, local, incoming }: FileSides): boolean {
  return !isEqual(base, local) && !isEqual(local, incoming);
}

function planFile(file: FileSides, mode: UpdateMode): PlannedFile {
  const change = changeOf(file);
  const take = takeOf(file, change, mode);
  return { ...file, change, take, isExecutable: isExecutable(file, mode) };
}

function changeOf({ base, local, incoming }: FileSides): FileChange {
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

function takeOf({ base, local, incoming }: FileSides, change: FileChange, mode: UpdateMode): PlannedFile['take'] {
  const theirs = incoming === undefined ? 'nothing' : 'incoming';
  const ours = local === undefined ? 'nothing' : 'local';
  switch (change) {
    case 'unchanged':
    case 'updated':
    case 'added':
    case 'removed':
    case 'same-on-both-sides':
      return theirs;
    case 'edited-locally':
    case 'added-locally':
    case 'deleted-locally':
      return mode === 'force' ? theirs : ours;
    case 'edited-on-both-sides':
      if (mode === 'force' || mode === 'keep') break;
      // Where one side changed only whether it may be run, its bytes are those of the other.
      if (local?.sha256 === base?.sha256) return 'incoming';
      return incoming?.sha256 === base?.sha256 || incoming?.sha256 === local?.sha256 ? 'local' : 'merge';
    case 'added-on-both-sides':
    case 'deleted-locally-updated':
    case 'edited-locally-removed':
    case 'name-taken':
      break;
  }
  return mode === 'force' ? theirs : mode === 'keep' ? ours : 'conflict';
}

/** From the side that changed it; a file that is kept whole keeps this too. */
function isExecutable(file: FileSides, mode: UpdateMode): boolean {
  const { base, local, incoming } = file;
  if (mode === 'force' || local === undefined) return incoming?.executable === true;
  if (incoming === undefined) return local.executable === true;
  const isOurs = local.executable !== base?.executable || (mode === 'keep' && isLocalEdit(file));
  return (isOurs ? local : incoming).executable === true;
}

/**
 * A file that stays from here cannot stand where the new version has a folder, below one of its files, or beside another spelling of
 * its own name, which is the same file on many systems.
 */
function withTakenNames(files: readonly PlannedFile[]): readonly PlannedFile[] {
  const theirs = files
    .filter(({ take }) => take === 'incoming' || take === 'merge')
    .map(({ path }) => collisionKey(path));
  const theirFiles = new Set(theirs);
  const theirFolders = new Set(theirs.flatMap(foldersOf));
  return files.map((file) => {
    if (file.take !== 'local') return file;
    const name = collisionKey(file.path);
    const isTaken =
      theirFiles.has(name) || theirFolders.has(name) || foldersOf(name).some((folder) => theirFiles.has(folder));
    return isTaken ? { ...file, change: 'name-taken', take: 'conflict' } : file;
  });
}

function refusalOf(files: readonly PlannedFile[], mode: UpdateMode): PackRefusal | undefined {
  if (mode === 'refuse') {
    const edits = files.filter(isLocalEdit);
    const [first] = edits;
    if (first === undefined) return undefined;
    return packRefusal('install/edited', `changed here: ${named(edits)}`, first.path);
  }
  const conflicts = files.filter(({ take }) => take === 'conflict');
  const [first] = conflicts;
  if (first === undefined) return undefined;
  const more = conflicts.length === 1 ? '' : `, and ${String(conflicts.length - 1)} more`;
  return packRefusal('install/conflict', `${quoted(first.path)} ${CONFLICTS[first.change] ?? ''}${more}`, first.path);
}

const SHOWN_NAMES = 5;

function named(files: readonly PlannedFile[]): string {
  const names = files.slice(0, SHOWN_NAMES).map(({ path }) => quoted(path));
  return files.length <= SHOWN_NAMES
    ? names.join(', ')
    : `${names.join(', ')} and ${String(files.length - SHOWN_NAMES)} more`;
}

const CONFLICTS: Readonly<Partial<Record<FileChange, string>>> = {
  'added-on-both-sides': 'was added here, and the new version adds another file of that name',
  'deleted-locally-updated': 'was deleted here, and the new version changes it',
  'edited-locally-removed': 'was changed here, and the new version removes it',
  'name-taken': 'stands where the new version has a folder, a file, or another spelling of its name',
};
