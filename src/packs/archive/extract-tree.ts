/** Extracts files into a folder. All writes use descriptors: a path that another process puts in the way is refused and never followed. */
import { fchmodSync, mkdirSync, readdirSync, rmdirSync, openSync, closeSync } from 'node:fs';
import path from 'node:path';

import { quoted } from '#core';
import { DirectoryHandle, isSystemError, removeTree, OPEN_FLAGS, writeAll } from '#platform';
import { findRefusal, packRefusal, refused, systemProblem, type PackRefusal } from '../problems.ts';

/** Creates what it writes. Throws system errors. */
export interface TreeWriter {
  folder(at: string): void;
  file(at: string, isExecutable: boolean): FileWriter;
}

/** Runs `write` on an empty or new folder. If it throws, restores the previous state of the folder. */
export async function extractTree(
  to: string,
  write: (tree: TreeWriter) => Promise<Omit<Extracted, 'type'>>,
): Promise<Extracted | PackRefusal> {
  let isNew: boolean;
  let top: DirectoryHandle;
  try {
    isNew = isMade(to);
    top = openEmptyFolder(to);
  } catch (error) {
    return writingRefusal(error, to);
  }
  const open: { readonly name: string; readonly directory: DirectoryHandle }[] = [{ name: '', directory: top }];
  const created = new Set<string>();
  /** Top-level names that we created. Only these may be removed. */
  const tops = new Set<string>();
  /** Opens the folder and creates its missing parents. */
  const goTo = (parts: readonly string[]): DirectoryHandle => {
    let shared = 0;
    while (shared < parts.length && open[shared + 1]?.name === parts[shared]) shared += 1;
    for (const { directory } of open.splice(shared + 1)) directory.close();
    for (const [place, part] of parts.entries()) {
      if (place < shared) continue;
      const at = parts.slice(0, place + 1).join('/');
      const parent = open[place]?.directory ?? top;
      if (!created.has(at)) mkdirSync(`${parent.place}/${part}`);
      if (place === 0) tops.add(part);
      const directory = parent.child(part);
      open.push({ name: part, directory });
      // Sets the mode independently of the umask.
      if (!created.has(at)) fchmodSync(directory.descriptor, 0o755);
      created.add(at);
    }
    return open.at(-1)?.directory ?? top;
  };
  const tree: TreeWriter = {
    folder: (at) => void goTo(at.split('/')),
    file(at, isExecutable) {
      const parts = at.split('/');
      const folder = goTo(parts.slice(0, -1));
      const name = parts.at(-1) ?? '';
      const writer = openNewFile(`${folder.place}/${name}`, isExecutable ? 0o755 : 0o644);
      if (parts.length === 1) tops.add(name);
      return writer;
    },
  };
  try {
    return { type: 'extracted', ...(await write(tree)) };
  } catch (error) {
    const left = await tryUndo(async () => {
      // Removes through the descriptor, because the path may refer to another folder by now.
      for (const name of tops) await removeTree(path.join(top.place, name));
      if (isNew) rmdirSync(to);
    });
    const refusal = writingRefusal(error, to);
    return left === undefined
      ? refusal
      : { ...refusal, message: `${refusal.message}; the partly extracted files could not be removed: ${left}` };
  } finally {
    for (const { directory } of open) directory.close();
  }
}

/** Returns false if the path exists. */
function isMade(to: string): boolean {
  try {
    mkdirSync(to);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Checks through the descriptor, so that the checked folder is the one that is written to. */
function openEmptyFolder(to: string): DirectoryHandle {
  const directory = DirectoryHandle.open(to);
  if (readdirSync(directory.place).length === 0) return directory;
  directory.close();
  throw refused('install/root', `${quoted(to, 400)} is not an empty folder`, to);
}

/** Maps a system error to a refusal. Rethrows other errors. */
function writingRefusal(error: unknown, to: string): PackRefusal {
  const refusal = findRefusal(error);
  if (refusal !== undefined) return refusal;
  if (!isSystemError(error)) throw error;
  const problem = systemProblem(error.code) ?? 'install/root';
  return packRefusal(problem, `${quoted(to, 400)} cannot be written: ${error.code}`, to);
}

/** The error code if the files cannot be removed. */
async function tryUndo(undo: () => Promise<void>): Promise<string | undefined> {
  try {
    await undo();
    return undefined;
  } catch (error) {
    if (isSystemError(error)) return error.code;
    throw error;
  }
}

export interface Extracted {
  readonly type: 'extracted';
  readonly files: number;
  readonly bytes: number;
}

export interface FileWriter {
  write(bytes: Uint8Array): void;
  close(): void;
}

/** Creates a file that is written in chunks. It has exactly `mode`, whatever the umask. Throws system errors. */
export function openNewFile(file: string, mode: number): FileWriter {
  const descriptor = openSync(file, OPEN_FLAGS.newFile, mode);
  try {
    fchmodSync(descriptor, mode);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return { write: (bytes) => writeAll(descriptor, bytes), close: () => closeSync(descriptor) };
}
