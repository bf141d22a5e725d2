/** Files that are written under a temporary name and then appear whole, by one rename or one link. */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

import { SkillError } from '#core';
import { linkNew } from './link-new.ts';
import { realPath } from './paths.ts';
import { isSystemError, quietly } from '../system-error.ts';

/**
 * A name beside `target` that no other process uses: pid, time and random characters. Create it with `wx` or `mkdir`, which refuse what
 * exists, so that guessing the name gains nothing.
 */
export function temporaryName(target: string, suffix: string): string {
  const unique = `${process.pid.toString(36)}${process.hrtime.bigint().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
  return path.join(path.dirname(target), `${temporaryPrefix(target)}${unique}${suffix}`);
}

/** The prefix of all temporary names of a target. */
export function temporaryPrefix(target: string): string {
  return `.${path.basename(target)}.`;
}

/** Writes all bytes: one `write` may accept only a part of them. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;)
    written += writeSync(descriptor, bytes, written, bytes.length - written);
}

const SUFFIX = '.tmp';

/**
 * A file that is being written under a temporary name. Every method throws system errors; after one, call `discard`. `replace` and
 * `create` close the file.
 */
export class PendingFile {
  readonly descriptor: number;
  readonly #file: string;
  readonly #temporary: string;
  #isOpen = true;

  /** `temporary`: the target whose temporary name is used, for a target that has a name of the maximum length itself. */
  constructor(
    file: string,
    { mode = 0o600, temporary = file }: { readonly mode?: number; readonly temporary?: string },
  ) {
    this.#file = file;
    this.#temporary = temporaryName(temporary, SUFFIX);
    // `wx` fails if another user created a file or a link of this name first.
    this.descriptor = openSync(this.#temporary, 'wx', mode);
  }

  write(bytes: Uint8Array): void {
    writeAll(this.descriptor, bytes);
  }

  /** Waits until the bytes are on the disk. */
  sync(): void {
    fsyncSync(this.descriptor);
  }

  /** Renames the file to its place, over what is there. */
  replace(): void {
    this.close();
    renameSync(this.#temporary, this.#file);
  }

  /** Links the file to its place. Throws EEXIST if something is there. */
  create(): void {
    this.close();
    linkNew(this.#temporary, this.#file);
    quietly(() => unlinkSync(this.#temporary));
  }

  close(): void {
    if (this.#isOpen) closeSync(this.descriptor);
    this.#isOpen = false;
  }

  /** Removes the temporary file, if it is still there. */
  discard(): void {
    this.close();
    quietly(() => unlinkSync(this.#temporary));
  }
}

export interface AtomicWriteOptions {
  /** Permission bits of the new file (default: 0o600). */
  readonly mode?: number;
  /** Wait until the bytes are on the disk: for data that cannot be rebuilt. */
  readonly sync?: boolean;
  /** Throw EEXIST if something is there (default: replace it). */
  readonly isNew?: boolean;
  /** The file that is replaced: the new one gets its permission bits whatever the umask, and its owner where that is permitted. */
  readonly like?: { readonly mode: number; readonly uid: number; readonly gid: number };
  /** Removes temporary files of the same file that killed processes left behind, if they are older than this. */
  readonly staleMs?: number;
}

/**
 * Replaces or creates a file in one step: a reader sees the old bytes or the new ones, never a part. A link at `file` is replaced, not
 * followed. Throws system errors and leaves no temporary file behind.
 */
export function writeFileAtomically(
  file: string,
  data: Uint8Array | Iterable<Uint8Array>,
  { mode = 0o600, sync = false, isNew = false, like, staleMs }: AtomicWriteOptions = {},
): void {
  const pending = new PendingFile(file, { mode });
  try {
    for (const chunk of data instanceof Uint8Array ? [data] : data) pending.write(chunk);
    if (like !== undefined) copyOwnership(pending.descriptor, like);
    if (sync) pending.sync();
    if (isNew) pending.create();
    else pending.replace();
  } catch (error) {
    pending.discard();
    throw error;
  }
  if (staleMs !== undefined) removeStaleTemporaries(file, staleMs);
}

function removeStaleTemporaries(file: string, staleMs: number): void {
  const directory = path.dirname(file);
  const prefix = temporaryPrefix(file);
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(prefix) || !name.endsWith(SUFFIX)) continue;
    const temporary = path.join(directory, name);
    const stats = lstatSync(temporary, { throwIfNoEntry: false });
    if (stats !== undefined && stats.mtimeMs < Date.now() - staleMs) quietly(() => unlinkSync(temporary));
  }
}

/**
 * Writes a text file of the user atomically and synced. An existing file keeps its permission bits, the links to it and, where permitted, its
 * owner; a pipe or a device is written to.
 */
export function writeTextFile(file: string, text: string): void {
  try {
    const existing = statSync(file, { throwIfNoEntry: false });
    const bytes = Buffer.from(text, 'utf8');
    if (existing?.isFile() === false) writeFileSync(file, bytes);
    // Mode 0600 until the file has the bits of the old one: no other user sees the new text early.
    else writeFileAtomically(existing === undefined ? file : realPath(file), bytes, { sync: true, like: existing });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new SkillError({
      code: 'io/failed',
      message: `cannot write ${JSON.stringify(file)} (${error.code}); the file is unchanged`,
      hint: 'free disk space, or give yourself write permission on the folder',
      data: { path: file, cause: error.code },
      cause: error,
    });
  }
}

function copyOwnership(descriptor: number, { mode, uid, gid }: NonNullable<AtomicWriteOptions['like']>): void {
  const { uid: ownUid, gid: ownGid } = fstatSync(descriptor);
  try {
    if (ownUid !== uid || ownGid !== gid) fchownSync(descriptor, uid, gid);
  } catch (error) {
    // Only root may change the owner; for other users the new file is their own, as after any editor that renames.
    if (!isSystemError(error)) throw error;
  }
  // After the owner, because chown clears bits. Skipped if nothing changes: some file systems reject chmod.
  if (((fstatSync(descriptor).mode ^ mode) & 0o777) !== 0) fchmodSync(descriptor, mode & 0o777);
}
