import { Agent, request, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Readable, type Duplex } from 'node:stream';

/** HTTP client for one server at a unix socket or a port. Every call has a deadline and a size limit; no redirects, no proxies. */

export type HttpEndpoint =
  | { readonly type: 'unix'; readonly socketPath: string }
  | { readonly type: 'tcp'; readonly host: string; readonly port: number };

export interface HttpCall {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as a stream, with backpressure. */
  readonly bytes?: AsyncIterable<Uint8Array>;
  /** For the whole call, including the response body. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpFailure {
  readonly type: 'failed';
  /** `ENOENT`, `ECONNREFUSED`, `HPE_INVALID_CONSTANT`, ..., or `deadline` or `cancelled`. */
  readonly code: string;
  readonly reason: string;
}

export interface HttpAnswer {
  readonly type: 'answered';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type HttpConversation = { readonly type: 'upgraded'; readonly socket: Duplex; readonly head: Buffer };
export type HttpDownload = {
  readonly type: 'streaming';
  readonly status: number;
  readonly body: AsyncIterable<Buffer>;
};

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export class HttpSocket {
  readonly #endpoint: HttpEndpoint;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 8 });

  constructor(endpoint: HttpEndpoint) {
    this.#endpoint = endpoint;
  }

  /** The whole response; more than 8 MiB is a failure. */
  call(call: HttpCall): Promise<HttpAnswer | HttpFailure> {
    return this.#begin<HttpAnswer>(call, {}, (sent, settle) => {
      sent.on('response', (answer) => gather(answer, settle));
    });
  }

  /** Upgrades the connection to a raw socket; any other response is returned whole. The deadline covers the upgrade only. */
  upgrade(call: HttpCall): Promise<HttpConversation | HttpAnswer | HttpFailure> {
    // No agent: the caller owns the connection from now on.
    return this.#begin<HttpConversation | HttpAnswer>(
      call,
      { connection: 'Upgrade', upgrade: 'tcp' },
      (sent, settle) => {
        sent.on('upgrade', (_answer, socket, head) => settle({ type: 'upgraded', socket, head }));
        sent.on('response', (answer) => gather(answer, settle));
      },
    );
  }

  /** A response of any size as a stream. The deadline covers the last byte. */
  download(call: HttpCall): Promise<HttpDownload | HttpAnswer | HttpFailure> {
    return this.#begin<HttpDownload | HttpAnswer>(call, {}, (sent, settle, keepDeadline) => {
      sent.on('response', (answer) => {
        if (answer.statusCode !== 200) {
          gather(answer, settle);
          return;
        }
        keepDeadline(answer);
        settle({ type: 'streaming', status: 200, body: answer });
      });
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #begin<Result>(
    { method, path, json, bytes, deadlineMs, signal }: HttpCall,
    upgrade: Readonly<Record<string, string>>,
    listen: (
      sent: ClientRequest,
      settle: (result: Result | HttpFailure) => void,
      keepDeadline: (answer: IncomingMessage) => void,
    ) => void,
  ): Promise<Result | HttpFailure> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve({ type: 'failed', code: 'cancelled', reason: 'the call was cancelled' });
        return;
      }
      const text = json === undefined ? undefined : Buffer.from(JSON.stringify(json), 'utf8');
      const sent = request({
        ...(this.#endpoint.type === 'unix'
          ? { socketPath: this.#endpoint.socketPath }
          : { host: this.#endpoint.host, port: this.#endpoint.port }),
        method,
        path,
        agent: 'upgrade' in upgrade ? false : this.#agent,
        headers: {
          host: 'engine',
          ...upgrade,
          ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': text.length }),
          ...(bytes === undefined ? {} : { 'content-type': 'application/x-tar' }),
        },
      });
      let isDeadlineKept = false;
      let failure: HttpFailure | undefined;
      const stop = (why: HttpFailure): void => {
        failure ??= why;
        sent.destroy();
        settle(failure);
      };
      const timer = setTimeout(
        () => stop({ type: 'failed', code: 'deadline', reason: `no response within ${String(deadlineMs)} ms` }),
        deadlineMs,
      );
      const cancel = (): void => stop({ type: 'failed', code: 'cancelled', reason: 'the call was cancelled' });
      const release = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
      };
      const settle = (result: Result | HttpFailure): void => {
        if (!isDeadlineKept) release();
        resolve(result);
      };
      signal?.addEventListener('abort', cancel, { once: true });
      // Stays registered: a later error must not crash the process.
      sent.on('error', (error) => stop({ type: 'failed', code: readErrorCode(error), reason: error.message }));
      sent.on('close', () =>
        settle({ type: 'failed', code: 'ECONNRESET', reason: 'the connection closed before a response' }),
      );
      listen(sent, settle, (answer) => {
        isDeadlineKept = true;
        answer.once('close', release);
      });
      if (bytes === undefined) sent.end(text);
      else {
        const source = Readable.from(bytes);
        source.on('error', (error) => stop({ type: 'failed', code: readErrorCode(error), reason: error.message }));
        sent.once('close', () => source.destroy());
        source.pipe(sent);
      }
    });
  }
}

function gather(answer: IncomingMessage, settle: (result: HttpAnswer | HttpFailure) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  answer.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= MAX_ANSWER_BYTES) {
      chunks.push(chunk);
      return;
    }
    settle({
      type: 'failed',
      code: 'EMSGSIZE',
      reason: `the response has more than ${String(MAX_ANSWER_BYTES)} bytes`,
    });
    answer.destroy();
  });
  answer.on('error', (error) => settle({ type: 'failed', code: readErrorCode(error), reason: error.message }));
  answer.on('end', () =>
    settle({
      type: 'answered',
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      body: Buffer.concat(chunks, length),
    }),
  );
}

function readErrorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
