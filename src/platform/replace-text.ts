import { statSync } from 'node:fs';

import { SkillError } from '../core/errors.ts';
import { writeFileAtomically } from './atomic-write.ts';
import { isSystemError, realPath } from './paths.ts';

/** Replaces a person's text file in one step, synced, with its permission bits; a link keeps pointing at what it points at. */
export function replaceText(file: string, text: string): void {
  const target = realPath(file);
  try {
    writeFileAtomically(target, Buffer.from(text, 'utf8'), { mode: statSync(target).mode & 0o777, sync: true });
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
