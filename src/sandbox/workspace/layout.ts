/**
 * The layout on disk: `<base>/snapshots/<digest>/<skill>`, `<base>/temporary/<owner>`, and a folder per workspace with
 * `skills/ work/ work/inputs/ runs/ out/ home/<skill>/ metadata.json`.
 */
import { chmodSync, fchmodSync, fchownSync, lstatSync, mkdirSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';

import { quoted, SkillError, type AttachedWorkspace, type ProgramSpec, type RunResult } from '#core';
import { isInside, isSystemError, makeFolders, ownerName, realPath, thisProcess, DirectoryHandle } from '#platform';
import { TEMPORARY } from '../process/program-environment.ts';
import type { Identity } from '../program-types.ts';

/** Folders that all programs of a workspace may write to. */
export const WRITABLE_FOLDERS = ['work', 'out', 'runs'] as const;

/** Contains a private folder for each skill. */
export const HOMES_FOLDER = 'home';

/** Contains the folders of programs that get secrets. */
export const AREAS_FOLDER = 'private';

export const METADATA_FILE = 'metadata.json';

/** The folders that a program may write to, relative to the workspace. */
export function writableFolders({ home, folders = [] }: Pick<ProgramSpec, 'home' | 'folders'>): readonly string[] {
  return [...WRITABLE_FOLDERS, ...(home === undefined ? [] : [home]), ...folders];
}

/** Names at the top of a workspace that are ours. Inputs cannot be put there, and outputs are not collected from there. */
const OWN_NAMES: ReadonlySet<string> = new Set(['skills', HOMES_FOLDER, AREAS_FOLDER, METADATA_FILE]);

/** Whether files of programs and of the user may have this name at the top of a workspace. */
export function isFreeName(name: string): boolean {
  return !name.startsWith('.') && !OWN_NAMES.has(name.toLowerCase());
}

/** The host folders in which the files of a program count against its limits. Folders of the user do not. */
export function countedFolders(
  root: string,
  { mounts = [], ...spec }: Pick<ProgramSpec, 'home' | 'folders' | 'mounts'>,
): readonly string[] {
  const own = mounts.filter(({ source, access }) => access === 'write' && isInside(source, root));
  return [...writableFolders(spec).map((name) => path.join(root, name)), ...own.map(({ source }) => source)];
}

/** Links in the folder of a skill for the paths `out/`, `work/` and `inputs/` of its documentation. */
export const SKILL_LINKS = { out: '../../out', work: '../../work', inputs: '../../work/inputs' } as const;
export const SKILL_LINK_NAMES = ['out', 'work', 'inputs'] as const satisfies readonly (keyof typeof SKILL_LINKS)[];

/** Where the links lead, in a workspace or in another folder that holds its own `out` and `work`. */
export function linkedFolders(out: string, work = out): Readonly<Record<keyof typeof SKILL_LINKS, string>> {
  return { out: path.join(out, 'out'), work: path.join(work, 'work'), inputs: path.join(work, 'work/inputs') };
}

export interface Base {
  /** Absolute, with links resolved. */
  readonly root: string;
  readonly snapshots: string;
  readonly temporary: string;
  /** Cache of tree digests by fingerprint. */
  readonly digestFile: string;
}

/** Programs of another user have to traverse the folders, which only root can arrange. */
function folderMode(): number {
  return isRoot() ? 0o711 : 0o700;
}

/** Kinds of isolation under which programs have a file system and a network of their own, in which one folder can cover another. */
const SEPARATE: ReadonlySet<RunResult['isolation']> = new Set(['bubblewrap', 'namespaces', 'container']);

/** Otherwise programs see the files of the host at their own paths. */
export function isSeparate({ capabilities }: Pick<AttachedWorkspace, 'capabilities'>): boolean {
  return SEPARATE.has(capabilities.isolation);
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Creates the base folders. Throws `workspace/invalid` where another user owns or can write them. */
export function openBase(base: string): Base {
  if (!path.isAbsolute(base)) throw invalid(base, 'is not an absolute path', 'use an absolute path');
  try {
    makeFolders(path.dirname(base));
    makeFolder(base);
    refuseForeign(base);
    const root = realPath(base);
    const created: Base = {
      root,
      snapshots: path.join(root, 'snapshots'),
      temporary: path.join(root, 'temporary'),
      digestFile: path.join(root, 'digests.json'),
    };
    for (const folder of [created.snapshots, created.temporary]) {
      makeFolder(folder);
      refuseForeign(folder);
    }
    return created;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw ioFailed(base, error);
  }
}

/** Throws `workspace/invalid` where programs of another user could not reach the workspaces. */
export function refuseUnreachable({ root }: Base, identity: Identity | undefined): void {
  if (identity === undefined || !isRoot() || identity.uid === 0) return;
  for (let folder = root; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const stats = statSync(folder);
    const isOpen = (stats.mode & 0o001) !== 0 || (stats.uid === identity.uid && (stats.mode & 0o100) !== 0);
    if (isOpen) continue;
    throw invalid(
      root,
      `cannot be reached by user ${String(identity.uid)}, because ${quoted(folder)} denies access`,
      'choose a folder for workspaces that every user can reach, such as one below /var/tmp',
    );
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: folderMode() });
    // Whatever the umask is: programs of another user traverse it.
    chmodSync(folder, folderMode());
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
  }
}

function refuseForeign(folder: string): void {
  const stats = lstatSync(folder);
  if (stats.isSymbolicLink()) throw invalid(folder, 'is a symbolic link', 'use the folder itself');
  if (!stats.isDirectory()) throw invalid(folder, 'is not a folder', 'use a folder, or move the file away');
  if (!isOurs(stats)) throw invalid(folder, 'belongs to another user', 'use a folder of your own');
  if ((stats.mode & 0o022) !== 0) throw invalid(folder, 'can be written by other users', `run chmod go-w ${folder}`);
}

export function isOurs(stats: Stats): boolean {
  return process.getuid === undefined || stats.uid === process.getuid();
}

/** Folder of a workspace for named pipes, which are unlinked as soon as they are open. */
export const PIPES_FOLDER = '.pipes';

/** Creates a folder for this process alone. If the process dies, the next one removes the folder. */
export function makeTemporary({ temporary }: Base): string {
  const unique = `${process.hrtime.bigint().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
  const folder = path.join(temporary, `${ownerName(thisProcess())}.${unique}`);
  // Private until its content is renamed to its final place.
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/** Like `makeTemporary`, in a folder that may have to be created. Throws `workspace/invalid`. */
export function makeTemporaryFolder(base: string): string {
  return makeTemporary(openBase(base));
}

/** Creates the missing folders of a workspace in `root`, which exists. */
export function makeWorkspaceFolders(root: string, identity: Identity | undefined): void {
  const owner = isRoot() ? identity : undefined;
  makeInside(root, 'skills', { mode: isRoot() ? 0o755 : 0o700, owner: undefined });
  for (const name of WRITABLE_FOLDERS) makeInside(root, name, { mode: 0o700, owner });
  makeInside(path.join(root, 'work'), 'inputs', { mode: 0o700, owner });
  // Programs of another user have to traverse it, but must not list or change it.
  makeInside(root, HOMES_FOLDER, { mode: isRoot() ? 0o711 : 0o700, owner: undefined });
}

/** Creates the private folder of a skill and returns its path relative to the workspace. */
export function makeHome(root: string, name: string, identity: Identity | undefined): string {
  const folder = { mode: 0o700, owner: isRoot() ? identity : undefined };
  makeInside(path.join(root, HOMES_FOLDER), name, folder);
  makeInside(path.join(root, HOMES_FOLDER, name), TEMPORARY, folder);
  return `${HOMES_FOLDER}/${name}`;
}

export interface NewFolder {
  readonly mode: number;
  readonly owner: Identity | undefined;
}

/** Creates a folder in one that programs can write. Works by descriptor, because programs may swap names. Returns false if it exists. */
export function makeInside(parent: string, name: string, { mode, owner }: NewFolder): boolean {
  const opened = DirectoryHandle.tryOpen(parent);
  if (opened.type !== 'directory') throw invalid(parent, 'is not a folder', 'close the workspace and open it again');
  try {
    const folder = path.join(opened.directory.place, name);
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      if (isSystemError(error) && error.code === 'EEXIST') return false;
      throw error;
    }
    openFolderTo(folder, { mode, owner });
    return true;
  } finally {
    opened.directory.close();
  }
}

/** Sets mode and owner. The mode again, because the umask may have taken away what programs of another user need. */
function openFolderTo(folder: string, { mode, owner }: NewFolder): void {
  const opened = DirectoryHandle.tryOpen(folder);
  // The owner of the parent folder has already replaced it.
  if (opened.type !== 'directory') return;
  try {
    fchmodSync(opened.directory.descriptor, mode);
    if (owner !== undefined) fchownSync(opened.directory.descriptor, owner.uid, owner.gid);
  } finally {
    opened.directory.close();
  }
}

export function invalid(folder: string, problem: string, hint: string, what = 'folder'): SkillError {
  return new SkillError({
    code: 'workspace/invalid',
    message: `the ${what} ${quoted(folder, 200)} ${problem}`,
    hint,
    data: { path: folder },
  });
}

export function ioFailed(file: string, error: NodeJS.ErrnoException & { readonly code: string }): SkillError {
  return new SkillError({
    code: 'io/failed',
    message: `cannot write ${quoted(file, 200)}: ${error.code}`,
    hint: error.code === 'ENOSPC' || error.code === 'EDQUOT' ? 'free some disk space' : 'check its permissions',
    data: { path: file, cause: error.code },
    cause: error,
  });
}
