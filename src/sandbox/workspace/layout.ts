/**
 * Where everything lies: `<base>/snapshots/<digest>/<skill>`, `<base>/temporary/<owner>` and a folder for each workspace with
 * `skills/ work/ work/inputs/ runs/ out/ metadata.json`.
 */
import { fchownSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import type { Identity } from '../../core/execution.ts';
import { quoted } from '../../core/text/text.ts';
import { tryOpenDirectory } from '../../platform/fs/directory-handle.ts';
import { ownerName, thisProcess } from '../../platform/fs/lock-owner.ts';
import { isSystemError, realPath } from '../../platform/fs/paths.ts';
import { makeFolders } from '../../platform/fs/make-folders.ts';

/** What a program may write to. */
export const WRITABLE_FOLDERS = ['work', 'out', 'runs'] as const;

/** Links in the folder of a skill: what its documents call `out/`, `work/` and `inputs/`. */
export const SKILL_LINKS: Readonly<Record<string, string>> = {
  out: '../../out',
  work: '../../work',
  inputs: '../../work/inputs',
};
export const SKILL_LINK_NAMES: readonly string[] = Object.keys(SKILL_LINKS);

export interface Base {
  /** Real and absolute. */
  readonly root: string;
  readonly snapshots: string;
  readonly temporary: string;
  /** What is known about trees by their looks. */
  readonly digestFile: string;
}

/** Others only pass through, and only where programs run as somebody else than we are. */
function folderMode(): number {
  return isRoot() ? 0o711 : 0o700;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Makes the base ready. Throws `workspace/invalid` where it is not ours alone. */
export function openBase(base: string): Base {
  if (!path.isAbsolute(base)) throw invalid(base, 'is not an absolute path', 'give an absolute path');
  try {
    makeFolders(path.dirname(base));
    makeFolder(base);
    refuseForeign(base);
    const root = realPath(base);
    const made: Base = {
      root,
      snapshots: path.join(root, 'snapshots'),
      temporary: path.join(root, 'temporary'),
      digestFile: path.join(root, 'digests.json'),
    };
    for (const folder of [made.snapshots, made.temporary]) {
      makeFolder(folder);
      refuseForeign(folder);
    }
    return made;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw ioFailed(base, error);
  }
}

/** Throws `workspace/invalid` where programs that run as somebody else could not reach the workspaces at all. */
export function refuseUnreachable({ root }: Base, identity: Identity | undefined): void {
  if (identity === undefined || !isRoot() || identity.uid === 0) return;
  for (let folder = root; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const stats = statSync(folder);
    const isOpen = (stats.mode & 0o001) !== 0 || (stats.uid === identity.uid && (stats.mode & 0o100) !== 0);
    if (isOpen) continue;
    throw invalid(
      root,
      `cannot be reached by the user ${String(identity.uid)}, because ${quoted(folder)} is closed`,
      'choose a folder for workspaces that every user can reach, such as one below /var/tmp',
    );
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: folderMode() });
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EEXIST') throw error;
  }
}

function refuseForeign(folder: string): void {
  const stats = lstatSync(folder);
  if (stats.isSymbolicLink()) throw invalid(folder, 'is a link', 'name the folder itself');
  if (!stats.isDirectory()) throw invalid(folder, 'is no folder', 'name a folder, or move away what is there');
  if (!isOurs(stats)) throw invalid(folder, 'belongs to another user', 'name a folder of your own');
  if ((stats.mode & 0o022) !== 0) throw invalid(folder, 'can be written by others', `close it: chmod go-w ${folder}`);
}

export function isOurs(stats: Stats): boolean {
  return process.getuid === undefined || stats.uid === process.getuid();
}

/** In a workspace, for pipes that lose their names as soon as they are open. */
export const PIPES_FOLDER = '.pipes';

/** A new folder that nobody but this process uses; if the process dies, the next one removes it. */
export function makeTemporary({ temporary }: Base): string {
  const unique = `${process.hrtime.bigint().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
  const folder = path.join(temporary, `${ownerName(thisProcess())}.${unique}`);
  // Others pass through to what is inside only after it was renamed away.
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

/** The folders of a workspace, made anew or completed. `root` exists. */
export function makeWorkspaceFolders(root: string, identity: Identity | undefined): void {
  const owner = isRoot() ? identity : undefined;
  makeInside(root, 'skills', { mode: isRoot() ? 0o755 : 0o700, owner: undefined });
  for (const name of WRITABLE_FOLDERS) makeInside(root, name, { mode: 0o700, owner });
  makeInside(path.join(root, 'work'), 'inputs', { mode: 0o700, owner });
}

export interface NewFolder {
  readonly mode: number;
  readonly owner: Identity | undefined;
}

/** Makes a folder in one that a program may write to: by descriptor, since the names may be exchanged. False: it is there. */
export function makeInside(above: string, name: string, { mode, owner }: NewFolder): boolean {
  const opened = tryOpenDirectory(above);
  if (opened.type !== 'directory') throw invalid(above, 'is no folder', 'close the workspace and open it again');
  try {
    const place = path.join(opened.directory.place, name);
    try {
      mkdirSync(place, { mode });
    } catch (error) {
      if (isSystemError(error) && error.code === 'EEXIST') return false;
      throw error;
    }
    if (owner !== undefined) giveFolder(place, owner);
    return true;
  } finally {
    opened.directory.close();
  }
}

function giveFolder(place: string, { uid, gid }: Identity): void {
  const opened = tryOpenDirectory(place);
  // Exchanged already by whoever owns the folder above; theirs it is, then.
  if (opened.type !== 'directory') return;
  try {
    fchownSync(opened.directory.descriptor, uid, gid);
  } finally {
    opened.directory.close();
  }
}

export function invalid(folder: string, problem: string, hint: string): SkillError {
  return new SkillError({
    code: 'workspace/invalid',
    message: `the folder ${quoted(folder, 200)} ${problem}`,
    hint,
    data: { path: folder },
  });
}

export function ioFailed(file: string, error: NodeJS.ErrnoException & { readonly code: string }): SkillError {
  return new SkillError({
    code: 'io/failed',
    message: `${quoted(file, 200)} cannot be written: ${error.code}`,
    hint: error.code === 'ENOSPC' || error.code === 'EDQUOT' ? 'make room on the disk' : 'look at its permissions',
    data: { path: file, cause: error.code },
    cause: error,
  });
}
