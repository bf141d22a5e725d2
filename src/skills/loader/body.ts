import { isUtf8 } from 'node:buffer';

import { fileProblemText, toRelativePath, type ActionProblem, isProblem } from '#core';
import { inConfined, type ConfinedDirectory, type readTextFile } from '#platform';

/** A model could not read a larger SKILL.md. */
const MAX_SKILL_FILE_BYTES = 4 * 1024 * 1024;

/** Reads the bytes of a SKILL.md. Hard links are allowed, because package managers link files from a store and the index reads them. */
export function readSkillBytes(directory: ConfinedDirectory, fileName: string): ReturnType<ConfinedDirectory['read']> {
  const reading = toRelativePath(fileName);
  if (isProblem(reading)) return { type: 'failed', code: reading.code };
  return directory.read(reading, { maxBytes: MAX_SKILL_FILE_BYTES, allowHardLinks: true });
}

/** `code` says what kind of failure it was, where the file itself is what cannot be read. */
export type SkillFile =
  | Exclude<ReturnType<typeof readTextFile>, { readonly type: 'failed' }>
  | { readonly type: 'failed'; readonly reason: string; readonly code?: ActionProblem['code'] };

/** Reads a whole SKILL.md: only for a selected skill or the deep search index. Links to targets outside the skill are rejected. */
export function readSkillFile(dir: string, fileName: string): SkillFile {
  return inConfined<SkillFile>(
    dir,
    (directory) => {
      const read = readSkillBytes(directory, fileName);
      if (read.type === 'read')
        return { type: 'read', text: read.bytes.toString('utf8'), validUtf8: isUtf8(read.bytes) };
      return read.code === 'file/missing'
        ? { type: 'absent' }
        : { type: 'failed', reason: `it ${fileProblemText(read)}`, code: read.code };
    },
    (code) => (code === 'skill/gone' ? { type: 'absent' } : { type: 'failed', reason: 'its folder cannot be read' }),
  );
}
