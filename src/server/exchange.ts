/** One request to the API: finds its route, reads the body, and sends the answer. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { LOOPBACK_HEADERS, respond } from '#platform';
import { httpError } from './http-error.ts';
import { API_PATH, openApi } from './open-api.ts';
import { findRoute, type Answer, type Route } from './router.ts';
import { frameEvent, withHeartbeat } from './server-sent-events.ts';

export interface ApiExchange {
  readonly routes: readonly Route[];
  readonly limits: { readonly bodyBytes: number; readonly uploadBytes: number; readonly stalledMs: number };
  readonly closing: AbortSignal;
  /** Told why the server closed a connection. */
  readonly onNote?: (note: string) => void;
}

/** Answers a request to the API. Throws `httpError`. */
export async function answerApi(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  { routes, limits, closing, onNote }: ApiExchange,
): Promise<void> {
  if (!url.pathname.startsWith(`${API_PATH}/`)) throw httpError(404, `not found; the API is below ${API_PATH}`);
  const path = url.pathname.slice(API_PATH.length);
  if (request.method === 'GET' && path === '/openapi.json') return respond(response, 200, openApi(routes));
  const found = findRoute(routes, request.method ?? '', path);
  if ('allowed' in found) {
    if (found.allowed.length === 0) throw httpError(404, `not found; the routes are in ${API_PATH}/openapi.json`);
    response.setHeader('allow', found.allowed.join(', '));
    throw httpError(405, `method ${request.method ?? ''} is not allowed here`);
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { route, params } = found;
  const last = request.headers['last-event-id'];
  const signal = AbortSignal.any([gone.signal, closing]);
  const query = Object.fromEntries(
    [...new Set(url.searchParams.keys())]
      .filter((name) => name !== 'token')
      .map((name) => [name, url.searchParams.getAll(name)] as const)
      // A list only if the name is repeated: a route that takes one value refuses two.
      .map(([name, all]) => [name, all.length === 1 ? all[0] : all]),
  );
  checkText('path', params);
  checkText('query', query);
  const reply = await route.handle({
    params,
    query,
    body: await readBody(request, route, limits),
    signal,
    lastEventId: typeof last === 'string' ? last : undefined,
  });
  await send(reply, response, {
    status: route.status,
    signal,
    stalledMs: limits.stalledMs,
    onNote: (note) => onNote?.(`${url.pathname}: ${note}`),
  });
}

async function readBody(
  request: IncomingMessage,
  { body: schema }: Route,
  limits: ApiExchange['limits'],
): Promise<unknown> {
  if (schema === undefined) return undefined;
  if (schema === 'bytes') return readBytes(request, limits.uploadBytes, 'application/octet-stream');
  const bytes = await readBytes(request, limits.bodyBytes, 'application/json');
  try {
    const body: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    checkText('body', body);
    return body;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) throw httpError(400, 'the body is not valid JSON');
    throw error;
  }
}

/** Reads the fields of a form. Pages of other origins can send one too, so the caller checks the origin. */
export async function readForm(request: IncomingMessage, maxBytes: number): Promise<URLSearchParams> {
  const bytes = await readBytes(request, maxBytes, 'application/x-www-form-urlencoded');
  return new URLSearchParams(bytes.toString('utf8'));
}

/** Web pages may send forms and plain text to other origins; every other type needs a preflight request, which is never granted. */
async function readBytes(request: IncomingMessage, maxBytes: number, mediaType: string): Promise<Buffer> {
  if ((request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() !== mediaType)
    throw httpError(415, `the content type must be ${mediaType}`);
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

/**
 * Throws a 400 for U+0000 or half a surrogate pair in a key or a value. Neither belongs to a request: file systems and databases refuse
 * the first, and the second is not valid Unicode.
 */
function checkText(part: string, value: unknown): void {
  // Not recursive: a small body can be nested a hundred thousand levels deep.
  const left: (readonly [place: string, value: unknown])[] = [[part, value]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [place, one] = next;
    if (typeof one === 'string') checkString(place, one);
    else if (typeof one === 'object' && one !== null)
      for (const [key, item] of Object.entries(one)) {
        checkString(`${place}: a key`, key);
        left.push([place === part ? `${part} ${key}` : `${place}.${key}`, item]);
      }
  }
}

function checkString(place: string, text: string): void {
  const [found] = /\0|\p{Cs}/u.exec(text) ?? [];
  if (found === undefined) return;
  const name = found === '\0' ? 'the character U+0000' : 'half a surrogate pair';
  throw httpError(400, `invalid ${place.slice(0, 200)}: it contains ${name}`, 'remove it from the request');
}

async function send(
  reply: Answer,
  response: ServerResponse,
  { status, signal, stalledMs, onNote }: SendOptions,
): Promise<void> {
  if (reply.type === 'json') {
    // Node closes the connection of a reader that takes nothing for this long.
    response.setTimeout(stalledMs);
    return respond(response, status, reply.value);
  }
  const isStream = reply.type === 'events';
  response.writeHead(200, {
    ...LOOPBACK_HEADERS,
    ...(isStream ? { 'content-type': 'text/event-stream; charset=utf-8' } : fileHeaders(reply)),
  });
  // The client knows that the stream is open before the first event.
  if (isStream) response.flushHeaders();
  const chunks = isStream ? withHeartbeat(reply.frames, { signal }) : reply.chunks;
  if (await writeAll(chunks, response, { signal, stalledMs })) return;
  const message = `the reader took no data for ${String(stalledMs / 1_000)} s; the connection was closed`;
  onNote(message);
  if (!isStream) return void response.destroy();
  // A reader that goes on after all finds the reason at the end of what was sent.
  response.end(frameEvent('problem', { message }));
  response.setTimeout(stalledMs);
}

interface SendOptions {
  readonly status: number;
  readonly signal: AbortSignal;
  readonly stalledMs: number;
  readonly onNote: (note: string) => void;
}

function fileHeaders({
  name,
  mediaType,
}: Extract<Answer, { readonly type: 'file' }>): Readonly<Record<string, string>> {
  const ascii = name.replaceAll(/[^\w.-]/g, '_');
  return {
    'content-type': mediaType,
    'content-disposition': `attachment; filename="${ascii}"; filename*=UTF-8''${encodeURIComponent(name)}`,
  };
}

/** Returns false if the reader stalled. Chunks are made when there is room for them, so a slow reader does not fill the memory. */
async function writeAll(
  chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  response: ServerResponse,
  { signal, stalledMs }: Pick<SendOptions, 'signal' | 'stalledMs'>,
): Promise<boolean> {
  for await (const chunk of chunks) {
    if (!response.write(chunk) && !signal.aborted && !(await hasDrained(response, signal, stalledMs))) return false;
    if (signal.aborted) break;
  }
  response.end();
  return true;
}

async function hasDrained(response: ServerResponse, signal: AbortSignal, stalledMs: number): Promise<boolean> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const emitted = (name: string): Promise<string> =>
    once(response, name, { signal: either }).then(
      () => name,
      () => 'gone',
    );
  response.setTimeout(stalledMs);
  const first = await Promise.race([emitted('drain'), emitted('timeout')]);
  stop.abort();
  response.setTimeout(0);
  return first !== 'timeout';
}
