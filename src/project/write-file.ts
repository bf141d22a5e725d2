import { isUtf8 } from 'node:buffer';

import type { WriteFile } from '../core/action.ts';
import { mediaTypeOf } from '../core/media-type.ts';
import { actionFailed } from '../core/observation.ts';
import type { ActionFailed, FileWritten } from '../core/observation.ts';
import { quoted } from '../core/text/text.ts';
import { writeBeneath } from '../platform/fs/confined-write.ts';
import { sha256 } from '../platform/hash.ts';
import { fileFailed, hostFailure } from './host-failure.ts';
import { readPlaced } from './open-placed.ts';
import type { PlacedPath } from './places.ts';

export interface WriteFileOptions {
  /** Longer content is refused; 4 MiB. */
  readonly maxBytes?: number;
  /**
   * What a person saw there when the write was allowed, as `previewWrite` gave it. Where something else is there by now nothing is
   * written.
   */
  readonly seen?: Pick<WritePreview, 'digest'>;
}

/** Writes a whole file, in one step; folders on the way are made. */
export function writeFile(
  action: WriteFile,
  placed: PlacedPath,
  { maxBytes = 4 * 1024 * 1024, seen }: WriteFileOptions = {},
): FileWritten | ActionFailed {
  const { relative, root, shown } = placed;
  if (relative === '') return fileFailed(action.type, shown, { code: 'file/directory' });
  const bytes = Buffer.from(action.content, 'utf8');
  if (bytes.length > maxBytes) {
    const message = `the content for ${quoted(shown, 200)} has ${String(bytes.length)} bytes; ${String(maxBytes)} are possible`;
    return actionFailed(action.type, hostFailure('file/too-large', message, 'write it in several files'));
  }
  const written = writeBeneath(root, relative, bytes, {
    mayReplace: (digest) => seen === undefined || digestText(digest) === seen.digest,
  });
  if (written.type === 'failed') return writeFailed(action, shown, written);
  const replaced = digestText(written.replaced);
  return {
    type: 'file-written',
    action: action.type,
    path: shown,
    bytes: bytes.length,
    digest: `sha256:${sha256(bytes)}`,
    ...(replaced === undefined ? {} : { replaced }),
  };
}

function writeFailed(action: WriteFile, shown: string, problem: Parameters<typeof fileFailed>[2]): ActionFailed {
  if (problem.code !== 'file/changed') return fileFailed(action.type, shown, problem);
  const message = `${quoted(shown, 200)} is not what it was when the write was judged; nothing was written`;
  return actionFailed(action.type, hostFailure('file/changed', message));
}

function digestText(digest: string | undefined): string | undefined {
  return digest === undefined ? undefined : `sha256:${digest}`;
}

/** What a write would replace, for the person who allows it: as it is, and to be cleaned by whoever shows it. */
export interface WritePreview {
  /** The text that is there; absent where there is none, or none that can be shown. */
  readonly before: string | undefined;
  /** `sha256:` of what is there; absent where nothing is, or nothing that was read. */
  readonly digest: string | undefined;
  /** Why `before` is absent though something is there. */
  readonly note?: string;
}

const MAX_SHOWN_BYTES = 256 * 1024;
/** Read for its digest; what is larger is not replaced either. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

export function previewWrite(placed: PlacedPath): WritePreview {
  const read = readPlaced({ ...placed, place: 'project' }, MAX_READ_BYTES);
  if (read.type === 'failed') {
    const none = { before: undefined, digest: undefined };
    return read.code === 'file/missing' ? none : { ...none, note: `what is there cannot be shown (${read.code})` };
  }
  const { bytes } = read;
  const digest = `sha256:${sha256(bytes)}`;
  if (bytes.length > MAX_SHOWN_BYTES)
    return { before: undefined, digest, note: `what is there has ${String(bytes.length)} bytes and is not shown` };
  const { mediaType, isBinary } = mediaTypeOf(placed.relative, bytes);
  if (isBinary || !isUtf8(bytes))
    return { before: undefined, digest, note: `what is there is no text in UTF-8 (${mediaType})` };
  return { before: bytes.toString('utf8'), digest };
}
