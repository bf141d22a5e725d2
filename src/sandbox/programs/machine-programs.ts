/** What is known of this machine's programs without starting any. */
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

import { isSystemError } from '../../platform/fs/paths.ts';

/** The file that a shell would run for a bare name; nothing where these folders hold none. */
export function findProgram(name: string, folders: readonly string[]): string | undefined {
  if (name === '' || name.includes('/') || name.includes('\0')) return undefined;
  return folders.map((folder) => path.join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

/** The version of this process, where the file is the very one that it was started from. Linux; elsewhere nothing is known. */
export function ownVersion(file: string): string | undefined {
  try {
    const running = statSync('/proc/self/exe', { bigint: true });
    const { dev, ino } = statSync(file, { bigint: true });
    return running.dev === dev && running.ino === ino ? process.versions.node : undefined;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
