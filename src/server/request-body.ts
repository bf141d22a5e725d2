import type { IncomingMessage } from 'node:http';

import type { Refusal } from './admission.ts';

export type Body = { readonly type: 'json'; readonly value: unknown } | (Refusal & { readonly type: 'refused' });

/** A body of JSON within a bound. What is longer is not read to its end. */
export async function readJsonBody(request: IncomingMessage, mostBytes: number): Promise<Body> {
  const refused = (status: number, message: string): Body => ({ type: 'refused', status, message });
  // Forms and plain text are what pages of others may send without being asked first.
  if (!/^application\/json(?:\s*;|$)/i.test(request.headers['content-type'] ?? ''))
    return refused(415, 'the body must be application/json');
  const tooLong = refused(413, `the body may have ${String(mostBytes)} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) return tooLong;
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Without an encoding a request gives bytes.
  const chunks: AsyncIterable<Buffer> = request;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > mostBytes) return tooLong;
    pieces.push(chunk);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
    return { type: 'json', value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return refused(400, 'the body is no JSON');
    throw error;
  }
}
