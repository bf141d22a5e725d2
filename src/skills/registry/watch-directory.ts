import { statSync, watch } from 'node:fs';

import { isSystemError } from '#platform';

export interface DirectoryWatch {
  /** False if another directory has the name now: the system watches the old one, wherever it went. */
  isCurrent(): boolean;
  close(): void;
}

export interface DirectoryWatchEvents {
  /** An entry of the directory may have changed. */
  readonly onEvent: () => void;
  /** No more events follow: the directory was removed, or the system has no watches left. */
  readonly onLost: () => void;
}

/** Watches the entries of one directory; `undefined` if the system refuses (no such directory, no inotify watches left). */
export function watchDirectory(
  directory: string,
  { onEvent, onLost }: DirectoryWatchEvents,
): DirectoryWatch | undefined {
  try {
    // Before the watch: a directory that is replaced in between is found out later.
    const watched = identityOf(directory);
    const watcher = watch(directory, { persistent: true });
    watcher.on('change', onEvent);
    watcher.on('error', () => {
      watcher.close();
      onLost();
    });
    return { isCurrent: () => identityOf(directory) === watched, close: () => watcher.close() };
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

/** Inode numbers are used again, so the time of birth counts too. */
function identityOf(directory: string): string | undefined {
  try {
    const stats = statSync(directory, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? undefined : `${String(stats.dev)}:${String(stats.ino)}:${String(stats.birthtimeNs)}`;
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
