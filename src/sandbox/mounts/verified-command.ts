import { shellWord, type Executor } from '#core';

/** A folder and the inode that was checked. */
export interface VerifiedFolder {
  /** Where the program sees the folder. */
  readonly target: string;
  readonly inode: string;
}

/**
 * A command that starts the program only if each folder is the one that was checked. Executors mount by path, so between check and mount
 * another process could put a different folder or a link there.
 */
export function verifiedCommand(
  argv: readonly string[],
  folders: readonly VerifiedFolder[],
  stat: string,
): readonly string[] {
  if (folders.length === 0) return argv;
  const checks = folders.map(
    ({ target, inode }) =>
      `[ "$(${stat} ${shellWord(target)})" = ${inode} ] || { echo ${shellWord(`skillwright: ${target} was replaced after it was checked`)} >&2; exit ${String(NOT_VERIFIED)}; }`,
  );
  return ['/bin/sh', '-c', `${checks.join('\n')}\nexec "$@"`, 'sh', ...argv];
}

/** Prints the inode of a folder where the program runs. */
export function statCommand(executor: Executor['name']): string {
  const isMac = executor === 'macos' || (executor === 'local' && process.platform === 'darwin');
  return isMac ? 'stat -f %d:%i' : 'stat -c %d:%i';
}

/** The exit code of a program that was not started. */
const NOT_VERIFIED = 125;
