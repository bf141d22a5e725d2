/** Finds programs of this machine without starting them. */
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

import { quietly } from '#platform';

/** The executable that a shell would run for a bare name. */
export function findProgram(name: string, folders: readonly string[]): string | undefined {
  if (name === '' || name.includes('/') || name.includes('\0')) return undefined;
  return folders.map((folder) => path.join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  return quietly(() => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  }, false);
}

/** The version of the running Node, if `file` is its executable. Linux only. */
export function runningNodeVersion(file: string): string | undefined {
  return quietly(() => {
    const running = statSync('/proc/self/exe', { bigint: true });
    const { dev, ino } = statSync(file, { bigint: true });
    return running.dev === dev && running.ino === ino ? process.versions.node : undefined;
  }, undefined);
}
