/** Where a case file stands: the skill it belongs to, and the folder that nothing it names may leave. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { readHead } from '../../format/read-head.ts';
import { isDirectory, isInside, isSystemError, realPath, tryRealPath } from '../../platform/fs/paths.ts';
import { readTextFile } from '../../platform/fs/read-file.ts';

export interface Suite {
  /** Of the case file. */
  readonly dir: string;
  /** Nothing that a case names may lie outside. */
  readonly folder: string;
  /** The skill in whose folder it lies. */
  readonly skill?: { readonly name: string; readonly dir: string };
  /** What it is probably about, by the name of the folder, where there is no SKILL.md. */
  readonly guess?: string;
}

/** Folders in which cases are kept, by name. */
export const CASE_FOLDER = /^(?:evals?|evaluations?|tests?|cases)$/i;
/** `evals/cases/one/case.json`, and no further up. */
const MAX_UP = 4;
const MAX_SKILL_BYTES = 1024 * 1024;

/** `given` is the folder that was asked for, or that of the file. */
export function suiteOf(file: string, given: string): Suite {
  const dir = path.dirname(file);
  const skill = skillAround(dir);
  const guess = guessedName(dir);
  return {
    dir,
    folder: skill?.dir ?? (isInside(dir, given) ? projectOf(given) : dir),
    ...(skill === undefined ? {} : { skill }),
    ...(guess === undefined ? {} : { guess }),
  };
}

/** Cases in `.agent/evals` are about the project. */
function projectOf(given: string): string {
  const [before] = given.split(`${path.sep}.agent${path.sep}`);
  return before === undefined || before === '' ? given : before;
}

/** Only through folders of cases: a SKILL.md further up belongs to something else. */
function skillAround(start: string): Suite['skill'] {
  for (const dir of [start, ...aboveCaseFolders(start)]) {
    const name = skillNameAt(dir);
    if (name !== undefined) return { name, dir };
  }
  return undefined;
}

/** The folders in which folders of cases lie, from the inside out. */
function aboveCaseFolders(start: string): readonly string[] {
  const above: string[] = [];
  let dir = start;
  for (let up = 0; up < MAX_UP; up += 1) {
    if (CASE_FOLDER.test(path.basename(dir))) above.push(path.dirname(dir));
    dir = path.dirname(dir);
  }
  return above;
}

/** The name that the SKILL.md of a folder states. */
export function skillNameAt(dir: string): string | undefined {
  const file = path.join(dir, 'SKILL.md');
  const read = readTextFile(file, MAX_SKILL_BYTES);
  if (read.type !== 'read') return undefined;
  const { text, validUtf8 } = read;
  const source = { path: file, directory: path.basename(dir), fileName: 'SKILL.md', text, validUtf8 };
  return readHead(source, { mode: 'lenient' }).head?.name;
}

function guessedName(start: string): string | undefined {
  const name = path.basename(aboveCaseFolders(start)[0] ?? '');
  return name === '' || CASE_FOLDER.test(name) ? undefined : name;
}

/** Names of the skills in a folder: its own, or those of the folders in it, groups of them included. */
export function skillNamesIn(folder: string, depth = 2): readonly string[] {
  const own = skillNameAt(folder);
  if (own !== undefined) return [own];
  if (depth === 0) return [];
  return foldersIn(folder).flatMap((name) => skillNamesIn(path.join(folder, name), depth - 1));
}

/** Folders in a folder that may be skills or groups of them, by name. */
export function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

export type NamedFile =
  | { readonly type: 'found'; readonly path: string }
  | { readonly type: 'missing' }
  | { readonly type: 'refused'; readonly reason: string };

/** The file that a case means: from the case file, else from its skill, as both are written. Links are followed and judged. */
export function fileOfSuite(suite: Suite, written: string): NamedFile {
  const refusal = refusalOf(written);
  if (refusal !== undefined) return { type: 'refused', reason: refusal };
  const bases = [suite.dir, suite.skill?.dir ?? path.dirname(suite.dir)];
  const folder = realPath(suite.folder);
  let isOutside = false;
  for (const base of bases) {
    const full = path.resolve(base, written);
    const real = tryRealPath(full);
    const isHere = isInside(real ?? full, real === undefined ? suite.folder : folder);
    if (isHere && real !== undefined) return { type: 'found', path: full };
    // From the folder above, the same words may lead out although they were meant from here.
    if (base === suite.dir) isOutside = !isHere;
  }
  return isOutside ? { type: 'refused', reason: 'lies outside the folder of the suite' } : { type: 'missing' };
}

/** The place of a file that may have to be made: then its folder is there, and really inside. */
export function newFileOfSuite(suite: Suite, written: string): NamedFile {
  const named = fileOfSuite(suite, written);
  if (named.type !== 'missing') return named;
  const full = path.resolve(suite.dir, written);
  const folder = tryRealPath(path.dirname(full));
  if (folder === undefined) return named;
  if (isInside(folder, realPath(suite.folder))) return { type: 'found', path: full };
  return { type: 'refused', reason: 'lies outside the folder of the suite' };
}

/** A folder of skills that a case names. Skills beside the suite are usual, so that `..` is. */
export function folderOfSuite(suite: Suite, written: string): NamedFile {
  const refusal = refusalOf(written);
  if (refusal !== undefined) return { type: 'refused', reason: refusal };
  const full = path.resolve(suite.dir, written);
  return isDirectory(full) ? { type: 'found', path: full } : { type: 'missing' };
}

function refusalOf(written: string): string | undefined {
  if (written.trim() === '') return 'is empty';
  if (/[\x00-\x1f\x7f]/.test(written)) return 'has a control character';
  if (/^(?:[/~\\]|[a-z][a-z0-9+.-]*:)/i.test(written)) return 'is not relative';
  return undefined;
}
