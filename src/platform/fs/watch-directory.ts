import { watch } from 'node:fs';

import { isSystemError } from './paths.ts';

export interface DirectoryWatch {
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
    const watcher = watch(directory, { persistent: true });
    watcher.on('change', onEvent);
    watcher.on('error', () => {
      watcher.close();
      onLost();
    });
    return { close: () => watcher.close() };
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}
