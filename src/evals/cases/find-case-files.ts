/** Files that may hold cases: of a folder of cases all, of a skill or a folder of skills those that lie or are named so. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { isSystemError } from '../../platform/fs/paths.ts';
import { CASE_FILE_ENDINGS } from './document.ts';
import { CASE_FOLDER } from './suite.ts';

export interface FoundFiles {
  readonly files: readonly string[];
  /** Folders that cannot be listed, and where there were too many files or folders. */
  readonly troubles: readonly { readonly folder: string; readonly reason: string }[];
}

const MAX_FILES = 50_000;
const MAX_DEPTH = 16;
/** What cases work on, and what others installed. */
const PASSED_BY: ReadonlySet<string> = new Set([
  'node_modules',
  'files',
  'fixtures',
  'inputs',
  'outputs',
  'dist',
  '__pycache__',
]);
const TELLING_NAME = /(?:^|[._-])(?:evals?|cases?|triggers?|triggered|scenarios?)(?:[._-]|$)/i;

/** No link is followed. In the order of names. */
export function findCaseFiles(folder: string): FoundFiles {
  const files: string[] = [];
  const troubles: { readonly folder: string; readonly reason: string }[] = [];
  const walk = (dir: string, depth: number, isInside: boolean): void => {
    if (depth > MAX_DEPTH) {
      troubles.push({ folder: dir, reason: `it lies deeper than ${String(MAX_DEPTH)} folders` });
      return;
    }
    for (const entry of entriesOf(dir, troubles)) {
      if (files.length >= MAX_FILES) return;
      const full = path.join(dir, entry.name);
      if (entry.isDirectory()) {
        if (isWalked(entry.name)) walk(full, depth + 1, isInside || CASE_FOLDER.test(entry.name));
      } else if (entry.isFile() && isCaseName(entry.name, isInside)) files.push(full);
    }
  };
  walk(folder, 0, isCaseFolder(folder));
  // Whoever names a folder of another name means what lies in it.
  if (files.length === 0)
    for (const entry of entriesOf(folder, troubles))
      if (entry.isFile() && isCaseName(entry.name, true)) files.push(path.join(folder, entry.name));
  if (files.length >= MAX_FILES) troubles.push({ folder, reason: `it has more than ${String(MAX_FILES)} files` });
  return { files, troubles };
}

/** The folder itself, or one in it for each case. */
function isCaseFolder(folder: string): boolean {
  return [folder, path.dirname(folder)].some((dir) => CASE_FOLDER.test(path.basename(dir)));
}

/** A folder of results, as the command `eval` names them: what cases came to is no case. */
const RESULTS_FOLDER = /^\d{8}T\d{6}(?:-\d+)?$/;

function isWalked(name: string): boolean {
  return !PASSED_BY.has(name) && !RESULTS_FOLDER.test(name) && (!name.startsWith('.') || name === '.agent');
}

function isCaseName(name: string, isInside: boolean): boolean {
  return CASE_FILE_ENDINGS.includes(path.extname(name).toLowerCase()) && (isInside || isTellingName(name));
}

/** A file of this name is meant to hold cases: one that cannot be read is a problem, not something else. */
export function isTellingName(name: string): boolean {
  return TELLING_NAME.test(path.parse(name).name);
}

function entriesOf(dir: string, troubles: { readonly folder: string; readonly reason: string }[]) {
  try {
    return readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    troubles.push({ folder: dir, reason: error.code });
    return [];
  }
}
