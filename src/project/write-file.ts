import { isUtf8 } from 'node:buffer';

import {
  actionFailed,
  detectMediaType,
  quoted,
  type ActionFailed,
  type Observation,
  type OfType,
  type Action,
} from '#core';
import { sha256, writeBeneath } from '#platform';
import { fileFailed, hostFailure } from './host-failure.ts';
import { readResolved } from './read-file.ts';
import { keepReplaced } from './trash.ts';
import type { ResolvedPath } from './resolve-path.ts';

export interface WriteFileOptions {
  readonly maxBytes?: number;
  /**
   * The preview that the user approved, from `previewWrite`. If the file has changed since, nothing is written.
   */
  readonly seen?: Pick<WritePreview, 'digest'>;
}

export function writeFile(
  action: OfType<Action, 'write_file'>,
  placed: ResolvedPath,
  { maxBytes = 4 * 1024 * 1024, seen }: WriteFileOptions = {},
): OfType<Observation, 'file-written'> | ActionFailed {
  const { relative, root, shown } = placed;
  if (relative === '') return fileFailed(action.type, shown, { code: 'file/directory' });
  const bytes = Buffer.from(action.content, 'utf8');
  if (bytes.length > maxBytes) {
    const message = `the content for ${quoted(shown, 200)} has ${String(bytes.length)} bytes; the limit is ${String(maxBytes)}`;
    return actionFailed(action.type, hostFailure('file/too-large', message, 'split it into several files'));
  }
  // The workspace ends with the run; only files of the project can be restored.
  const old = placed.place === 'project' ? readResolved(placed, MAX_READ_BYTES) : undefined;
  const oldDigest = old?.type === 'read' ? `sha256:${sha256(old.bytes)}` : undefined;
  const expected = seen ?? (oldDigest === undefined ? undefined : { digest: oldDigest });
  if (oldDigest !== undefined && expected?.digest !== oldDigest)
    return writeFailed(action, shown, { code: 'file/changed' });
  const kept = old?.type === 'read' ? keepReplaced(placed, old.bytes) : undefined;
  if (typeof kept === 'object') return actionFailed(action.type, kept);
  // A file that another program created meanwhile is not replaced either: nothing keeps its content.
  const written = writeBeneath(root, relative, bytes, {
    mayReplace: (digest) =>
      expected === undefined && placed.place !== 'project' ? true : digestText(digest) === expected?.digest,
  });
  if (written.type === 'failed') return writeFailed(action, shown, written);
  const replaced = digestText(written.replaced);
  return {
    type: 'file-written',
    action: action.type,
    path: shown,
    bytes: bytes.length,
    digest: `sha256:${sha256(bytes)}`,
    replaced,
    kept,
    ...(placed.place === 'project' ? { mode: written.mode } : {}),
    ...(placed.place === 'project' && written.lostBits !== 0 ? { specialBits: written.lostBits } : {}),
  };
}

function writeFailed(
  action: OfType<Action, 'write_file'>,
  shown: string,
  problem: Parameters<typeof fileFailed>[2],
): ActionFailed {
  if (problem.code !== 'file/changed') return fileFailed(action.type, shown, problem);
  const message = `${quoted(shown, 200)} changed after the write was approved; nothing was written`;
  return actionFailed(action.type, hostFailure('file/changed', message));
}

function digestText(digest: string | undefined): string | undefined {
  return digest === undefined ? undefined : `sha256:${digest}`;
}

/** What a write would replace, for the approval. The text is raw: sanitize it before display. */
export interface WritePreview {
  /** The current text; `undefined` for a new file or if it cannot be shown. */
  readonly before: string | undefined;
  /** `sha256:` of the current file; `undefined` for a new file or if it was not read. */
  readonly digest: string | undefined;
  /** Why `before` is `undefined` although the file exists. */
  readonly note?: string;
}

const MAX_SHOWN_BYTES = 256 * 1024;
/** Larger files are not replaced, so they need no digest. */
const MAX_READ_BYTES = 64 * 1024 * 1024;

export function previewWrite(placed: ResolvedPath): WritePreview {
  const read = readResolved({ ...placed, place: 'project' }, MAX_READ_BYTES);
  if (read.type === 'failed') {
    const none = { before: undefined, digest: undefined };
    return read.code === 'file/missing' ? none : { ...none, note: `the current file cannot be shown (${read.code})` };
  }
  const { bytes } = read;
  const digest = `sha256:${sha256(bytes)}`;
  if (bytes.length > MAX_SHOWN_BYTES)
    return { before: undefined, digest, note: `the current file has ${String(bytes.length)} bytes and is not shown` };
  const { mediaType, isBinary } = detectMediaType(placed.relative, bytes);
  if (isBinary || !isUtf8(bytes))
    return { before: undefined, digest, note: `the current file is not UTF-8 text (${mediaType})` };
  return { before: bytes.toString('utf8'), digest };
}
