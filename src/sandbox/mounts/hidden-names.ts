import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

import { collisionKey, type HiddenNames } from '#core';
import { quietly } from '#platform';

/** Whether a path below a mounted folder is hidden by a name in it. */
export function matchHiddenNames({ names, shown, always }: HiddenNames): (relative: string) => boolean {
  const [hidden, exception, record] = [`(?:^|/)(?:${names})$`, shown, `(?:^|/)(?:${always})$`].map(
    (source) => new RegExp(source, 'is'),
  ) as [RegExp, RegExp, RegExp];
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
  return (file) => isDocument.test(file) && isSecret.test(readSmallFile(file));
}

/** A regular file, without following a link or waiting for a pipe; otherwise nothing. */
function readSmallFile(file: string): string {
  return quietly(() => {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(descriptor);
      return stats.isFile() && stats.size < MAX_BYTES ? readFileSync(descriptor, 'utf8') : '';
    } finally {
      closeSync(descriptor);
    }
  }, '');
}
