import { lstatSync, mkdtempSync } from 'node:fs';
import path from 'node:path';

import { quietly } from '#platform';

/**
 * The folder for workspaces below the temporary folder of the system. Other users can create files there, so a name that is taken by one of
 * them is not used: the next name follows from the key of this user, which no other user can guess.
 */
export async function temporaryFolder(
  env: Readonly<Record<string, string | undefined>>,
  home: string | undefined,
): Promise<string> {
  const temporary = env['TMPDIR'];
  // Not the home folder, because programs run as another user who could not enter it.
  const parent = temporary === undefined || temporary === '' ? '/tmp' : temporary;
  const usual = path.join(parent, `skillwright-${String(process.getuid?.() ?? 0)}`);
  if (!isOccupied(usual)) return usual;
  const { readSealKey } = await import('#platform/seal-key');
  const key = readSealKey(home, { create: true });
  if (key === undefined) return mkdtempSync(`${usual}-`);
  const { createHmac } = await import('node:crypto');
  return `${usual}-${createHmac('sha256', key).update('skillwright workspaces').digest('hex').slice(0, 24)}`;
}

/** Whether something is there that is not a folder of this user. */
function isOccupied(folder: string): boolean {
  // A temporary folder that cannot be read at all is reported by the program that needs it.
  const stats = quietly(() => lstatSync(folder));
  if (stats === undefined || process.getuid === undefined) return false;
  return !stats.isDirectory() || stats.uid !== process.getuid();
}
