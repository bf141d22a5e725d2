/**
 * Renames what a program created under a protected name, so that no tool runs or obeys it before the user has seen it. Mounts cannot prevent
 * this: they would have to create the name first, and they move with a folder that the program renames.
 */
import { lstatSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { printable, quoted, typedWord } from '#core';
import { isSystemError, quietly, tryRealPath } from '#platform';
import { withRights } from './list-folder.ts';

export interface ProtectedEntry {
  readonly path: string;
  /** Where it leads, if it is a link. */
  readonly link: string | undefined;
  /** Hidden, and otherwise free to be written. */
  readonly isSecret: boolean;
}

/**
 * Protected entries of a writable folder, by the identity of their folder and their name. Within the same folder a program cannot replace a
 * protected entry, because a mount covers it. A renamed folder takes its entries along.
 */
export type ProtectedEntries = ReadonlyMap<string, ProtectedEntry>;

export function toProtectedEntry(source: string, relative: string, isSecret: boolean): ProtectedEntry {
  return { path: relative, link: quietly(() => readlinkSync(path.join(source, relative)), undefined), isSecret };
}

/** Returns warnings with the command that accepts each entry. */
export function setAside(source: string, before: ProtectedEntries, after: ProtectedEntries): readonly string[] {
  const secrets = new Set([...before.values()].filter(({ isSecret }) => isSecret).map((entry) => entry.path));
  return [...after].flatMap(([key, entry]) => {
    const old = before.get(key);
    if (old !== undefined && old.link === entry.link)
      return old.path === entry.path ? [] : [movedText(source, old, entry)];
    // Programs create files such as `.env` freely, but not in place of one that they must not see.
    if (entry.isSecret && !secrets.has(entry.path)) return [];
    return [setOneAside(path.join(source, entry.path), old?.link)];
  });
}

function movedText(source: string, old: ProtectedEntry, entry: ProtectedEntry): string {
  const [from, to] = [old.path, entry.path].map((name) => printable(path.join(source, name)));
  return `the program moved ${String(from)}, which is protected, to ${String(to)} with its folder`;
}

function setOneAside(file: string, link: string | undefined): string {
  // Another program could have replaced a folder above it by a link.
  if (tryRealPath(path.dirname(file)) !== path.dirname(file))
    return `${printable(file)} was created by the program and not set aside`;
  const held = freeName(`${file}.held`);
  try {
    withRights(path.dirname(file), () => renameSync(file, held));
    if (link !== undefined) withRights(path.dirname(file), () => symlinkSync(link, file));
  } catch (error) {
    return notRenamed(file, error);
  }
  return `the program created ${printable(file)}, which other tools run or obey; it was renamed. To accept it, run: mv ${typedWord(held)} ${typedWord(file)}`;
}

/** Sets an entry aside whose path is not UTF-8. */
export function setRawAside(file: Buffer): string {
  const shown = file.toString('latin1');
  try {
    const held = Buffer.from(freeName(`${shown}.held`, 'latin1'), 'latin1');
    withRights(Buffer.from(path.dirname(shown), 'latin1'), () => renameSync(file, held));
  } catch (error) {
    return notRenamed(shown, error);
  }
  return `the program created ${quoted(shown, 200)}, which other tools run or obey, in a folder whose name is not UTF-8; .held was added to its name`;
}

function notRenamed(file: string, error: unknown): string {
  if (!isSystemError(error)) throw error;
  return `the program created ${printable(file)}, which other tools run or obey, and it cannot be renamed (${error.code}): check it before you go on`;
}

function freeName(base: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${String(number)}`;
    if (lstatSync(Buffer.from(name, encoding), { throwIfNoEntry: false }) === undefined) return name;
  }
}
