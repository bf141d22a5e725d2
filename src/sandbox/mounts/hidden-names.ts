import { collisionKey, type HiddenNames } from '#core';
import { readTextFile } from '#platform';

/** Whether a path below a mounted folder is hidden by a name in it. */
export function matchHiddenNames({ names, shown, always }: HiddenNames): (relative: string) => boolean {
  const hidden = new RegExp(`(?:^|/)(?:${names})$`, 'is');
  const exception = new RegExp(shown, 'is');
  const record = new RegExp(`(?:^|/)(?:${always})$`, 'is');
  return (relative) => {
    const key = collisionKey(relative);
    return record.test(key) || (hidden.test(key) && !exception.test(key));
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
