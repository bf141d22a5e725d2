import type { IncomingMessage } from 'node:http';

import type { Refusal } from '../platform/net/loopback-admission.ts';

export type Body = { readonly type: 'json'; readonly value: unknown } | (Refusal & { readonly type: 'refused' });

/** Reads a JSON body up to a size limit and stops reading beyond it. */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<Body> {
  const refused = (status: number, message: string): Body => ({ type: 'refused', status, message });
  // Web pages may send forms and plain text to other origins without a preflight request.
  if (!/^application\/json(?:\s*;|$)/i.test(request.headers['content-type'] ?? ''))
    return refused(415, 'the content type must be application/json');
  const tooLong = refused(413, `the body is larger than ${String(maxBytes)} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return tooLong;
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Chunks are buffers, because no encoding is set.
  const chunks: AsyncIterable<Buffer> = request;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) return tooLong;
    pieces.push(chunk);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
    return { type: 'json', value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return refused(400, 'the body is not valid JSON');
    throw error;
  }
}
