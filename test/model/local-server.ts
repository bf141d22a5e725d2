import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Of JSON; nothing where there is none. */
  readonly body: unknown;
}

export interface LocalServer {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  readonly close: () => Promise<void>;
}

/** Answers one request; `turn` counts them from 0. It may do with the connection what it likes. */
export type Respond = (response: ServerResponse, turn: number, request: ReceivedRequest) => unknown;

/** A real server that behaves as badly as the test wants. */
export async function serve(respond: Respond): Promise<LocalServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    void receive(request).then((body) => {
      const received = { path: request.url ?? '', headers: request.headers, body };
      requests.push(received);
      return respond(response, requests.length - 1, received);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function receive(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const piece of request) text += String(piece);
  return text === '' ? undefined : JSON.parse(text);
}

export function sendJson(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

/** A chat completion that is whole. */
export const completion = (content: string): unknown => ({
  id: 'c1',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
});

/** One piece of a chat completion that is streamed. */
export const chunk = (delta: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c1', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

export function startStream(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  return response;
}
