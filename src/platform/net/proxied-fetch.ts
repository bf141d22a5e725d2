import { Readable } from 'node:stream';

import { httpTarget } from './guarded-http.ts';
import { exchangeOver } from './http-exchange.ts';
import { connectThrough, proxyFor } from './user-proxy.ts';

/** `fetch` through the proxy of the user's environment, and plain `fetch` where it names none for the address. */
export function proxiedFetch(env: Readonly<Record<string, string | undefined>>): typeof fetch {
  return async (input, init = {}) => {
    const target = httpTarget(new URL(input instanceof Request ? input.url : input));
    const proxy = target === undefined ? undefined : proxyFor(target, env);
    // The libraries of the vendors send text; a stream as the body would need a length.
    const { body } = init;
    if (target === undefined || proxy === undefined || (body != null && typeof body !== 'string'))
      return await fetch(input, init);
    const stop = init.signal ?? new AbortController().signal;
    const socket = await connectThrough(proxy, target, stop);
    const response = await exchangeOver(socket, {
      target,
      method: init.method ?? 'GET',
      headers: { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' },
      body: body == null ? undefined : Buffer.from(body),
      stop,
    });
    const headers = new Headers();
    for (const [name, value] of Object.entries(response.headersDistinct))
      for (const one of value ?? []) headers.append(name, one);
    const status = response.statusCode ?? 0;
    const hasBody = status !== 204 && status !== 304;
    // Node's own type of web streams differs from the global one.
    const stream = hasBody ? (Readable.toWeb(response) as ReadableStream<Uint8Array>) : null;
    return new Response(stream, { status, statusText: response.statusMessage ?? '', headers });
  };
}
