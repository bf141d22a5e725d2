/** Hard links give one file several names. A rule about one of them is about the file, so reading it by another name asks about all. */
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import path from 'node:path';

import { isInside, quietly } from '#platform';

/** Package managers link thousands of files from their stores, and git its objects; neither has names that rules protect. */
const UNSEARCHED = /(?:^|\/)(?:node_modules|\.git\/objects)$/;
const MAX_ENTRIES = 100_000;

/** Finds the further names of files in a project. The project is searched once, when the first file with several names is asked about. */
export function openLinkedNames(project: string): (absolute: string) => readonly string[] {
  let known: ReadonlyMap<string, readonly string[]> | undefined;
  return (absolute) => {
    const stats = isInside(absolute, project) ? quietly(() => lstatSync(absolute)) : undefined;
    if (stats === undefined || !isLinked(stats)) return [];
    known ??= findLinked(project);
    return (known.get(toInodeKey(stats)) ?? []).filter((name) => name !== absolute);
  };
}

function findLinked(project: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const waiting = [''];
  let count = 0;
  for (let folder = waiting.pop(); folder !== undefined && count < MAX_ENTRIES; folder = waiting.pop()) {
    for (const entry of quietly(() => readdirSync(path.join(project, folder), { withFileTypes: true }), [])) {
      count += 1;
      const relative = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !UNSEARCHED.test(relative)) waiting.push(relative);
      const place = path.join(project, relative);
      const stats = entry.isFile() ? quietly(() => lstatSync(place)) : undefined;
      if (stats === undefined || !isLinked(stats)) continue;
      const names = found.get(toInodeKey(stats));
      if (names === undefined) found.set(toInodeKey(stats), [place]);
      else names.push(place);
    }
  }
  return found;
}

function isLinked(stats: Stats): boolean {
  return stats.isFile() && stats.nlink > 1;
}

function toInodeKey({ dev, ino }: Stats): string {
  return `${String(dev)}:${String(ino)}`;
}
