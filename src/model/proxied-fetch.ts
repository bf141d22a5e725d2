import { Readable } from 'node:stream';

import { readHost, writeAuthority } from '#core';
import { connectThrough, exchangeOver, proxyFor } from '#platform';

/** `fetch` through the proxy of the user's environment, and plain `fetch` where it names none for the address. */
export function proxiedFetch(env: Readonly<Record<string, string | undefined>>): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const isSecure = url.protocol === 'https:';
    const host = readHost(url.hostname.replace(/^\[|\]$/g, ''));
    const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
    const proxy = host === undefined ? undefined : proxyFor({ host, port, isSecure }, env);
    // The libraries of the vendors send text; a stream as the body would need a length.
    const { body } = init;
    if (host === undefined || proxy === undefined || (body != null && typeof body !== 'string'))
      return await fetch(input, init);
    const stop = init.signal ?? new AbortController().signal;
    const socket = await connectThrough(proxy, { host, port }, stop);
    const response = await exchangeOver(socket, {
      target: { type: 'target', url, isSecure, host, port, authority: writeAuthority(host, port) },
      method: init.method ?? 'GET',
      headers: { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' },
      ...(body == null ? {} : { body: Buffer.from(body) }),
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
