import { lstatSync, mkdtempSync } from 'node:fs';
import path from 'node:path';

import { isSkillError } from '../core/errors.ts';
import { isSystemError } from '../platform/fs/paths.ts';
import { nodeCrypto } from '../platform/hash.ts';

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
  const key = home === undefined ? undefined : await keyOf(home);
  if (key === undefined) return mkdtempSync(`${usual}-`);
  return `${usual}-${nodeCrypto().createHmac('sha256', key).update('skillwright workspaces').digest('hex').slice(0, 24)}`;
}

/** Whether something is there that is not a folder of this user. */
function isOccupied(folder: string): boolean {
  try {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined || process.getuid === undefined) return false;
    return !stats.isDirectory() || stats.uid !== process.getuid();
  } catch (error) {
    // The temporary folder itself cannot be used; the program that needs it says so.
    if (isSystemError(error)) return false;
    throw error;
  }
}

async function keyOf(home: string): Promise<Uint8Array | undefined> {
  const { sealKey } = await import('../platform/fs/seal-key.ts');
  try {
    return sealKey(home);
  } catch (error) {
    if (isSkillError(error)) return undefined;
    throw error;
  }
}
