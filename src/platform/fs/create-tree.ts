import { renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '#core';
import { isPresent } from './paths.ts';
import { temporaryName } from './atomic-replace.ts';
import { makeFolders } from './make-folders.ts';
import { isSystemError } from '../system-error.ts';

interface TreeFile {
  /** Relative, with forward slashes. Trusted: the caller has checked a name that it did not choose. */
  readonly path: string;
  readonly text: string | Uint8Array;
  readonly isExecutable: boolean;
}

/** Creates a folder with files atomically. Throws `io/exists` if something is there. */
export function createTree(directory: string, files: readonly TreeFile[]): void {
  refuseExisting(directory);
  const staging = temporaryName(directory, '.new');
  try {
    makeFolders(staging);
    for (const { path: relative, text, isExecutable } of files) {
      const target = path.join(staging, relative);
      makeFolders(path.dirname(target));
      writeFileSync(target, text, { flag: 'wx', mode: isExecutable ? 0o755 : 0o644 });
    }
    refuseExisting(directory);
    renameSync(staging, directory);
  } catch (error) {
    if (isPresent(staging)) rmSync(staging, { recursive: true, force: true });
    if (isSystemError(error) && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST')) throw exists(directory);
    if (!isSystemError(error)) throw error;
    throw new SkillError({
      code: 'io/failed',
      message: `cannot create the folder ${JSON.stringify(directory)}: ${error.code}`,
      hint: 'choose a folder in which you have write permission',
      data: { path: directory, cause: error.code },
      cause: error,
    });
  }
}

function refuseExisting(directory: string): void {
  if (isPresent(directory)) throw exists(directory);
}

function exists(directory: string): SkillError {
  return new SkillError({
    code: 'io/exists',
    message: `${JSON.stringify(directory)} already exists`,
    hint: 'choose another name, or move the existing folder first',
    data: { path: directory },
  });
}
