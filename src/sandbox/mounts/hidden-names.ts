import path from 'node:path';

import { collisionKey, type HiddenNames } from '#core';
import { readTextFile } from '#platform';

/** Whether a path below a mounted folder is hidden by a name in it, or by its start together with the name of the folder. */
export function matchHiddenNames({
  names,
  pairs,
  shown,
  always,
}: HiddenNames): (relative: string, folder: string) => boolean {
  const pair = new RegExp(`^(?:${pairs})$`, 'is');
  const hidden = new RegExp(`(?:^|/)(?:${names})$`, 'is');
  const exception = new RegExp(shown, 'is');
  const record = new RegExp(`(?:^|/)(?:${always})$`, 'is');
  return (relative, folder) => {
    const key = collisionKey(relative);
    const start = collisionKey(`${path.basename(folder)}/${relative.split('/', 1)[0] ?? ''}`);
    return record.test(key) || ((hidden.test(key) || pair.test(start)) && !exception.test(key));
  };
}

/** Keys of accounts are shorter. */
const MAX_BYTES = 64 * 1024;

/** Finds files that are secret by what is in them. */
export function secretDocuments({ documents, contents }: HiddenNames): (file: string) => boolean {
  const isDocument = new RegExp(documents, 'is');
  const isSecret = new RegExp(contents, 's');
  return (file) => {
    if (!isDocument.test(file)) return false;
    const read = readTextFile(file, MAX_BYTES);
    return read.type === 'read' && isSecret.test(read.text);
  };
}
