import { isInside, realPath, tryRealPath } from '../platform/paths.ts';
import { readTextFile } from '../platform/text-file.ts';
import type { TextFile } from '../platform/text-file.ts';

/** Larger files are not skills that a model could read. */
const MAX_SKILL_FILE_BYTES = 4 * 1024 * 1024;

/** Reads a whole SKILL.md: only ever for a skill that somebody selected, or for the deep search index. A link out of the skill is refused. */
export function readSkillFile(dir: string, fileName: string): TextFile {
  const file = `${dir}/${fileName}`;
  const plain = readTextFile(file, MAX_SKILL_FILE_BYTES, { followLinks: false });
  if (plain.type !== 'link') return plain;
  const target = tryRealPath(file);
  if (target === undefined) return { type: 'absent' };
  if (!isInside(target, realPath(dir))) return { type: 'failed', reason: 'it is a link to a place outside its skill' };
  const read = readTextFile(target, MAX_SKILL_FILE_BYTES, { followLinks: false });
  return read.type === 'link' ? { type: 'failed', reason: 'it changed while it was read' } : read;
}
