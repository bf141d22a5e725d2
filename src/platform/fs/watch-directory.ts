import { watch } from 'node:fs';

import { isSystemError } from './paths.ts';

export interface DirectoryWatch {
  close(): void;
}

export interface DirectoryWatchEvents {
  /** Something below the directory may have changed. */
  readonly onEvent: () => void;
  /** No more events will come: the directory is gone, or the system has no watches left. */
  readonly onLost: () => void;
}

/** Watches one directory's own entries; nothing where the system refuses (no such directory, no inotify watches left). */
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
