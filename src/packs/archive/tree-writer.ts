/** Files written below one folder that is ours, by descriptors: whatever somebody puts in their way is refused, never followed. */
import { fchmodSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';

import { PackRefused, packRefusal, systemProblem } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { quoted } from '../../core/text/text.ts';
import { DirectoryHandle } from '../../platform/fs/directory-handle.ts';
import { openNewFile } from '../../platform/fs/atomic-replace.ts';
import type { FileWriter } from '../../platform/fs/atomic-replace.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import { removeTree } from '../../platform/fs/remove-tree.ts';

export interface TreeWriter {
  folder(at: string): void;
  file(at: string, isExecutable: boolean): FileWriter;
  /** Lets go of all folders. */
  close(): void;
  /** Before `close`. Removes what was written: the folder is empty, or gone where it was not there before. */
  undo(): Promise<void>;
}

interface NamedHandle {
  readonly name: string;
  readonly directory: DirectoryHandle;
}

/** Throws `PackRefused` where the folder is not empty, a link, or cannot be made. */
export function openTreeWriter(to: string): TreeWriter {
  const isNew = isMade(to);
  const top = holdEmpty(to);
  const held: NamedHandle[] = [{ name: '', directory: top }];
  const made = new Set<string>();
  /** Names of the top that are ours: what others put there is not ours to remove. */
  const tops = new Set<string>();

  /** The folder held open last is the one asked for; those on the way are made. */
  const goTo = (parts: readonly string[]): DirectoryHandle => {
    let shared = 0;
    while (shared < parts.length && held[shared + 1]?.name === parts[shared]) shared += 1;
    for (const { directory } of held.splice(shared + 1)) directory.close();
    for (const [place, part] of parts.entries()) {
      if (place < shared) continue;
      const at = parts.slice(0, place + 1).join('/');
      const parent = held[place]?.directory ?? top;
      if (!made.has(at)) mkdirSync(`${parent.place}/${part}`);
      if (place === 0) tops.add(part);
      const directory = parent.child(part);
      held.push({ name: part, directory });
      // Whatever mask the process has.
      if (!made.has(at)) fchmodSync(directory.descriptor, 0o755);
      made.add(at);
    }
    return held.at(-1)?.directory ?? top;
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
      for (const { directory } of held.splice(0)) directory.close();
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
function holdEmpty(to: string): DirectoryHandle {
  const directory = DirectoryHandle.open(to);
  if (readdirSync(directory.place).length === 0) return directory;
  directory.close();
  throw new PackRefused(packRefusal('install/root', `${quoted(to, 400)} is not an empty folder`, to));
}

/** What the system said to the writing, as a refusal; other errors fly. */
export function writingRefusal(error: unknown, to: string): PackRefusal {
  if (error instanceof PackRefused) return error.refusal;
  if (!isSystemError(error)) throw error;
  const problem = systemProblem(error.code) ?? 'install/root';
  return packRefusal(problem, `${quoted(to, 400)} cannot be written: ${error.code}`, to);
}
