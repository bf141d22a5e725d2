import { openSync, fchmodSync, closeSync } from 'node:fs';

import { OPEN_FLAGS, writeAll } from '#platform';

export interface FileWriter {
  write(bytes: Uint8Array): void;
  close(): void;
}

/** Creates a file that is written in chunks. It has exactly `mode`, whatever the umask. Throws system errors. */
export function openNewFile(file: string, mode: number): FileWriter {
  const descriptor = openSync(file, OPEN_FLAGS.newFile, mode);
  try {
    fchmodSync(descriptor, mode);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return { write: (bytes) => writeAll(descriptor, bytes), close: () => closeSync(descriptor) };
}
