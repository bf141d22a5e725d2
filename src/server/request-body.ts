import type { IncomingMessage } from 'node:http';

import { httpError } from './http-error.ts';

/** Reads a JSON body up to a size limit and stops reading beyond it. */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  // Web pages may send forms and plain text to other origins without a preflight request.
  if (!/^application\/json(?:\s*;|$)/i.test(request.headers['content-type'] ?? ''))
    throw httpError(415, 'the content type must be application/json');
  const bytes = await readBytes(request, maxBytes);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) throw httpError(400, 'the body is not valid JSON');
    throw error;
  }
}

/** Reads the fields of a form. Pages of other origins can send one too, so the caller checks the origin. */
export async function readForm(request: IncomingMessage, maxBytes: number): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded(?:\s*;|$)/i.test(request.headers['content-type'] ?? ''))
    throw httpError(415, 'the content type must be application/x-www-form-urlencoded');
  return new URLSearchParams((await readBytes(request, maxBytes)).toString('utf8'));
}

/** Reads a file. The content type needs a preflight request, which is never granted, on pages of other origins. */
export async function readFileBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (request.headers['content-type'] !== 'application/octet-stream')
    throw httpError(415, 'the content type must be application/octet-stream');
  return readBytes(request, maxBytes);
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLong = httpError(413, `the body is larger than ${String(maxBytes)} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLong;
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Chunks are buffers, because no encoding is set.
  const chunks: AsyncIterable<Buffer> = request;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong;
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}
