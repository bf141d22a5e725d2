/** Reads the output files of a run before its workspace is removed, and keeps them for grading again. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { toRelativePath, type RelativePath, isProblem } from '#core';
import { makeFolders, openConfined, quietly, type ConfinedDirectory } from '#platform';
import type { ReadOutput } from '../grade/output-files.ts';
import type { FileFact } from '../grade/run-facts.ts';

const MAX_FILES = 500;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 16;

/** Folders with outputs; the workspace also holds skills. */
const TAKEN = /^(?:out|work|runs)\//;

export function readOutputFiles(root: string): ReadOutput {
  const files = readFilesIn(root, (name) => TAKEN.test(name));
  return (name) => files.get(name);
}

export function readFilesIn(root: string, isWanted: (name: string) => boolean): ReadonlyMap<string, Buffer> {
  const opening = openConfined(root);
  if (opening.type === 'failed') return new Map();
  const { directory } = opening;
  try {
    const files = new Map<string, Buffer>();
    let left = MAX_BYTES;
    for (const { path: name, type } of directory.list({ maxFiles: MAX_FILES, maxDepth: MAX_DEPTH }).files) {
      const bytes = type === 'file' && isWanted(name) ? fileIn(directory, name) : undefined;
      if (bytes === undefined || bytes.length > left) continue;
      left -= bytes.length;
      files.set(name, bytes);
    }
    return files;
  } finally {
    directory.close();
  }
}

function fileIn(directory: ConfinedDirectory, name: string): Buffer | undefined {
  const relative = parseRelativePath(name);
  if (relative === undefined) return undefined;
  const file = directory.read(relative, { maxBytes: MAX_FILE_BYTES });
  return file.type === 'read' ? file.bytes : undefined;
}

/** Writes the recorded files without recorded text into a folder. The names come from a program and are untrusted. */
export function storeFiles(folder: string, files: readonly FileFact[], read: ReadOutput): void {
  for (const { name, text } of files) {
    const relative = text === undefined ? parseRelativePath(name) : undefined;
    const bytes = relative === undefined ? undefined : read(name);
    if (relative === undefined || bytes === undefined) continue;
    const target = path.join(folder, relative);
    makeFolders(path.dirname(target));
    writeFileSync(target, bytes, { mode: 0o600 });
  }
}

export function storedFiles(folder: string): ReadOutput {
  return (name) => {
    const relative = parseRelativePath(name);
    if (relative === undefined) return undefined;
    return quietly(() => readFileSync(path.join(folder, relative)), undefined);
  };
}

function parseRelativePath(name: string): RelativePath | undefined {
  const reading = toRelativePath(name);
  return isProblem(reading) ? undefined : reading;
}
