/** Where a run is recorded: a folder, or memory that the caller copies elsewhere. */
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  writeSync,
  fsyncSync,
  fdatasync,
} from 'node:fs';
import path from 'node:path';

import { isSkillError, quoted, SkillError } from '#core';
import { isSystemError, OPEN_FLAGS, PendingFile, writeAll, type writeFileAtomically } from '#platform';
import { keepContent } from './content.ts';
import { EVENTS_FILE, makeRunFolder } from './run-folder.ts';

/** Errors of the disk; everything else is a bug. */
export function isWriteError(error: unknown): error is Error {
  return (
    isSystemError(error) || error instanceof IncompleteWrite || (isSkillError(error) && error.code === 'io/failed')
  );
}

export function recordFailed(place: string, error: Error): SkillError {
  const cause = isSystemError(error) ? error.code : error.message;
  return new SkillError({
    code: 'record/failed',
    message: `cannot record the run in ${quoted(place, 200)}: ${cause}`,
    hint: 'check the free disk space and the folder; no further action is performed',
    data: { path: place, cause },
    cause: error,
  });
}

export function ended(place: string): SkillError {
  return new SkillError({
    code: 'record/failed',
    message: `the run in ${quoted(place, 200)} has ended`,
    hint: 'begin another run',
    data: { path: place, cause: 'ended' },
  });
}

export class AppendFile {
  readonly #file: string;
  readonly #descriptor: number;
  readonly #identity: { readonly ino: number; readonly dev: number };
  #length = 0;
  #isOpen = true;

  /** Throws the system's error, also if the file exists. */
  constructor(file: string) {
    this.#file = file;
    this.#descriptor = openSync(file, OPEN_FLAGS.newGrowingFile, 0o600);
    const { ino, dev } = fstatSync(this.#descriptor);
    this.#identity = { ino, dev };
  }

  /**
   * Appends with one write. Throws if the write was incomplete, or if the path no longer leads to this file: writing to a removed or
   * replaced file succeeds silently. The file is then truncated to its last whole line.
   */
  append(lines: string): void {
    const size = Buffer.byteLength(lines, 'utf8');
    const expected = this.#length + size;
    try {
      const written = writeSync(this.#descriptor, lines, null, 'utf8');
      if (written !== size) throw new IncompleteWrite('the write was incomplete');
      const stats = lstatSync(this.#file, { throwIfNoEntry: false });
      if (stats === undefined) throw new IncompleteWrite('the file was removed');
      if (stats.ino !== this.#identity.ino || stats.dev !== this.#identity.dev)
        throw new IncompleteWrite('another file replaced it');
      if (stats.size !== expected) throw new IncompleteWrite('another process writes to it');
    } catch (error) {
      this.#cutBack();
      throw error;
    }
    this.#length = expected;
  }

  sync(): void {
    fdatasyncSync(this.#descriptor);
  }

  /** For waits that are not blocking; valid until `close`. */
  get descriptor(): number {
    return this.#descriptor;
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  #cutBack(): void {
    try {
      ftruncateSync(this.#descriptor, this.#length);
    } catch (error) {
      // Readers handle a torn last line.
      if (!isSystemError(error)) throw error;
    }
  }
}

/** The write reported success, but the bytes are not in the file. */
export class IncompleteWrite extends Error {
  override readonly name = 'IncompleteWrite';
}

export interface FileContent {
  readonly file: string;
  readonly data: Uint8Array;
}

/** Files that belong together, written under temporary names. Wait for `descriptors`, then call `replace`; or call `discard`. */
export interface PendingFiles {
  readonly descriptors: readonly number[];
  /** Renames them in order. Throws system errors and leaves no temporary file behind. */
  replace(): void;
  discard(): void;
}

/** Throws system errors and leaves no temporary file behind. */
export function writePendingFiles(files: readonly FileContent[], { mode = 0o600 } = {}): PendingFiles {
  const written: PendingFile[] = [];
  const discard = (): void => written.forEach((pending) => pending.discard());
  const orDiscard = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      discard();
      throw error;
    }
  };
  orDiscard(() => {
    for (const { file, data } of files) {
      const pending = new PendingFile(file, { mode });
      written.push(pending);
      pending.write(data);
    }
  });
  return {
    descriptors: written.map(({ descriptor }) => descriptor),
    replace: () => orDiscard(() => written.forEach((pending) => pending.replace())),
    discard,
  };
}

/**
 * Replaces several files that belong together: writes all of them, calls `before`, and then renames them in this order. All bytes are
 * written before the first sync, because waiting for each file in turn takes longer.
 */
export function writeFilesAtomically(
  files: readonly FileContent[],
  before: () => void,
  { mode = 0o600, sync = false }: Omit<NonNullable<Parameters<typeof writeFileAtomically>[2]>, 'like'> = {},
): void {
  const pending = writePendingFiles(files, { mode });
  try {
    before();
    if (sync) pending.descriptors.forEach(fsyncSync);
  } catch (error) {
    pending.discard();
    throw error;
  }
  pending.replace();
}

/** Creates a file directly under its name, for files that no reader opens before another file names them. Throws EEXIST. */
export function writeNewFile(
  file: string,
  data: Uint8Array,
  { mode = 0o600, sync = false }: Omit<NonNullable<Parameters<typeof writeFileAtomically>[2]>, 'like'> = {},
): void {
  const descriptor = openSync(file, 'wx', mode);
  try {
    writeAll(descriptor, data);
    if (sync) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export interface RecordStorage {
  readonly id: string;
  /** The folder of the record, or where it would be. */
  readonly path: string;
  /** Appends whole lines to the journal. */
  append(lines: string, sync: boolean): void;
  /** Adds a file that no reader opens before a line names it. */
  add(name: string, bytes: Uint8Array, sync: boolean): void;
  /** Adds a file that is named by the hash of its bytes. Returns false if it is there. */
  keep(name: string, bytes: Uint8Array, sync: boolean): boolean;
  /** Replaces files that belong together; calls `syncLines` after they are written and before they are visible. */
  replace(files: readonly NamedText[], options: { readonly sync: boolean; readonly syncLines: () => void }): void;
  /** Writes files that belong together. They are replaced after the journal and they are on disk: after all `descriptors` are synced. */
  prepare(files: readonly NamedText[]): PendingFiles;
  /** Waits until the lines are on disk; with `isWaiting: false` only begins it. */
  syncLines(isWaiting?: boolean): void;
  close(): void;
}

export type NamedText = readonly [name: string, text: string];

/** Creates a run folder that only this user can access. Throws the system's error. */
export function openFolderPlace(directory: string, now: Date): RecordStorage {
  const { id, path: folder } = makeRunFolder(path.resolve(directory), now);
  let opened: AppendFile | undefined;
  // Opened with the first line: an empty journal says that files beside it are missing.
  const events = (): AppendFile => (opened ??= new AppendFile(path.join(folder, EVENTS_FILE)));
  const named = (files: readonly NamedText[]): readonly FileContent[] =>
    files.map(([name, text]) => ({ file: path.join(folder, name), data: Buffer.from(text, 'utf8') }));
  return {
    id,
    path: folder,
    append(lines, sync) {
      events().append(lines);
      if (sync) events().sync();
    },
    add: (name, bytes, sync) => writeNewFile(path.join(folder, name), bytes, { sync }),
    keep: (name, bytes, sync) => keepContent(folder, name, bytes, sync),
    replace: (files, { sync, syncLines }) => writeFilesAtomically(named(files), syncLines, { sync }),
    prepare(files) {
      const pending = writePendingFiles(named(files));
      return { ...pending, descriptors: [events().descriptor, ...pending.descriptors] };
    },
    syncLines: (isWaiting = true) => (isWaiting ? events().sync() : fdatasync(events().descriptor, () => undefined)),
    close: () => opened?.close(),
  };
}
