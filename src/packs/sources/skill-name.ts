import { closeSync, openSync, readSync } from 'node:fs';

import { readSimpleHead } from '../../format/skill-head.ts';
import { SKILL_FILE_NAME } from './skill-folders.ts';

/** More than frontmatter may have. */
export const MAX_HEAD = 80 * 1024;

/** The name that a SKILL.md gives its skill; `folder` where it gives none. The start of the file is enough. */
export async function skillName(text: string, folder: string): Promise<string> {
  const source = { path: SKILL_FILE_NAME, directory: folder, fileName: SKILL_FILE_NAME, text, validUtf8: true };
  const plain = readSimpleHead(source, { mode: 'lenient' });
  if (plain?.head !== undefined) return plain.head.name;
  // Frontmatter that needs the YAML library is rare, and the library slow to load.
  const { readHead } = await import('../../format/read-head.ts');
  // Composed, as archives are unpacked: some systems take names of folders apart.
  return readHead(source, { mode: 'lenient' }).head?.name ?? folder.normalize('NFC');
}

/** The start of a file in the staging folder, which is ours. */
export function startOfFile(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(MAX_HEAD);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, MAX_HEAD, 0));
  } finally {
    closeSync(descriptor);
  }
}
