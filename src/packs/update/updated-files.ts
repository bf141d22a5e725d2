/** Reads the files of the installed and the new version of a skill, with their texts, for review before an update. */
import { isUtf8 } from 'node:buffer';

import { compareText, toRelativePath } from '#core';
import type { FileSide, UpdatedFile } from './capability-diff.ts';
import type { FileTable } from './update-plan.ts';
import { openConfined } from '#platform';

/** A folder and its files. */
export interface TreeSide {
  readonly dir: string;
  readonly files: FileTable;
}

/** Larger files are listed without their text. */
const MAX_SHOWN_BYTES = 1024 * 1024;
/** The limit for all texts of one side. */
const MAX_SIDE_BYTES = 32 * 1024 * 1024;

/** Returns the files of both sides, sorted by path. */
export function updatedFiles(before: TreeSide, after: TreeSide): readonly UpdatedFile[] {
  const [old, now] = [fileSides(before), fileSides(after)];
  return [...new Set([...old.keys(), ...now.keys()])].sort(compareText).map((path): UpdatedFile => {
    const [was, is] = [old.get(path), now.get(path)];
    return { path, before: was, after: is };
  });
}

function fileSides({ dir, files }: TreeSide): ReadonlyMap<string, FileSide> {
  const sides = new Map<string, FileSide>();
  const opened = openConfined(dir);
  let room = MAX_SIDE_BYTES;
  try {
    for (const [path, { sha256, bytes, executable }] of Object.entries(files)) {
      const isShown = opened.type === 'open' && bytes <= Math.min(MAX_SHOWN_BYTES, room);
      const text = isShown ? readFileText(opened.directory, path) : undefined;
      room -= text === undefined ? 0 : bytes;
      sides.set(path, { sha256, isExecutable: executable === true, text });
    }
  } finally {
    if (opened.type === 'open') opened.directory.close();
  }
  return sides;
}

type Directory = Extract<ReturnType<typeof openConfined>, { type: 'open' }>['directory'];

/** Returns undefined for binary files. Does not follow links. */
function readFileText(directory: Directory, path: string): string | undefined {
  const relative = toRelativePath(path);
  if (relative.type === 'refused') return undefined;
  const read = directory.read(relative.path, { maxBytes: MAX_SHOWN_BYTES, followLinks: false });
  if (read.type !== 'read' || read.bytes.includes(0) || !isUtf8(read.bytes)) return undefined;
  return read.bytes.toString('utf8');
}
