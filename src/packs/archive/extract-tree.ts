/** Files written below one folder that is ours, by descriptors: whatever somebody puts in their way is refused, never followed. */
import { closeSync, fchmodSync, mkdirSync, openSync, readdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';

import { PackRefused, packRefusal, systemProblem, refused } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { HAS_DESCRIPTOR_PATHS } from '../../platform/fs/confined-directory.ts';
import { descriptorPath } from '../../platform/fs/confined-open.ts';
import { openNewFile } from '../../platform/fs/new-file.ts';
import type { FileWriter } from '../../platform/fs/new-file.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';
import { FOREIGN_FOLDER } from '../../platform/fs/open-flags.ts';

export interface TreeWriter {
  folder(at: string): void;
  file(at: string, isExecutable: boolean): FileWriter;
  /** Lets go of all folders. */
  close(): void;
  /** Before `close`. Removes what was written: the folder is empty, or gone where it was not there before. */
  undo(): Promise<void>;
}

interface OpenFolder {
  readonly descriptor: number;
  /** Starts the names of what lies in it, for the system. */
  readonly place: string;
  readonly name: string;
}

/** Throws `PackRefused` where the folder is not empty, a link, or cannot be made. */
export function openTreeWriter(to: string): TreeWriter {
  const isNew = isMade(to);
  const top = openEmptyFolder(to);
  const held: OpenFolder[] = [top];
  const made = new Set<string>();
  /** Names of the top that are ours: what others put there is not ours to remove. */
  const tops = new Set<string>();

  /** The folder held open last is the one asked for; those on the way are made. */
  const goTo = (parts: readonly string[]): OpenFolder => {
    let shared = 0;
    while (shared < parts.length && held[shared + 1]?.name === parts[shared]) shared += 1;
    for (const left of held.splice(shared + 1)) closeSync(left.descriptor);
    for (const [place, part] of parts.entries()) {
      if (place < shared) continue;
      const at = parts.slice(0, place + 1).join('/');
      const inside = `${(held[place] ?? top).place}/${part}`;
      if (!made.has(at)) mkdirSync(inside);
      if (place === 0) tops.add(part);
      const folder = hold(inside, part);
      held.push(folder);
      // Whatever mask the process has.
      if (!made.has(at)) fchmodSync(folder.descriptor, 0o755);
      made.add(at);
    }
    return held.at(-1) ?? top;
  };

  return {
    folder(at) {
      goTo(at.split('/'));
    },
    file(at, isExecutable) {
      const parts = at.split('/');
      const mode = isExecutable ? 0o755 : 0o644;
      const folder = goTo(parts.slice(0, -1));
      const name = parts.at(-1) ?? '';
      const writer = openNewFile(`${folder.place}/${name}`, mode);
      if (parts.length === 1) tops.add(name);
      return writer;
    },
    close() {
      for (const folder of held.splice(0)) closeSync(folder.descriptor);
    },
    async undo() {
      // By the descriptor too: the name may lead to somebody else's folder by now.
      for (const name of tops) await removeTree(path.join(top.place, name));
      if (isNew) rmdirSync(to);
    },
  };
}

/** False: something is there. */
function isMade(to: string): boolean {
  try {
    mkdirSync(to);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Looked at by its descriptor: what counts is the folder that is written to. */
function openEmptyFolder(to: string): OpenFolder {
  const folder = hold(to, '');
  if (readdirSync(folder.place).length === 0) return folder;
  closeSync(folder.descriptor);
  throw refused('install/root', `${quoted(to, 400)} is not an empty folder`, to);
}

function hold(folder: string, name: string): OpenFolder {
  const descriptor = openSync(folder, FOREIGN_FOLDER);
  return { descriptor, place: HAS_DESCRIPTOR_PATHS ? descriptorPath(descriptor) : folder, name };
}

/** What the system said to the writing, as a refusal; other errors fly. */
export function writingRefusal(error: unknown, to: string): PackRefusal {
  if (error instanceof PackRefused) return error.refusal;
  if (!isSystemError(error)) throw error;
  const problem = systemProblem(error.code) ?? 'install/root';
  return packRefusal(problem, `${quoted(to, 400)} cannot be written: ${error.code}`, to);
}

/** Runs `write` on a folder that is empty or not there; where it throws, the folder is as it was before. */
export async function extractTree(
  to: string,
  write: (tree: TreeWriter) => Promise<Omit<Extracted, 'type'>>,
): Promise<Extracted | PackRefusal> {
  let tree: TreeWriter;
  try {
    tree = openTreeWriter(to);
  } catch (error) {
    return writingRefusal(error, to);
  }
  try {
    const written = await write(tree);
    return { type: 'extracted', ...written };
  } catch (error) {
    const left = await undone(tree);
    const refusal = writingRefusal(error, to);
    return left === undefined
      ? refusal
      : { ...refusal, message: `${refusal.message}; its parts are still there: ${left}` };
  } finally {
    tree.close();
  }
}

/** What the system said where the parts cannot be removed. */
async function undone(tree: TreeWriter): Promise<string | undefined> {
  try {
    await tree.undo();
    return undefined;
  } catch (error) {
    if (isSystemError(error)) return error.code;
    throw error;
  }
}

export interface ArchiveEntry {
  /** Below the archive's own top: `/` between the parts, NFC, visible, fit for every system. */
  readonly path: string;
  readonly type: 'file' | 'folder';
  /** Unpacked; 0 for folders. */
  readonly bytes: number;
  readonly isExecutable: boolean;
}

export interface ExtractOptions {
  readonly signal?: AbortSignal;
  /** Told of each file that was written. */
  readonly onFile?: (path: string) => void;
}

export interface Extracted {
  readonly type: 'extracted';
  readonly files: number;
  readonly bytes: number;
}

/** An archive that was judged and is held open: whatever takes its name meanwhile, what is extracted is what was judged. */
export interface OpenedArchive {
  readonly type: 'archive';
  readonly format: 'zip' | 'tar.gz';
  readonly entries: readonly ArchiveEntry[];
  /** What is not extracted, and why, a line each: `.git/`, `.claude-plugin/`, `__MACOSX/`, `.DS_Store`, other hidden names. */
  readonly leftOut: readonly string[];
  /**
   * Writes the entries below a folder that is empty or not there, whose parent is there. All or nothing: where it refuses, or is
   * stopped, the folder is as it was. Nothing is synced to the disk: that is for whoever puts the folder in its place.
   */
  extract(to: string, options?: ExtractOptions): Promise<Extracted | PackRefusal>;
  close(): void;
}
