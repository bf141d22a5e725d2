/** Finds files that may hold cases: all files of a case folder; elsewhere by file name. */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { isSystemError } from '#platform';
import { CASE_FILE_ENDINGS } from './document.ts';
import { CASE_FOLDER } from './suite.ts';

export interface FoundFiles {
  readonly files: readonly string[];
  readonly troubles: readonly { readonly folder: string; readonly reason: string }[];
}

const MAX_FILES = 50_000;
const MAX_DEPTH = 16;
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(
  'node_modules files fixtures inputs outputs dist __pycache__'.split(' '),
);
const CASE_NAME = /(?:^|[._-])(?:evals?|cases?|triggers?|triggered|scenarios?)(?:[._-]|$)/i;

export function findCaseFiles(folder: string): FoundFiles {
  const files: string[] = [];
  const troubles: { readonly folder: string; readonly reason: string }[] = [];
  const walk = (dir: string, depth: number, isInside: boolean): void => {
    if (depth > MAX_DEPTH) {
      troubles.push({ folder: dir, reason: `nested deeper than ${String(MAX_DEPTH)} folders` });
      return;
    }
    for (const entry of listEntries(dir, troubles)) {
      if (files.length >= MAX_FILES) return;
      const full = path.join(dir, entry.name);
      if (entry.isDirectory()) {
        if (isWalked(entry.name)) walk(full, depth + 1, isInside || CASE_FOLDER.test(entry.name));
      } else if (entry.isFile() && isCaseName(entry.name, isInside)) files.push(full);
    }
  };
  walk(
    folder,
    0,
    [folder, path.dirname(folder)].some((dir) => CASE_FOLDER.test(path.basename(dir))),
  );
  // A folder with another name was named on purpose, so its files count.
  if (files.length === 0)
    for (const entry of listEntries(folder, troubles))
      if (entry.isFile() && isCaseName(entry.name, true)) files.push(path.join(folder, entry.name));
  if (files.length >= MAX_FILES) troubles.push({ folder, reason: `more than ${String(MAX_FILES)} files` });
  return { files, troubles };
}

const RESULTS_FOLDER = /^(?:tune-)?\d{8}T\d{6}(?:-\d+)?$/;

function isWalked(name: string): boolean {
  return !SKIPPED_FOLDERS.has(name) && !RESULTS_FOLDER.test(name) && (!name.startsWith('.') || name === '.agent');
}

function isCaseName(name: string, isInside: boolean): boolean {
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
