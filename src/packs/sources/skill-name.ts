import { closeSync, openSync, readSync } from 'node:fs';

import { readSimpleHead } from '#skills';
import { isValidName, toSlug, type SkillHead } from '#core';
import { SKILL_FILE_NAME } from './skill-folders.ts';

/** More than frontmatter may have. */
export const MAX_HEAD = 80 * 1024;

/** The frontmatter of SKILL.md, if it can be read. The start of the file is sufficient. */
export async function skillHead(text: string, folder: string): Promise<SkillHead | undefined> {
  const source = { path: SKILL_FILE_NAME, directory: folder, fileName: SKILL_FILE_NAME, text, validUtf8: true };
  const plain = readSimpleHead(source, { mode: 'lenient' });
  if (plain?.head !== undefined) return plain.head;
  // Loaded lazily: few files need the YAML library, and it loads slowly.
  const { readHead } = await import('#skills/read-head');
  return readHead(source, { mode: 'lenient' }).head;
}

/**
 * The name under which a skill is installed: the name in SKILL.md, or `folder` if it has none. A name that a loader accepts and that is not
 * valid, such as `My Skill`, gives way to a valid name of the folder, or to its nearest valid spelling.
 */
export async function skillName(text: string, folder: string): Promise<string> {
  // In NFC as in unpacked archives, because some systems decompose folder names.
  const composed = folder.normalize('NFC');
  const name = (await skillHead(text, folder))?.name ?? composed;
  if (isValidName(name)) return name;
  return [composed, toSlug(name)].find(isValidName) ?? name;
}

/** Reads the start of a file in the staging folder. */
export function startOfFile(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(MAX_HEAD);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, MAX_HEAD, 0));
  } finally {
    closeSync(descriptor);
  }
}
