import { renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import { isPresent, isSystemError } from './paths.ts';
import { temporaryName } from './atomic-replace.ts';
import { makeFolders } from './make-folders.ts';

export interface TreeFile {
  /** Relative, with forward slashes; names chosen by us, never by a skill. */
  readonly path: string;
  readonly text: string;
  readonly isExecutable: boolean;
}

/** Makes a folder with files that appears whole or not at all. Throws `io/exists` rather than touch what is there. */
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
      message: `the folder ${JSON.stringify(directory)} cannot be made: ${error.code}`,
      hint: 'name a folder that you may write to',
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
    message: `there is something at ${JSON.stringify(directory)} already`,
    hint: 'choose another name, or move it away first',
    data: { path: directory },
  });
}
