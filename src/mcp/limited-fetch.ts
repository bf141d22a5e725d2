/** Of one answer. A stream of events that exceeds it is opened again. */
const MAX_BYTES = 32 * 1024 * 1024;

/** `fetch` that reads no more than a limit of each answer and follows no redirect. */
export async function limitedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  if (response.status >= 300 && response.status < 400)
    throw new Error(`the server redirects to ${response.headers.get('location')?.slice(0, 200) ?? 'another address'}`);
  if (response.body === null) return response;
  let left = MAX_BYTES;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.length;
      if (left < 0) controller.error(new Error(`the answer has more than ${String(MAX_BYTES)} bytes`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}
