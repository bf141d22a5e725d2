/** Puts a new site in the place of an earlier one. What others put into its folder, such as `CNAME` or `.git`, stays there. */
import { lstatSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { compareText, quoted } from '#core';
import { isPresent, makeFolders, namesIn, readTextFile, removeTree, temporaryName, temporaryPrefix } from '#platform';
import { refused } from '../problems.ts';

/** Marks a folder as a site of ours, and lists the files that we wrote. */
const MARKER = '.skillwright-site';
const MAX_MARKER = 64 * 1024 * 1024;
/** Sites of versions that wrote no list have nothing of ours beside these. */
const WITHOUT_LIST = ['.nojekyll', '.well-known', '_headers', 'index.html', 'packs', 'plugins', 'skills'];
const OLD_SUFFIX = '.old';

/** Writes the mark of a whole site. */
export function markSite(site: string): void {
  const list = listFiles(site).toSorted(compareText).join('\n');
  writeFileSync(path.join(site, MARKER), `skillwright site replaces these files:\n${list}\n`);
}

/** Takes an empty folder or an earlier site, nothing else. */
export function refuseForeign(out: string): void {
  if (!isPresent(out)) return;
  if (readdirSync(out).length === 0 || isPresent(path.join(out, MARKER))) return;
  throw refused('pack/exists', `${quoted(out, 200)} is not empty and not a site that skillwright wrote`, {
    path: out,
    hint: 'choose another folder with --out, or empty this one',
  });
}

/** Completes what a killed process began: moves the old site back if none is in its place, or takes what is not ours out of it. */
export async function recoverInterrupted(out: string): Promise<void> {
  const folder = path.dirname(out);
  const prefix = temporaryPrefix(out);
  const left = namesIn(folder).filter((name) => name.startsWith(prefix) && name.endsWith(OLD_SUFFIX));
  for (const old of left.map((name) => path.join(folder, name))) {
    if (!isPresent(path.join(old, MARKER))) continue;
    if (isPresent(out)) await empty(old, out);
    else renameSync(old, out);
  }
}

/** The old site is kept until the new one is in its place. Throws a refusal if both have a file of the same name. */
export async function replaceSite(work: string, out: string): Promise<void> {
  if (!isPresent(out)) return renameSync(work, out);
  for (const kept of listForeign(out)) refuseBoth(work, kept, out);
  const old = temporaryName(out, OLD_SUFFIX);
  renameSync(out, old);
  try {
    renameSync(work, out);
  } catch (error) {
    renameSync(old, out);
    throw error;
  }
  await empty(old, out);
}

/** Moves what is not ours to the new site, and removes the rest. */
async function empty(old: string, out: string): Promise<void> {
  for (const kept of listForeign(old)) {
    refuseBoth(out, kept, old);
    makeFolders(path.dirname(path.join(out, kept)));
    renameSync(path.join(old, kept), path.join(out, kept));
  }
  await removeTree(old);
}

function refuseBoth(site: string, kept: string, at: string): void {
  // Also where the other one is a folder, or a file in place of a folder above it.
  const taken = kept.split('/').map((_, index, names) => names.slice(0, index + 1).join('/'));
  const other = taken.find((name, index) => isTaken(path.join(site, name), index === taken.length - 1));
  if (other === undefined) return;
  throw refused(
    'pack/exists',
    `${quoted(path.join(at, kept), 200)} is not of the earlier site, and the new one has it too`,
    {
      path: path.join(at, kept),
      hint: 'move it away, then try again',
    },
  );
}

function isTaken(place: string, isLast: boolean): boolean {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  return stats !== undefined && (isLast || !stats.isDirectory());
}

/** The files and folders of a site that are not ours; a folder without anything of ours is one entry. */
function listForeign(site: string): readonly string[] {
  const own = readOwn(site);
  const folders = new Set(
    [...own].flatMap((file) => file.split('/').map((_, at, names) => names.slice(0, at).join('/'))),
  );
  const listBelow = (folder: string): readonly string[] =>
    namesIn(path.join(site, folder)).flatMap((name) => {
      const place = folder === '' ? name : `${folder}/${name}`;
      if (own.has(place) || place === MARKER) return [];
      return folders.has(place) && lstatSync(path.join(site, place)).isDirectory() ? listBelow(place) : [place];
    });
  return listBelow('');
}

function readOwn(site: string): ReadonlySet<string> {
  const read = readTextFile(path.join(site, MARKER), MAX_MARKER);
  const [, ...files] = (read.type === 'read' ? read.text : '').trimEnd().split('\n');
  if (files.length > 0) return new Set(files);
  return new Set(WITHOUT_LIST.flatMap((name) => (isPresent(path.join(site, name)) ? listFiles(site, name) : [])));
}

function listFiles(site: string, below = ''): readonly string[] {
  const place = path.join(site, below);
  if (!lstatSync(place).isDirectory()) return [below];
  return namesIn(place).flatMap((name) => listFiles(site, below === '' ? name : `${below}/${name}`));
}
