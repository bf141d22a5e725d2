/** A file that appears whole or not at all, and replaces an existing file only with `force`. */
import { statSync } from 'node:fs';

import { findRefusal, refused, writeRefusal } from './problems.ts';
import { problemError, quoted, type SkillError } from '#core';
import { isPresent, isSystemError, PendingFile } from '#platform';

/** Every function throws a refusal for system errors. */
export interface WholeFile {
  write(bytes: Uint8Array): void;
  /** Moves the file to its place. Without `force`, a file that was created there meanwhile stays. */
  finish(): void;
  /** Removes the unfinished file. */
  drop(): void;
}

export interface WholeFileOptions {
  /** Replace an existing file. */
  readonly force: boolean;
  /** Permission bits before the umask (default: 0o666). */
  readonly mode?: number;
}

export function openWholeFile(file: string, { force, mode = 0o666 }: WholeFileOptions): WholeFile {
  const attempt = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw findRefusal(error) !== undefined ? error : problemError(writeRefusal(error, file));
    }
  };
  if (force) attempt(() => refuseDevice(file));
  const pending = attempt(() => new PendingFile(file, { mode }));
  return {
    write: (bytes) => attempt(() => pending.write(bytes)),
    finish() {
      attempt(() => {
        pending.sync();
        if (force) refuseDevice(file);
        if (force) pending.replace();
        else create(pending, file);
      });
    },
    drop: () => pending.discard(),
  };
}

export function writeWholeText(file: string, text: string, options: WholeFileOptions): void {
  const target = openWholeFile(file, options);
  try {
    target.write(Buffer.from(text, 'utf8'));
    target.finish();
  } catch (error) {
    target.drop();
    throw error;
  }
}

/** Fails before the work is done; `finish` checks again. */
export function refuseExisting(file: string): void {
  if (isPresent(file)) throw alreadyExists(file);
}

function create(pending: PendingFile, file: string): void {
  try {
    pending.create();
  } catch (error) {
    throw isSystemError(error) && error.code === 'EEXIST' ? alreadyExists(file) : error;
  }
}

/** A rename would replace /dev/null itself. */
function refuseDevice(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile() || stats.isDirectory()) return;
  const message = `${quoted(file, 200)} is a device, a pipe or a socket and cannot be replaced`;
  throw refused('pack/unwritable', message, file);
}

function alreadyExists(file: string): SkillError {
  return refused('pack/exists', `${quoted(file, 200)} already exists`, file);
}
