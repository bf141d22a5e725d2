/** Content of a run in files that are named by their hash: written before any line speaks of them, once for equal bytes. */
import { lstatSync, mkdirSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../core/errors.ts';
import type { ContentKind, ContentReference } from '../core/run-events.ts';
import { toRelativePath } from '../core/path.ts';
import { writeFileAtomically } from '../platform/fs/atomic-replace.ts';
import type { ConfinedDirectory } from '../platform/fs/confined-directory.ts';
import { sha256 } from '../platform/hash.ts';
import { IncompleteWrite } from './append-file.ts';

const QUIET = { throwIfNoEntry: false } as const;
/** Of one file that is read back. */
const MAX_CONTENT_BYTES = 512 * 1024 * 1024;

/** Where bytes are kept, relative to the run folder. */
export function contentPath(kind: ContentKind, bytes: Uint8Array): string {
  return `${kind}/${sha256(bytes)}`;
}

/**
 * Writes bytes to their place and says whether they were not there before. Throws the system's error, and `IncompleteWrite` where
 * somebody put something else in the place of the folder.
 */
export function keepContent(run: string, place: string, bytes: Uint8Array, sync: boolean): boolean {
  const file = path.join(run, place);
  const folder = path.dirname(file);
  if (lstatSync(folder, QUIET) === undefined) mkdirSync(folder, { mode: 0o700 });
  if (!lstatSync(folder).isDirectory()) throw new IncompleteWrite(`${path.basename(folder)} is no folder`);
  const stats = lstatSync(file, QUIET);
  if (stats?.isFile() === true && stats.size === bytes.length) return false;
  writeFileAtomically(file, bytes, { sync });
  return true;
}

export type ContentReading =
  | { readonly type: 'read'; readonly bytes: Buffer }
  | { readonly type: 'missing' }
  | { readonly type: 'edited'; readonly reason: string };

/** Bytes that are those that were kept, or what is wrong with them. */
export function readContent(
  folder: ConfinedDirectory,
  { $ref, bytes: size }: Pick<ContentReference, '$ref' | 'bytes'>,
): ContentReading {
  const file = toRelativePath($ref);
  if (file.type === 'refused') return { type: 'missing' };
  const read = folder.read(file.path, { maxBytes: Math.min(size, MAX_CONTENT_BYTES), allowHardLinks: true });
  if (read.type === 'failed')
    return read.code === 'file/missing' ? { type: 'missing' } : { type: 'edited', reason: read.code };
  const isSame = read.bytes.length === size && sha256(read.bytes) === path.posix.basename($ref);
  return isSame ? read : { type: 'edited', reason: 'its bytes are others than were recorded' };
}

/** The text behind a reference. Throws `run/invalid` where it is gone or changed. */
export function contentText(folder: ConfinedDirectory, reference: ContentReference): string {
  const reading = readContent(folder, reference);
  if (reading.type === 'read') return reading.bytes.toString('utf8');
  throw new SkillError({
    code: 'run/invalid',
    message: `the content ${reference.$ref} is ${reading.type === 'missing' ? 'missing' : `damaged: ${reading.reason}`}`,
    hint: 'see what else is wrong: skillwright runs verify',
    data: { path: reference.$ref },
  });
}
