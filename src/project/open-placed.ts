import { openConfined } from '../platform/fs/confined-directory.ts';
import type { ConfinedFile } from '../platform/fs/confined-directory.ts';
import type { PlacedPath } from './places.ts';

/**
 * A whole file where it was judged to be. Files of a project may have other names: package managers link them from their stores. In a
 * workspace and in a skill such a name would be a stranger's way to a file elsewhere.
 */
export function readPlaced({ root, relative, place }: PlacedPath, maxBytes: number): ConfinedFile {
  if (relative === '') return { type: 'failed', code: 'file/directory' };
  const opening = openConfined(root);
  if (opening.type === 'failed')
    return { type: 'failed', code: opening.code === 'skill/gone' ? 'file/missing' : opening.code };
  try {
    return opening.directory.read(relative, { maxBytes, followLinks: false, allowHardLinks: place === 'project' });
  } finally {
    opening.directory.close();
  }
}
