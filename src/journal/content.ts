/**
 * The content of a run in files that are named by their hash. A file is written before a line refers to it, and once for equal bytes.
 */
import path from 'node:path';

import { SkillError, toRelativePath, isProblem } from '#core';
import { sha256, type ConfinedDirectory } from '#platform';
import type { ContentKind, ContentReference } from './references.ts';

/** The largest file that is read. */
const MAX_CONTENT_BYTES = 512 * 1024 * 1024;

/** Returns the path of the bytes relative to the run folder. */
export function contentPath(kind: ContentKind, bytes: Uint8Array): string {
  return `${kind}/${sha256(bytes)}`;
}

export type ContentReading =
  | { readonly type: 'read'; readonly bytes: Buffer }
  | { readonly type: 'missing' }
  | { readonly type: 'edited'; readonly reason: string };

/** Returns the bytes if they match their hash, otherwise the problem. */
export function readContent(
  folder: ConfinedDirectory,
  { $ref, bytes: size }: Pick<ContentReference, '$ref' | 'bytes'>,
): ContentReading {
  const file = toRelativePath($ref);
  if (isProblem(file)) return { type: 'missing' };
  const read = folder.read(file, { maxBytes: Math.min(size, MAX_CONTENT_BYTES), allowHardLinks: true });
  if (read.type === 'failed')
    return read.code === 'file/missing' ? { type: 'missing' } : { type: 'edited', reason: read.code };
  const isSame = read.bytes.length === size && sha256(read.bytes) === path.posix.basename($ref);
  return isSame ? read : { type: 'edited', reason: 'its bytes do not match the recorded hash' };
}

/** Returns the text of a reference. Throws `run/invalid` if it is missing or changed. */
export function contentText(folder: ConfinedDirectory, reference: ContentReference): string {
  const reading = readContent(folder, reference);
  if (reading.type === 'read') return reading.bytes.toString('utf8');
  throw new SkillError({
    code: 'run/invalid',
    message: `the content ${reference.$ref} is ${reading.type === 'missing' ? 'missing' : `damaged: ${reading.reason}`}`,
    hint: 'run skillwright runs verify to find other problems',
    data: { path: reference.$ref },
  });
}
