/**
 * Which process owns a lock or a folder. A process is identified by its pid, its start time, the boot id of the machine and the pid
 * namespace, so that a reused pid is never mistaken for the owner. The kernel releases nothing on exit: callers check with `ownerState`
 * whether an owner is still running.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { isSystemError, quietly } from '../system-error.ts';

export interface LockOwner {
  readonly pid: number;
  /** Start time in clock ticks since boot; empty if the system does not report it. */
  readonly start: string;
  /** The first characters of the boot id. */
  readonly boot: string;
  /** Inode of the pid namespace: pids of a container mean nothing outside of it. */
  readonly space: string;
}

/** `unknown`: the owner is in another pid namespace, where this process cannot check. */
export type OwnerState = 'alive' | 'dead' | 'unknown';

export function thisProcess(): LockOwner {
  self ??= {
    pid: process.pid,
    start: readStartTime(process.pid) ?? '',
    boot: readText('/proc/sys/kernel/random/boot_id').replaceAll('-', '').slice(0, 12),
    space: pidNamespace(),
  };
  return self;
}

/** Nothing of it changes while the process lives. */
let self: LockOwner | undefined;

export function ownerState(owner: LockOwner, observer: LockOwner = thisProcess()): OwnerState {
  if (owner.boot !== observer.boot) return 'dead';
  if (owner.space !== observer.space) return 'unknown';
  if (!isRunning(owner.pid)) return 'dead';
  const start = readStartTime(owner.pid);
  // Without /proc only the pid can be checked; assume that the owner is alive.
  if (start === undefined) return process.platform === 'linux' ? 'dead' : 'alive';
  return owner.start === '' || owner.start === start ? 'alive' : 'dead';
}

/** An owner as part of a file name. */
export function ownerName({ pid, start, boot, space }: LockOwner): string {
  return [String(pid), start, boot, space].join('.');
}

export function ownerOfName(name: string): LockOwner | undefined {
  const [, pid = '', start = '', boot = '', space = ''] = OWNER_NAME.exec(name) ?? [];
  return pid === '' ? undefined : { pid: Number(pid), start, boot, space };
}

const OWNER_NAME = /^(\d{1,10})\.(\d*)\.([0-9a-f]*)\.(\d*)(?:\.|$)/;

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

/** `undefined` if the process does not exist or is a zombie. */
function readStartTime(pid: number): string | undefined {
  const text = readText(`/proc/${String(pid)}/stat`);
  // The second field is the program name in parentheses and may contain spaces and parentheses itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', start = ''] = [fields[0], fields[19]];
  return start === '' || state === 'Z' || state === 'X' ? undefined : start;
}

function pidNamespace(): string {
  return quietly(() => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '', '');
}

function readText(file: string): string {
  return quietly(() => readFileSync(file, 'utf8'), '');
}
