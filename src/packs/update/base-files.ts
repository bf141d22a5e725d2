import type { LockedFile } from '../lock/lock.ts';
import { toRelativePath } from '../../core/path.ts';
import { openConfined } from '../../platform/fs/confined-directory.ts';
import { sha256 } from '../../platform/hash.ts';

/**
 * The bytes of files as they were installed, from folders that may still have them: the same revision brought again, a version that was
 * kept. The first that fits the lock is taken, so that it does not matter what else lies in them. Folders are opened for each file.
 */
export function baseFilesIn(
  folders: readonly string[],
  { maxBytes }: { readonly maxBytes: number },
): (path: string, file: LockedFile) => Uint8Array | undefined {
  return (path, file) => {
    const asked = toRelativePath(path);
    if (asked.type === 'refused' || file.bytes > maxBytes) return undefined;
    for (const folder of folders) {
      const opened = openConfined(folder);
      if (opened.type === 'failed') continue;
      try {
        const read = opened.directory.read(asked.path, { maxBytes, followLinks: false });
        if (read.type === 'read' && sha256(read.bytes) === file.sha256) return read.bytes;
      } finally {
        opened.directory.close();
      }
    }
    return undefined;
  };
}
