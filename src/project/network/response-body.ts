import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

import { startOfText } from '../../core/text/excerpt.ts';
import { mediaTypeOf } from '../../core/media-type.ts';
import { cleanText } from '../../core/text/text.ts';

/** The start of an answer's body. */
export interface ReceivedBody {
  readonly bytes: Buffer;
  /** There was more. */
  readonly isCut: boolean;
  /** It came in a form that is not taken apart here. */
  readonly isEncoded: boolean;
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
]);

/**
 * Takes a body up to a number of bytes, counted as they are unpacked: a small body that unpacks to a huge one is cut where it becomes
 * too large. Rejects with the error of the connection or of the unpacking.
 */
export async function receiveBody(response: IncomingMessage, maxBytes: number): Promise<ReceivedBody> {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const decoder = DECODERS.get(encoding)?.();
  const taken = decoder === undefined ? await take(response, maxBytes) : await unpack(response, decoder, maxBytes);
  response.destroy();
  return { ...taken, isEncoded: decoder === undefined && encoding !== 'identity' && encoding !== '' };
}

type Taken = Omit<ReceivedBody, 'isEncoded'>;

async function take(source: AsyncIterable<Buffer>, maxBytes: number): Promise<Taken> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of source) {
    pieces.push(piece.subarray(0, maxBytes - length));
    length += piece.length;
    if (length > maxBytes) break;
  }
  return { bytes: Buffer.concat(pieces), isCut: length > maxBytes };
}

/** Packed a body is never much larger than unpacked: far beyond that it is a stream that unpacks to nothing. */
const PACKED = 2;

async function unpack(response: IncomingMessage, decoder: Transform, maxBytes: number): Promise<Taken> {
  let received = 0;
  async function* packed(): AsyncGenerator<Buffer> {
    const pieces: AsyncIterable<Buffer> = response;
    for await (const piece of pieces) {
      received += piece.length;
      if (received > maxBytes * PACKED)
        throw Object.assign(new Error('the body does not unpack'), { code: 'EMSGSIZE' });
      yield piece;
    }
  }
  try {
    // An error comes out of the last stream, which is the one that is read.
    return await take(
      pipeline(packed, decoder, () => undefined),
      maxBytes,
    );
  } catch (error) {
    // An answer to HEAD, or an empty one, says how it would be packed.
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

/** Characters that are shown. */
const MAX_CHARACTERS = 64 * 1024;
const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/;

/** A body as a model may see it. Whether it is text its bytes say, not the server. */
export function showBody(
  { bytes, isCut, isEncoded }: ReceivedBody,
  contentType: string | undefined,
  path: string,
): ShownBody {
  const [said = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const found = mediaTypeOf(path, bytes);
  const mediaType = MEDIA_TYPE.test(said.trim()) ? said.trim() : found.mediaType;
  const text = isEncoded ? undefined : decode(bytes, parameters, found.isBinary);
  if (text === undefined) return { mediaType, isBinary: true, text: '', isCut };
  const clean = cleanText(text);
  const shown = startOfText(clean, MAX_CHARACTERS);
  return { mediaType, isBinary: false, text: shown, isCut: isCut || shown.length < clean.length };
}

/** Nothing for what is no text, or text in an encoding that nobody knows. The last character may have been cut in two. */
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
