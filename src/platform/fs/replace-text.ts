import { statSync, writeFileSync } from 'node:fs';

import { SkillError } from '../../core/errors.ts';
import { writeFileAtomically } from './atomic-write.ts';
import { isSystemError, realPath } from './paths.ts';

/**
 * Replaces a person's text file in one step, synced, with its permission bits and, where we may, its owner; a link keeps pointing at
 * what it points at.
 */
export function replaceText(file: string, text: string): void {
  const target = realPath(file);
  try {
    const like = statSync(target);
    // Nobody else sees the new text before it has the bits of the old one.
    writeFileAtomically(target, Buffer.from(text, 'utf8'), { mode: 0o600, sync: true, like });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new SkillError({
      code: 'io/failed',
      message: `${JSON.stringify(file)} cannot be written (${error.code}); it is as it was`,
      hint: 'make room, or give yourself write permission on the folder',
      data: { path: file, cause: error.code },
      cause: error,
    });
  }
}

/**
 * Writes a file where a person wants it, in one step. What stands there keeps its permission bits and the links to it; a pipe or a
 * device is written to, and stays what it is. Throws the system's error.
 */
export function writeNamedFile(file: string, text: string): void {
  const there = statSync(file, { throwIfNoEntry: false });
  const bytes = Buffer.from(text, 'utf8');
  if (there === undefined) writeFileAtomically(file, bytes);
  else if (there.isFile()) writeFileAtomically(realPath(file), bytes, { like: there });
  else writeFileSync(file, bytes);
}
