// Reads the two sides: single files or whole folders. Nothing here follows links inside a folder.
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_LINES = 1_000_000;
const MAX_FILES = 5_000;

/** A problem with the input, told to the reader as it is. */
export class InputError extends Error {}

const REASONS = { ENOENT: 'no such file or folder', EACCES: 'permission denied' };

function attempt(path, action) {
  try {
    return action();
  } catch (error) {
    if (error.code === undefined) throw error;
    throw new InputError(`cannot read ${path}: ${REASONS[error.code] ?? 'it cannot be opened'}`);
  }
}

const byBytes = (one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other));

function walk(root, skipped) {
  const found = new Set();
  const visit = (folder) => {
    const entries = attempt(join(root, folder), () => readdirSync(join(root, folder), { withFileTypes: true }));
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name !== '.git') visit(path);
      } else if (entry.isFile()) found.add(path);
      else skipped.add(path);
      if (found.size > MAX_FILES) throw new InputError(`${root} holds more than ${MAX_FILES} files`);
    }
  };
  visit('');
  return found;
}

/** The files to compare, each { path, oldPath, newPath }; a missing side is undefined. */
export function listPairs(oldRoot, newRoot) {
  const [oldStat, newStat] = [oldRoot, newRoot].map((path) => attempt(path, () => statSync(path)));
  if (oldStat.isFile() && newStat.isFile()) {
    // Both sides carry the old name, so that the output can be applied to the old file.
    return { pairs: [{ path: basename(oldRoot), oldPath: oldRoot, newPath: newRoot }], skipped: [] };
  }
  if (!oldStat.isDirectory() || !newStat.isDirectory()) {
    throw new InputError('give two files or two folders, not one of each');
  }
  const skipped = new Set();
  const [oldFiles, newFiles] = [walk(oldRoot, skipped), walk(newRoot, skipped)];
  const pairs = [...new Set([...oldFiles, ...newFiles])].toSorted(byBytes).map((path) => ({
    path,
    oldPath: oldFiles.has(path) ? join(oldRoot, path) : undefined,
    newPath: newFiles.has(path) ? join(newRoot, path) : undefined,
  }));
  return { pairs, skipped: [...skipped].toSorted(byBytes) };
}

function sameBytes(one, other) {
  if (statSync(one).size !== statSync(other).size) return false;
  const files = [one, other].map((path) => openSync(path, 'r'));
  try {
    const [a, b] = [Buffer.alloc(65_536), Buffer.alloc(65_536)];
    for (let position = 0; ;) {
      const [countA, countB] = [
        readSync(files[0], a, 0, a.length, position),
        readSync(files[1], b, 0, b.length, position),
      ];
      if (countA !== countB || !a.subarray(0, countA).equals(b.subarray(0, countB))) return false;
      if (countA === 0) return true;
      position += countA;
    }
  } finally {
    for (const file of files) closeSync(file);
  }
}

function readSide(path) {
  if (path === undefined) return { kind: 'text', lines: [], openEnd: false };
  if (statSync(path).size > MAX_BYTES) return { kind: 'large' };
  const bytes = readFileSync(path);
  if (bytes.includes(0)) return { kind: 'binary' };
  // One character per byte: every byte comes out again as it went in.
  const lines = bytes.toString('latin1').split('\n');
  const openEnd = lines.at(-1) !== '';
  if (!openEnd) lines.pop();
  return lines.length > MAX_LINES ? { kind: 'large' } : { kind: 'text', lines, openEnd };
}

/** Both sides of a pair: { same, kind: 'text' | 'binary' | 'large', old, new }. */
export function readPair({ path, oldPath, newPath }) {
  return attempt(path, () => {
    const same = oldPath !== undefined && newPath !== undefined && sameBytes(oldPath, newPath);
    if (same) return { same, kind: 'text' };
    const [oldSide, newSide] = [readSide(oldPath), readSide(newPath)];
    const kinds = new Set([oldSide.kind, newSide.kind]);
    const kind = ['large', 'binary'].find((one) => kinds.has(one)) ?? 'text';
    return { same, kind, old: oldSide, new: newSide };
  });
}
