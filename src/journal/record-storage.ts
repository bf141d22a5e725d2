/** Where a run is recorded, and the folder that is the default. A caller may pass another storage. */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

import { isSkillError, quoted, problemError, SkillError } from '#core';
import { isSystemError, OPEN_FLAGS, PendingFile, quietly, writeAll, writeFileAtomically } from '#platform';
import { EVENTS_FILE, makeRunFolder } from './run-folder.ts';

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

/** Files that belong together, written under temporary names. Wait for `descriptors`, then call `replace`; or call `discard`. */
interface PendingFiles {
  readonly descriptors: readonly number[];
  /** Renames them in order. Throws system errors and leaves no temporary file behind. */
  replace(): void;
  discard(): void;
}

/** Creates a run folder that only this user can access. Throws the system's error. */
export function openFolderPlace(directory: string, now: Date, project?: string): RecordStorage {
  const { id, path: folder } = makeRunFolder(path.resolve(directory), now, project);
  let opened: LineFile | undefined;
  // Opened with the first line: an empty journal says that files beside it are missing.
  const events = (): LineFile => (opened ??= openLineFile(path.join(folder, EVENTS_FILE)));
  return {
    id,
    path: folder,
    append(lines, sync) {
      events().append(lines);
      if (sync) fdatasyncSync(events().descriptor);
    },
    add(name, bytes, sync) {
      const descriptor = openSync(path.join(folder, name), 'wx', 0o600);
      try {
        writeAll(descriptor, bytes);
        if (sync) fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
    },
    keep(name, bytes, sync) {
      const file = path.join(folder, name);
      const kind = path.dirname(file);
      if (lstatSync(kind, { throwIfNoEntry: false }) === undefined) mkdirSync(kind, { mode: 0o700 });
      if (!lstatSync(kind).isDirectory()) incomplete(`${path.basename(kind)} is not a folder`);
      const stats = lstatSync(file, { throwIfNoEntry: false });
      if (stats?.isFile() === true && stats.size === bytes.length) return false;
      writeFileAtomically(file, bytes, { sync });
      return true;
    },
    // All bytes are written before the first sync, because waiting for each file in turn takes longer.
    replace(files, { sync, syncLines }) {
      const pending = writePendingFiles(folder, files);
      try {
        syncLines();
        if (sync) pending.descriptors.forEach(fsyncSync);
      } catch (error) {
        pending.discard();
        throw error;
      }
      pending.replace();
    },
    prepare(files) {
      const pending = writePendingFiles(folder, files);
      return { ...pending, descriptors: [events().descriptor, ...pending.descriptors] };
    },
    syncLines(isWaiting = true) {
      if (isWaiting) fdatasyncSync(events().descriptor);
      else fdatasync(events().descriptor, () => undefined);
    },
    close() {
      opened?.close();
    },
  };
}

interface LineFile {
  readonly descriptor: number;
  append(lines: string): void;
  close(): void;
}

/** Creates an append-only file of whole lines. Throws the system's error, also if the file exists. */
function openLineFile(file: string): LineFile {
  const descriptor = openSync(file, OPEN_FLAGS.newGrowingFile, 0o600);
  const { ino, dev } = fstatSync(descriptor);
  let length = 0;
  let isOpen = true;
  return {
    descriptor,
    /**
     * Appends with one write. Throws if the write was incomplete, or if the path no longer leads to this file: writing to a removed or
     * replaced file succeeds silently. The file is then truncated to its last whole line.
     */
    append(lines) {
      const size = Buffer.byteLength(lines, 'utf8');
      try {
        if (writeSync(descriptor, lines, null, 'utf8') !== size) incomplete('the write was incomplete');
        const stats = lstatSync(file, { throwIfNoEntry: false });
        if (stats === undefined) return incomplete('the file was removed');
        if (stats.ino !== ino || stats.dev !== dev) incomplete('another file replaced it');
        if (stats.size !== length + size) incomplete('another process writes to it');
      } catch (error) {
        // Readers handle a torn last line.
        quietly(() => ftruncateSync(descriptor, length), undefined);
        throw error;
      }
      length += size;
    },
    close() {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}

/** Throws system errors and leaves no temporary file behind. */
function writePendingFiles(folder: string, files: readonly NamedText[]): PendingFiles {
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
    for (const [name, text] of files) {
      const pending = new PendingFile(path.join(folder, name), { mode: 0o600 });
      written.push(pending);
      pending.write(Buffer.from(text, 'utf8'));
    }
  });
  return {
    descriptors: written.map(({ descriptor }) => descriptor),
    replace: () => orDiscard(() => written.forEach((pending) => pending.replace())),
    discard,
  };
}

/** Leaves with a write error: the write reported success, but the bytes are not in the file. */
export function incomplete(message: string): never {
  throw problemError({ code: 'io/failed', message, hint: 'check the free disk space and the folder' });
}

/** Errors of the disk; everything else is a bug. */
export function isWriteError(error: unknown): error is Error {
  return isSystemError(error) || (isSkillError(error) && error.code === 'io/failed');
}

export function recordFailed(place: string, error: Error): SkillError {
  const cause = isSystemError(error) ? error.code : error.message;
  return new SkillError({
    code: 'record/failed',
    message: `cannot record the run in ${quoted(place, 200)}: ${cause}`,
    hint: 'check the free disk space and the folder, or set runs.directory to another one; no further action is performed',
    data: { path: place, cause },
    cause: error,
  });
}
