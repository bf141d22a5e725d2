import { lstatSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { printable, typedWord } from '#core';
import { isSystemError, quietly, tryRealPath } from '#platform';

/** The protected names of a folder: those that exist, and where links among them lead. */
export type ProtectedEntries = ReadonlyMap<string, string | undefined>;

/** Where the protected name of an entry leads, if it is a link. */
export function linkTarget(file: string): string | undefined {
  return quietly(() => readlinkSync(file), undefined);
}

/**
 * Renames what a program created under a protected name, so that no tool runs or obeys it before the user has seen it. Mounts cannot
 * prevent this: they would have to create the name first. Returns warnings with the command that accepts each entry.
 */
export function setAside(source: string, before: ProtectedEntries, after: ProtectedEntries): readonly string[] {
  return [...after]
    .filter(([name, link]) => !before.has(name) || before.get(name) !== link)
    .map(([name]) => setOneAside(source, name, before.get(name)));
}

function setOneAside(source: string, name: string, link: string | undefined): string {
  const file = path.join(source, name);
  const shown = printable(file);
  // Another program could have replaced a folder above it by a link.
  if (tryRealPath(path.dirname(file)) !== path.dirname(file))
    return `${shown} was created by the program and not set aside`;
  const held = freeName(`${file}.held`);
  try {
    renameSync(file, held);
    if (link !== undefined) symlinkSync(link, file);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return `the program created ${shown}, which other tools run or obey, and it cannot be renamed (${error.code}): check it before you go on`;
  }
  return `the program created ${shown}, which other tools run or obey; it was renamed. To accept it, run: mv ${typedWord(held)} ${typedWord(file)}`;
}

function freeName(wanted: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${String(number)}`;
    if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return name;
  }
}
