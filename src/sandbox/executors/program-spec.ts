import path from 'node:path';

import { invalidInput, quoted, type ProgramEnd, type ProgramSpec } from '#core';
import { isDirectory, isInside } from '#platform';
import { WRITABLE_FOLDERS, invalid } from '../workspace/layout.ts';
import type { HostMount, RunningProgram, WorkspaceFolder } from '../program-types.ts';

/** Checks that every executor makes before it starts a program. */

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Throws `workspace/invalid` where a folder that programs write to is missing. */
export function checkWorkspace({ root }: WorkspaceFolder): void {
  const missing = WRITABLE_FOLDERS.find((name) => !isDirectory(path.join(root, name)));
  if (missing !== undefined)
    throw invalid(root, `has no folder ${missing}`, 'close the workspace and open it again', 'workspace');
}

/** Throws `input/invalid` for a command, folder or environment that no executor can pass on safely. */
export function checkProgram({ argv, cwd, env, mounts = [] }: ProgramSpec): void {
  if (argv.length === 0 || argv[0] === '') throw invalidInput('the command is empty', 'a program and its arguments');
  const isMounted = mounts.some(({ target }) => isInside(cwd, target));
  if (cwd === '' || (cwd.startsWith('/') && !isMounted) || cwd.split('/').includes('..'))
    throw invalidInput(`the folder ${quoted(cwd)} is not below the workspace`, 'a folder below the workspace');
  const badName = Object.keys(env).find((name) => !VARIABLE.test(name));
  if (badName !== undefined)
    throw invalidInput(`${quoted(badName)} is not a valid variable name`, 'names of letters, digits and _');
  const withNul = [...argv, cwd, ...Object.values(env)].find((word) => word.includes('\0'));
  if (withNul !== undefined) throw invalidInput(`${quoted(withNul)} contains a NUL`, 'text without NUL characters');
}

/** The end of a program that asks for hosts from an executor without network grants. */
export function networkDenied({ network }: ProgramSpec): ProgramEnd {
  const hosts = network.map((host) => quoted(host)).join(', ');
  return {
    reason: 'denied',
    durationMs: 0,
    warnings: [`the program asks for network access (${hosts}), which this executor cannot grant`],
  };
}

/** The absolute path in which a program starts. */
export function startFolder(root: string, cwd: string): string {
  if (cwd.startsWith('/')) return cwd;
  return cwd === '.' ? root : `${root}/${cwd}`;
}

/** The end of a program that asks for host folders from an executor that cannot mount them; `undefined` where it asks for none. */
export function mountsDenied({ mounts = [] }: ProgramSpec): ProgramEnd | undefined {
  if (mounts.length === 0) return undefined;
  const targets = mounts.map(({ target }) => quoted(target)).join(', ');
  return {
    reason: 'denied',
    durationMs: 0,
    warnings: [`the program needs host folders at ${targets}, which this executor cannot mount`],
  };
}

/** Like `mountsDenied`, for executors on which a folder is seen at its own path only. What is hidden in such a folder stays where it is. */
export function movedMountsDenied({ mounts = [], ...spec }: ProgramSpec): ProgramEnd | undefined {
  const own = mounts.filter(({ source, target }) => source === target);
  const isOwn = ({ target }: HostMount): boolean => own.some((mount) => isInside(target, mount.target));
  return mountsDenied({ ...spec, mounts: mounts.filter((mount) => !isOwn(mount)) });
}

/** A program that ended before it was started. */
export function notStarted(end: ProgramEnd): RunningProgram {
  const nothing = (): void => undefined;
  return { ended: Promise.resolve(end), write: nothing, closeInput: nothing, kill: nothing };
}
