import { closeSync, fchmodSync, openSync, writeSync } from 'node:fs';

import { NEW_FILE } from './open-flags.ts';

/** A file that is being written. */
export interface FileWriter {
  write(bytes: Uint8Array): void;
  close(): void;
}

/** A file where nothing stands, written piece by piece; it has `mode` whatever mask the process has. Throws the system's errors. */
export function openNewFile(file: string, mode: number): FileWriter {
  const descriptor = openSync(file, NEW_FILE, mode);
  try {
    fchmodSync(descriptor, mode);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return {
    write(bytes) {
      for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
    },
    close: () => closeSync(descriptor),
  };
}
