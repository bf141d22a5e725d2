import { toRelativePath, isProblem } from '#core';
import type { ConfinedDirectory } from '#platform';

const MAX_BYTES = 256 * 1024;

/** The text of a file of a skill; undefined where it cannot be read. A staged skill may consist of hard links. */
export function readSkillText(directory: ConfinedDirectory, file: string, maxBytes = MAX_BYTES): string | undefined {
  const asked = toRelativePath(file);
  if (isProblem(asked)) return undefined;
  const read = directory.read(asked, { maxBytes, allowHardLinks: true });
  return 'bytes' in read ? read.bytes.toString('utf8') : undefined;
}
