/** Finds the case files below a folder, by their names and folders. */
import { readdirSync, type Dirent } from 'node:fs';
import path from 'node:path';

import { isPresent, isSystemError } from '#platform';
import { CASE_FILE_ENDINGS } from './document.ts';
import { CASE_FOLDER, CASE_FOLDERS } from './suite.ts';
import type { OtherFile } from './unread-files.ts';

interface FoundFiles {
  readonly files: readonly string[];
  /** Files that have no name of a case file. */
  readonly others: readonly OtherFile[];
  readonly troubles: readonly { readonly folder: string; readonly reason: string }[];
}

const MAX_FILES = 50_000;

const MAX_DEPTH = 16;

const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(
  'node_modules files fixtures inputs outputs dist __pycache__'.split(' '),
);

const CASE_NAME = /(?:^|[._-])(?:evals?|cases?|triggers?|triggered|scenarios?|promptfoo(?:config)?)(?:[._-]|$)/i;

/** Suites of other tools, which name other files. */
const SUITE = /^(?:promptfoo.*|eval|case)\.ya?ml$/i;

export function findCaseFiles(folder: string): FoundFiles {
  const files: string[] = [];
  const others: OtherFile[] = [];
  const troubles: { readonly folder: string; readonly reason: string }[] = [];
  const note = (dir: string, entry: Dirent, isOfCases: boolean): void => {
    const isLink = entry.isSymbolicLink();
    if ((isLink || entry.isFile()) && others.length < MAX_FILES)
      others.push({ file: path.join(dir, entry.name), isLink, isOfCases });
  };
  const walk = (dir: string, depth: number, isInside: boolean, isOfCases: boolean): void => {
    if (depth > MAX_DEPTH) {
      troubles.push({ folder: dir, reason: `nested deeper than ${String(MAX_DEPTH)} folders` });
      return;
    }
    const listed = listEntries(dir, troubles);
    // A suite is read before the files that it names, which are beside it or below it.
    const entries = [
      ...listed.filter(({ name }) => SUITE.test(name)),
      ...listed.filter(({ name }) => !SUITE.test(name)),
    ];
    for (const entry of entries) {
      if (files.length >= MAX_FILES) return;
      if (entry.isFile() && (isCaseName(entry.name, isInside) || isPromptCase(entry.name, entries, isInside)))
        files.push(path.join(dir, entry.name));
      else if (isInside || isCaseFileName(entry.name)) note(dir, entry, isOfCases);
    }
    for (const { name } of entries.filter((entry) => entry.isDirectory())) {
      const below = path.join(dir, name);
      if (isWalked(name)) {
        // The files of a skill in a suite are those of the skill.
        const isSkill = isPresent(path.join(below, 'SKILL.md'));
        walk(
          below,
          depth + 1,
          isInside || CASE_FOLDER.test(name),
          CASE_FOLDERS.includes(name) || (isOfCases && !isSkill),
        );
      } else if (isInside && !RESULTS_FOLDER.test(name) && name !== 'node_modules')
        for (const entry of listEntries(below, [])) if (isCaseFileName(entry.name)) note(below, entry, false);
    }
  };
  const around = [folder, path.dirname(folder)].map((dir) => path.basename(dir));
  walk(
    folder,
    0,
    around.some((name) => CASE_FOLDER.test(name)),
    around.some((name) => CASE_FOLDERS.includes(name)),
  );
  // A folder with another name was named on purpose, so its files count.
  if (files.length === 0)
    for (const entry of listEntries(folder, troubles))
      if (entry.isFile() && isCaseName(entry.name, true)) files.push(path.join(folder, entry.name));
  const found = new Set(files);
  if (files.length >= MAX_FILES) troubles.push({ folder, reason: `more than ${String(MAX_FILES)} files` });
  return { files, others: others.filter(({ file }) => !found.has(file)), troubles };
}

const RESULTS_FOLDER = /^(?:tune-)?\d{8}T\d{6}(?:-\d+)?$/;

function isWalked(name: string): boolean {
  return !SKIPPED_FOLDERS.has(name) && !RESULTS_FOLDER.test(name) && (!name.startsWith('.') || name === '.agent');
}

/** `prompt.md` with `graders` beside it is a case; `graders` alone are read with their case. */
function isPromptCase(name: string, beside: readonly { readonly name: string }[], isInside: boolean): boolean {
  return isInside && name === 'prompt.md' && beside.some((entry) => entry.name === 'graders');
}

function isCaseName(name: string, isInside: boolean): boolean {
  if (name.toLowerCase().endsWith('.eval.md')) return true;
  return CASE_FILE_ENDINGS.includes(path.extname(name).toLowerCase()) && (isInside || isCaseFileName(name));
}

/** Whether the name says that the file holds cases; then an unreadable file is a problem. */
export function isCaseFileName(name: string): boolean {
  return CASE_NAME.test(path.parse(name).name);
}

function listEntries(dir: string, troubles: { readonly folder: string; readonly reason: string }[]) {
  try {
    return readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    troubles.push({ folder: dir, reason: error.code });
    return [];
  }
}
