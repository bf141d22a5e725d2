import { lstatSync, readdirSync, realpathSync, statSync, accessSync, constants } from 'node:fs';
import path from 'node:path';
import { quietly } from '../system-error.ts';

const QUIET = { throwIfNoEntry: false } as const;

/** The path with every link resolved; the absolute path if it cannot be resolved. */
export function realPath(file: string): string {
  return tryRealPath(file) ?? path.resolve(file);
}

/** The entry with the links of its folder resolved, but not the entry itself. */
export function realEntry(entry: string): string {
  return path.join(realPath(path.dirname(entry)), path.basename(entry));
}

/** The path with every link resolved; `undefined` if a part is missing, loops or is not accessible. */
export function tryRealPath(file: string): string | undefined {
  // Most paths asked for do not exist, and a thrown error takes ten times as long as `lstat`.
  return quietly(() => (lstatSync(file, QUIET) === undefined ? undefined : realpathSync.native(file)));
}

/** True if something exists at the path, a broken link included; false on system errors. */
export function isPresent(file: string): boolean {
  return quietly(() => lstatSync(file, QUIET) !== undefined, false);
}

/** True for a directory or a link to one. */
export function isDirectory(file: string): boolean {
  return quietly(() => statSync(file, QUIET)?.isDirectory() ?? false, false);
}

/** True if `inner` is `outer` or lies below it; both are absolute real paths. */
export function isInside(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}

/** The first part of a path below `base` that is a link: its target is not what the name says. `undefined` for a path that is not below. */
export function findLink(file: string, base: string): string | undefined {
  const relative = path.relative(base, file);
  if (relative === '' || path.isAbsolute(relative) || relative.split(path.sep)[0] === '..') return undefined;
  const names = relative.split(path.sep);
  const parts = names.map((_, at) => path.join(base, ...names.slice(0, at + 1)));
  return parts.find((part) => quietly(() => lstatSync(part, QUIET)?.isSymbolicLink() === true, false));
}

/** For display: forward slashes on every system. */
export function withForwardSlashes(file: string): string {
  return path.sep === '/' ? file : file.replaceAll(path.sep, '/');
}

/** The names in a folder; empty if it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  return quietly(() => readdirSync(folder), []);
}

/** Resolves a path that may start with `~`; undefined if it needs a home folder that does not exist. */
export function resolveWithHome(name: string, base: string, home: string | undefined): string | undefined {
  if (name !== '~' && !name.startsWith('~/')) return path.resolve(base, name);
  return home === undefined ? undefined : path.resolve(home, name.slice(2));
}

/** The executable that a shell would run for a bare name. */
export function findProgram(name: string, folders: readonly string[]): string | undefined {
  if (name === '' || name.includes('/') || name.includes('\0')) return undefined;
  return folders.map((folder) => path.join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  return quietly(() => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  }, false);
}
