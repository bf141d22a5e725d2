/** A file that appears whole or not at all, and takes no other file's place unless it may. */
import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';

import { PackRefused, writeRefusal, refused } from './problems.ts';
import { quoted } from '../core/text/text.ts';
import { isSystemError } from '../platform/fs/paths.ts';
import { temporaryName } from '../platform/fs/temporary-name.ts';

/** Every function throws `PackRefused` for what the system refuses. */
export interface WholeFile {
  write(bytes: Uint8Array): void;
  /** Puts it in its place. A file that came there meanwhile stays, unless it may be replaced. */
  finish(): void;
  /** Leaves nothing behind. */
  drop(): void;
}

export interface WholeFileOptions {
  /** Takes the place of what is there. */
  readonly force: boolean;
  /** Permission bits, less the umask; 0o666. */
  readonly mode?: number;
}

export function openWholeFile(file: string, { force, mode = 0o666 }: WholeFileOptions): WholeFile {
  const temporary = temporaryName(file, '.tmp');
  const attempt = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw error instanceof PackRefused ? error : new PackRefused(writeRefusal(error, file));
    }
  };
  if (force) attempt(() => refuseDevice(file));
  const descriptor = attempt(() => openSync(temporary, 'wx', mode));
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  return {
    write(bytes) {
      attempt(() => {
        for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
      });
    },
    finish() {
      attempt(() => {
        fsyncSync(descriptor);
        close();
        if (force) replace(temporary, file);
        else linkNew(temporary, file);
      });
    },
    drop() {
      close();
      removeQuietly(temporary);
    },
  };
}

/** A small text, written so. */
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

/** Said before the work is done; `finish` looks again. */
export function refuseExisting(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) throw inTheWay(file);
}

function replace(temporary: string, file: string): void {
  refuseDevice(file);
  renameSync(temporary, file);
}

/** A rename would put a file into the place of /dev/null for everybody. */
function refuseDevice(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile() || stats.isDirectory()) return;
  const message = `${quoted(file, 200)} is a device, a pipe or a socket, and is not replaced`;
  throw refused('pack/unwritable', message, file);
}

/** What comes of a link on file systems that have none. */
const WITHOUT_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** A link is made only where nothing stands. */
function linkNew(temporary: string, file: string): void {
  try {
    linkSync(temporary, file);
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') throw inTheWay(file);
    if (!isSystemError(error) || !WITHOUT_LINKS.has(error.code)) throw error;
    refuseExisting(file);
    renameSync(temporary, file);
    return;
  }
  removeQuietly(temporary);
}

function removeQuietly(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    // Gone already, or in a folder that refuses: the error that matters is another.
    if (!isSystemError(error)) throw error;
  }
}

function inTheWay(file: string): PackRefused {
  return refused('pack/exists', `${quoted(file, 200)} is there already`, file);
}
