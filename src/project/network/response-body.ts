import type { IncomingMessage } from 'node:http';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

import { cleanText, detectMediaType, startOfText } from '#core';

export interface ReceivedBody {
  readonly bytes: Buffer;
  readonly isCut: boolean;
  /** It has a content encoding that is not supported. */
  readonly isEncoded: boolean;
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
]);

/**
 * Reads a body up to `maxBytes` after decompression, so that a decompression bomb is cut off. Rejects with connection and decompression
 * errors.
 */
export async function receiveBody(response: IncomingMessage, maxBytes: number): Promise<ReceivedBody> {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const decoder = DECODERS.get(encoding)?.();
  const body = decoder === undefined ? await take(response, maxBytes) : await unpack(response, decoder, maxBytes);
  response.destroy();
  return { ...body, isEncoded: decoder === undefined && encoding !== 'identity' && encoding !== '' };
}

type CollectedBody = Omit<ReceivedBody, 'isEncoded'>;

async function take(source: AsyncIterable<Buffer>, maxBytes: number): Promise<CollectedBody> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of source) {
    pieces.push(piece.subarray(0, maxBytes - length));
    length += piece.length;
    if (length > maxBytes) break;
  }
  return { bytes: Buffer.concat(pieces), isCut: length > maxBytes };
}

/** Compressed input is at most this many times the limit: a stream may decompress to nothing. */
const MAX_COMPRESSED_RATIO = 2;

async function unpack(response: IncomingMessage, decoder: Transform, maxBytes: number): Promise<CollectedBody> {
  let received = 0;
  async function* packed(): AsyncGenerator<Buffer> {
    const pieces: AsyncIterable<Buffer> = response;
    for await (const piece of pieces) {
      received += piece.length;
      if (received > maxBytes * MAX_COMPRESSED_RATIO)
        throw Object.assign(new Error('the body cannot be decompressed'), { code: 'EMSGSIZE' });
      yield piece;
    }
  }
  try {
    // Errors surface in the last stream, which is read here.
    return await take(
      pipeline(packed, decoder, () => undefined),
      maxBytes,
    );
  } catch (error) {
    // A response to HEAD, or an empty one, has a content encoding but no body.
    if (received === 0 && response.complete) return { bytes: Buffer.alloc(0), isCut: false };
    throw error;
  }
}

export interface ShownBody {
  readonly mediaType: string;
  readonly isBinary: boolean;
  readonly text: string;
  readonly isCut: boolean;
}

const MAX_CHARACTERS = 64 * 1024;
const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/;

/** A body for a model. Its bytes decide whether it is text, not the server. */
export function showBody(
  { bytes, isCut, isEncoded }: ReceivedBody,
  contentType: string | undefined,
  path: string,
): ShownBody {
  const [declared = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const found = detectMediaType(path, bytes);
  const mediaType = MEDIA_TYPE.test(declared.trim()) ? declared.trim() : found.mediaType;
  const text = isEncoded ? undefined : decode(bytes, parameters, found.isBinary);
  if (text === undefined) return { mediaType, isBinary: true, text: '', isCut };
  const clean = cleanText(text);
  const shown = startOfText(clean, MAX_CHARACTERS);
  return { mediaType, isBinary: false, text: shown, isCut: isCut || shown.length < clean.length };
}

/** `undefined` for binary data and unknown encodings. The last character may be incomplete. */
function decode(bytes: Buffer, parameters: readonly string[], isBinary: boolean): string | undefined {
  const charset = parameters.map((part) => /^\s*charset\s*=\s*"?([\w.:-]{1,40})"?\s*$/.exec(part)?.[1]).find(Boolean);
  const isWide = charset?.startsWith('utf-16') === true;
  if (isBinary && !isWide) return undefined;
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(bytes, { stream: true });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
