/**
 * Whose a folder is: a process, told by its number, its start and the boot of the machine, so that a number used again is not
 * mistaken for it. The kernel releases nothing here; whether an owner still lives is asked each time.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';

import { writeFileAtomically } from './atomic-write.ts';
import { isSystemError } from './paths.ts';
import { readPrivateFile } from './private-file.ts';

export interface FolderOwner {
  readonly pid: number;
  /** When the process began, in ticks since the boot; empty where the system does not say. */
  readonly start: string;
  /** Which boot of the machine. */
  readonly boot: string;
  /** Which space of process numbers: those of a container mean nothing outside. */
  readonly space: string;
}

/** `unknown`: it lives in another space of process numbers, if it does. */
export type OwnerState = 'alive' | 'dead' | 'unknown';

export function thisProcess(): FolderOwner {
  return {
    pid: process.pid,
    start: startOf(process.pid) ?? '',
    boot: textOf('/proc/sys/kernel/random/boot_id').replaceAll('-', '').slice(0, 12),
    space: spaceOf(),
  };
}

export function ownerState(owner: FolderOwner, asker: FolderOwner = thisProcess()): OwnerState {
  if (owner.boot !== asker.boot) return 'dead';
  if (owner.space !== asker.space) return 'unknown';
  if (!isRunning(owner.pid)) return 'dead';
  const start = startOf(owner.pid);
  // Without a start the number is all there is, and rather nothing is touched.
  if (start === undefined) return process.platform === 'linux' ? 'dead' : 'alive';
  return owner.start === '' || owner.start === start ? 'alive' : 'dead';
}

/** An owner as part of a file name. */
export function ownerName({ pid, start, boot, space }: FolderOwner): string {
  return [String(pid), start, boot, space].join('.');
}

export function ownerOfName(name: string): FolderOwner | undefined {
  const [, pid = '', start = '', boot = '', space = ''] = OWNER_NAME.exec(name) ?? [];
  return pid === '' ? undefined : { pid: Number(pid), start, boot, space };
}

const OWNER_NAME = /^(\d{1,10})\.(\d*)\.([0-9a-f]*)\.(\d*)(?:\.|$)/;

export const LOCK_FILE = '.owner';
const MAX_BYTES = 4096;

/** `kept`: nobody's, and meant to stay. `unreadable`: it is there and says nothing that can be used. */
export type FolderLock =
  | { readonly type: 'owned'; readonly owner: FolderOwner }
  | { readonly type: 'kept' }
  | { readonly type: 'absent' }
  | { readonly type: 'unreadable' };

export function writeFolderLock(folder: string, lock: FolderOwner | 'kept'): void {
  writeFileAtomically(path.join(folder, LOCK_FILE), Buffer.from(lock === 'kept' ? 'kept\n' : `${ownerName(lock)}\n`));
}

export function readFolderLock(folder: string): FolderLock {
  const read = readPrivateFile(path.join(folder, LOCK_FILE), { maxBytes: MAX_BYTES });
  if (read.type === 'absent') return { type: 'absent' };
  if (read.type === 'failed') return { type: 'unreadable' };
  const text = read.bytes.toString('utf8').trim();
  if (text === 'kept') return { type: 'kept' };
  const owner = ownerOfName(text);
  return owner === undefined ? { type: 'unreadable' } : { type: 'owned', owner };
}

function isRunning(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return error.code === 'EPERM';
  }
}

/** Nothing for a process that is not there, or is dead and only not yet waited for. */
function startOf(pid: number): string | undefined {
  const text = textOf(`/proc/${String(pid)}/stat`);
  // The second field is the program's name in brackets, with anything in it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', start = ''] = [fields[0], fields[19]];
  return start === '' || state === 'Z' || state === 'X' ? undefined : start;
}

function spaceOf(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '';
  } catch (error) {
    if (isSystemError(error)) return '';
    throw error;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isSystemError(error)) return '';
    throw error;
  }
}
