/** One request to the API: finds its route, reads the body, and sends the answer. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { isSkillError } from '../core/errors.ts';
import { LOOPBACK_HEADERS, respond } from '../platform/net/loopback-server.ts';
import { HttpError, statusOf } from './http-error.ts';
import { API_PATH } from './open-api.ts';
import { readFileBody, readJsonBody } from './request-body.ts';
import { findRoute } from './router.ts';
import type { Answer, Route } from './router.ts';

export interface ApiExchange {
  readonly routes: readonly Route[];
  readonly limits: { readonly bodyBytes: number; readonly uploadBytes: number };
  readonly closing: AbortSignal;
  /** The OpenAPI description. */
  readonly description: () => object;
}

/** Answers a request below `API_PATH`. Throws `HttpError`. */
export async function answerApi(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  { routes, limits, closing, description }: ApiExchange,
): Promise<void> {
  const path = url.pathname.slice(API_PATH.length);
  if (request.method === 'GET' && path === '/openapi.json') return respond(response, 200, description());
  const found = findRoute(routes, request.method ?? '', path);
  if ('allowed' in found) {
    if (found.allowed.length === 0) throw new HttpError(404, `not found; the routes are in ${API_PATH}/openapi.json`);
    response.setHeader('allow', found.allowed.join(', '));
    throw new HttpError(405, `method ${request.method ?? ''} is not allowed here`);
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { route, params } = found;
  const last = request.headers['last-event-id'];
  const signal = AbortSignal.any([gone.signal, closing]);
  const reply = await route.handle({
    params,
    query: Object.fromEntries([...url.searchParams].filter(([name]) => name !== 'token')),
    body:
      route.body === undefined
        ? undefined
        : route.body === 'bytes'
          ? await readFileBody(request, limits.uploadBytes)
          : await readJsonBody(request, limits.bodyBytes),
    signal,
    lastEventId: typeof last === 'string' ? last : undefined,
  });
  await send(reply, response, signal);
}

/** Sends an error that has a status of its own. Returns false for any other, which is a bug. */
export function sendError(response: ServerResponse, error: unknown): boolean {
  if (response.headersSent) response.destroy();
  else if (error instanceof HttpError)
    respond(response, error.status, {
      error: error.message,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
  else if (isSkillError(error))
    respond(response, statusOf(error.code), { error: error.message, code: error.code, hint: error.hint });
  else return false;
  return true;
}

async function send(reply: Answer, response: ServerResponse, signal: AbortSignal): Promise<void> {
  if (reply.type === 'json') return respond(response, reply.status, reply.value);
  if (reply.type === 'events') {
    response.writeHead(200, { ...LOOPBACK_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
    // The client knows that the stream is open before the first event.
    response.flushHeaders();
    await writeAll(reply.frames, response, signal);
    return;
  }
  const name = reply.name.replaceAll(/[^\w.-]/g, '_');
  response.writeHead(200, {
    ...LOOPBACK_HEADERS,
    'content-type': reply.mediaType,
    'content-disposition': `attachment; filename="${name}"; filename*=UTF-8''${encodeURIComponent(reply.name)}`,
  });
  await writeAll(reply.chunks, response, signal);
}

async function writeAll(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  for await (const chunk of chunks) {
    // Applies backpressure, so that a slow reader does not fill the memory.
    if (!response.write(chunk) && !signal.aborted) await once(response, 'drain', { signal }).catch(() => undefined);
    if (signal.aborted) break;
  }
  response.end();
}
