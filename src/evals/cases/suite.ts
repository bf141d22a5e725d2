/** The suite of a case file: the skill that it belongs to, and the folder that no path in it may leave. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { readHead } from '#skills';
import { isDirectory, isInside, isPresent, quietly, readTextFile, realPath, tryRealPath } from '#platform';
import { defined, type SkillHead } from '#core';

export interface Suite {
  readonly dir: string;
  /** Files that a case names must be inside this folder. */
  readonly folder: string;
  /** The skill that contains the case file. */
  readonly skill?: { readonly name: string; readonly dir: string };
  /** The probable skill name, taken from the folder name, if there is no SKILL.md. */
  readonly guess?: string;
}

/** Everything in them is about cases. */
export const CASE_FOLDERS: readonly string[] = ['evals', 'eval'];

export const CASE_FOLDER = /^(?:evals?|evaluations?|tests?|cases)$/i;
/** Deep enough for `evals/cases/one/case.json`. */
const MAX_UP = 4;
const MAX_SKILL_BYTES = 1024 * 1024;

/** `given` is the folder that the caller named, or the folder of the file. */
export function findSuite(file: string, start: string): Suite {
  const dir = path.dirname(file);
  const skill = skillAround(dir);
  const guess = guessedName(dir);
  return {
    dir,
    folder: skill?.dir ?? (isInside(dir, start) ? findProject(start) : dir),
    ...defined({ skill, guess }),
  };
}

/** Cases in `.agent/evals` belong to the project. */
function findProject(start: string): string {
  return start.split(`${path.sep}.agent${path.sep}`)[0] || start;
}

/** Looks only above case folders: a SKILL.md further up belongs to something else. */
function skillAround(start: string): Suite['skill'] {
  for (const dir of [start, ...aboveCaseFolders(start)]) {
    const name = skillNameAt(dir);
    if (name !== undefined) return { name, dir };
  }
  return undefined;
}

function aboveCaseFolders(start: string): readonly string[] {
  const above: string[] = [];
  let dir = start;
  for (let up = 0; up < MAX_UP; up += 1) {
    if (CASE_FOLDER.test(path.basename(dir))) above.push(path.dirname(dir));
    dir = path.dirname(dir);
  }
  return above;
}

export function skillNameAt(dir: string): string | undefined {
  return readSkill(dir)?.head.name;
}

/** Returns undefined if the folder has no readable skill. */
export function readSkill(dir: string): { readonly head: SkillHead; readonly text: string } | undefined {
  const file = path.join(dir, 'SKILL.md');
  const read = readTextFile(file, MAX_SKILL_BYTES);
  if (read.type !== 'read') return undefined;
  const { text, validUtf8 } = read;
  const source = { path: file, directory: path.basename(dir), fileName: 'SKILL.md', text, validUtf8 };
  const { head } = readHead(source, { mode: 'lenient' });
  return head === undefined ? undefined : { head, text };
}

function guessedName(start: string): string | undefined {
  const name = path.basename(aboveCaseFolders(start)[0] ?? '');
  return name === '' || CASE_FOLDER.test(name) ? undefined : name;
}

export function skillNamesIn(folder: string): readonly string[] {
  return skillFoldersIn(folder).flatMap((dir) => skillNameAt(dir) ?? []);
}

/** Returns the folder itself if it has a SKILL.md, otherwise the skill folders in it and in one level of groups. */
export function skillFoldersIn(folder: string, depth = 2): readonly string[] {
  if (isPresent(path.join(folder, 'SKILL.md'))) return [folder];
  if (depth === 0) return [];
  return quietly(() => readdirSync(folder, { withFileTypes: true }), [])
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .map(({ name }) => name)
    .sort()
    .flatMap((name) => skillFoldersIn(path.join(folder, name), depth - 1));
}

/** The skills that belong to a path of the command line; for a case file, the skill around it. */
export function skillFoldersAt(place: string): readonly string[] {
  const around = findSuite(path.join(place, 'cases.yaml'), place).skill ?? findSuite(place, path.dirname(place)).skill;
  return around === undefined ? skillFoldersIn(place) : [around.dir];
}

export function isSkillNamed(folder: string, name: string): boolean {
  return (skillNameAt(folder) ?? path.basename(folder)) === name;
}

export type NamedFile =
  | { readonly type: 'found'; readonly path: string }
  | { readonly type: 'missing' }
  | { readonly type: 'refused'; readonly reason: string };

/** Resolves a file relative to the case file, then relative to its skill. Links are followed and must stay inside the suite. */
export function fileOfSuite(suite: Suite, written: string): NamedFile {
  const refusal = findPathProblem(written);
  if (refusal !== undefined) return { type: 'refused', reason: refusal };
  const bases = [suite.dir, suite.skill?.dir ?? path.dirname(suite.dir)];
  const folder = realPath(suite.folder);
  let isOutside = false;
  for (const base of bases) {
    const full = path.resolve(base, written);
    const real = tryRealPath(full);
    const isHere = isInside(real ?? full, real === undefined ? suite.folder : folder);
    if (isHere && real !== undefined) return { type: 'found', path: full };
    // A path that is valid from here may lead outside from the folder above, so only the first base decides.
    if (base === suite.dir) isOutside = !isHere;
  }
  return isOutside ? { type: 'refused', reason: 'is outside the suite folder' } : { type: 'missing' };
}

/** Like `fileOfSuite`, but the file, and folders above it, may be missing inside the suite. */
export function newFileOfSuite(suite: Suite, written: string): NamedFile {
  const named = fileOfSuite(suite, written);
  if (named.type !== 'missing') return named;
  const full = path.resolve(suite.dir, written);
  let above = path.dirname(full);
  while (tryRealPath(above) === undefined && above !== path.dirname(above)) above = path.dirname(above);
  const folder = tryRealPath(above) ?? above;
  if (isInside(folder, realPath(suite.folder))) return { type: 'found', path: full };
  return { type: 'refused', reason: 'is outside the suite folder' };
}

/** Resolves a skill folder. `..` is allowed, because skills often lie beside the suite. */
export function folderOfSuite(suite: Suite, written: string): NamedFile {
  const refusal = findPathProblem(written);
  if (refusal !== undefined) return { type: 'refused', reason: refusal };
  const full = path.resolve(suite.dir, written);
  return isDirectory(full) ? { type: 'found', path: full } : { type: 'missing' };
}

function findPathProblem(written: string): string | undefined {
  if (written.trim() === '') return 'is empty';
  if (/[\x00-\x1f\x7f]/.test(written)) return 'contains a control character';
  if (/^(?:[/~\\]|[a-z][a-z0-9+.-]*:)/i.test(written)) return 'is not relative';
  return undefined;
}
