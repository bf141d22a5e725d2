import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { Readable, type Duplex } from 'node:stream';

import { parseJson, printable, type SkillError } from '#core';
import { executorFailed, executorUnavailable } from '../failures.ts';
import { endpointText, type HttpEndpoint } from './endpoint.ts';
import { field, textField } from './json-answer.ts';

/**
 * The part of the Engine API of Docker and Podman that running programs needs, over one unix socket or port. Every call has a deadline
 * and a size limit; no redirects, no proxies.
 */

/** The newest API version that this code was written for, and the oldest that it supports (Docker 20.10, Podman 4). */
const NEWEST = [1, 43] as const;
const OLDEST = [1, 40] as const;
const PING_MS = 5000;
const CALL_MS = 30_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

interface EngineCall {
  /** For the whole call, including the response body. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal | undefined;
  readonly json?: unknown;
  /** Sent as a stream, with backpressure. */
  readonly bytes?: AsyncIterable<Uint8Array>;
  /** Status codes beside 2xx and 304 that this call accepts. */
  readonly also?: readonly number[];
}

type Ask = (path: string, call?: EngineCall) => Promise<{ readonly status: number; readonly body: unknown }>;

export interface EngineClient {
  /** For messages. */
  readonly address: string;
  readonly kind: 'docker' | 'podman';
  readonly get: Ask;
  readonly post: Ask;
  readonly put: Ask;
  readonly delete: Ask;
  /** The response headers; empty unless the status is 200. */
  head(path: string): Promise<IncomingHttpHeaders>;
  /** Opens a connection to the streams of a program. The caller closes it. `head` are bytes that arrived with the protocol upgrade. */
  converse(path: string, call?: EngineCall): Promise<{ readonly socket: Duplex; readonly head: Buffer }>;
  /** Streams the body of a GET response. */
  download(path: string, call?: EngineCall): Promise<AsyncIterable<Buffer>>;
  close(): void;
}

/** Throws `executor/unavailable` where no engine answers. */
export async function connectEngine(endpoint: HttpEndpoint, { deadlineMs = PING_MS } = {}): Promise<EngineClient> {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 8 });
  const address = endpointText(endpoint);
  const ping = await exchange(endpoint, agent, { method: 'GET', path: '/_ping', deadlineMs });
  const send = async (method: HttpCall['method'], path: string, call: EngineCall, takes?: HttpCall['takes']) => {
    const answer = await exchange(endpoint, agent, {
      deadlineMs: CALL_MS,
      ...call,
      method,
      path: prefix + path,
      takes,
    });
    if (answer.type === 'failed') throw brokenEngine(address, answer);
    return answer;
  };
  const ask =
    (method: HttpCall['method']): Ask =>
    async (path, call = {}) => {
      const answer = await send(method, path, call);
      const { status, body } = answer;
      if ((status >= 200 && status < 300) || status === 304 || call.also?.includes(status) === true)
        return { status, body: parseJson(body.toString('utf8')) };
      throw refusal(answer);
    };
  let prefix: string;
  let kind: EngineClient['kind'];
  try {
    ({ prefix, kind } = negotiate(address, ping));
  } catch (error) {
    agent.destroy();
    throw error;
  }
  return {
    address,
    kind,
    get: ask('GET'),
    post: ask('POST'),
    put: ask('PUT'),
    delete: ask('DELETE'),
    async head(path) {
      const { status, headers } = await send('HEAD', path, {});
      return status === 200 ? headers : {};
    },
    async converse(path, call) {
      const answer = await send('POST', path, { json: {}, ...call }, 'upgrade');
      if (answer.socket === undefined) throw refusal(answer);
      return { socket: answer.socket, head: answer.body };
    },
    async download(path, call = {}) {
      const answer = await send('GET', path, call, 'stream');
      if (answer.stream === undefined) throw refusal(answer);
      return answer.stream;
    },
    close: () => agent.destroy(),
  };
}

interface HttpCall extends Omit<EngineCall, 'also'> {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly deadlineMs: number;
  /**
   * `upgrade`: makes the connection a raw socket; the deadline covers the upgrade only. `stream`: a body of any size. Any other response, and
   * one that was not asked for, is returned whole.
   */
  readonly takes?: 'upgrade' | 'stream' | undefined;
}

interface HttpFailure {
  readonly type: 'failed';
  /** `ENOENT`, `ECONNREFUSED`, `HPE_INVALID_CONSTANT`, ..., or `deadline` or `cancelled`. */
  readonly code: string;
  readonly reason: string;
}

interface HttpAnswer {
  readonly type: 'answered';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty where it is a stream; the first bytes where the connection was upgraded. */
  readonly body: Buffer;
  readonly socket?: Duplex;
  readonly stream?: AsyncIterable<Buffer>;
}

function exchange(
  endpoint: HttpEndpoint,
  agent: Agent,
  { method, path, json, bytes, deadlineMs, signal, takes }: HttpCall,
): Promise<HttpAnswer | HttpFailure> {
  return new Promise((resolve) => {
    const text = json === undefined ? undefined : Buffer.from(JSON.stringify(json), 'utf8');
    const { type: _type, ...target } = endpoint;
    const sent = request({
      ...target,
      method,
      path,
      // The caller owns an upgraded connection.
      agent: takes === 'upgrade' ? false : agent,
      headers: {
        host: 'engine',
        ...(takes === 'upgrade' ? { connection: 'Upgrade', upgrade: 'tcp' } : {}),
        ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': text.length }),
        ...(bytes === undefined ? {} : { 'content-type': 'application/x-tar' }),
      },
    });
    let isStreaming = false;
    const release = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    };
    const settle = (result: HttpAnswer | HttpFailure): void => {
      if (!isStreaming) release();
      resolve(result);
    };
    const stop = (code: string, reason: string): void => {
      settle({ type: 'failed', code, reason });
      sent.destroy();
    };
    const fail = (error: Error): void =>
      stop('code' in error && typeof error.code === 'string' ? error.code : error.name, error.message);
    const timer = setTimeout(() => stop('deadline', `no response within ${String(deadlineMs)} ms`), deadlineMs);
    const cancel = (): void => stop('cancelled', 'the call was cancelled');
    signal?.addEventListener('abort', cancel, { once: true });
    // Stays registered: a later error must not crash the process.
    sent.on('error', fail);
    sent.on('close', () =>
      settle({ type: 'failed', code: 'ECONNRESET', reason: 'the connection closed before a response' }),
    );
    sent.on('upgrade', ({ headers }, socket, body) => settle({ type: 'answered', status: 101, headers, body, socket }));
    sent.on('response', (answer) => {
      const { statusCode: status = 0, headers } = answer;
      const chunks: Buffer[] = [];
      if (takes === 'stream' && status === 200) {
        isStreaming = true;
        answer.once('close', release);
        settle({ type: 'answered', status, headers, body: Buffer.alloc(0), stream: answer });
        return;
      }
      let length = 0;
      answer.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length <= MAX_ANSWER_BYTES) chunks.push(chunk);
        else stop('EMSGSIZE', `the response has more than ${String(MAX_ANSWER_BYTES)} bytes`);
      });
      answer.on('error', fail);
      answer.on('end', () => settle({ type: 'answered', status, headers, body: Buffer.concat(chunks, length) }));
    });
    if (signal?.aborted === true) cancel();
    else if (bytes === undefined) sent.end(text);
    else {
      const source = Readable.from(bytes).on('error', fail);
      sent.once('close', () => source.destroy());
      source.pipe(sent);
    }
  });
}

interface Negotiated extends Pick<EngineClient, 'kind'> {
  readonly prefix: string;
}

function negotiate(address: string, answer: HttpAnswer | HttpFailure): Negotiated {
  if (answer.type === 'failed') throw unavailable(address, failureText(answer), hintFor(answer.code));
  const version = answer.headers['api-version'];
  const match = typeof version === 'string' ? /^(\d{1,3})\.(\d{1,3})$/.exec(version) : null;
  if (answer.status !== 200 || match === null)
    throw unavailable(address, 'the server there is not a container engine', 'check the address of the engine');
  const theirs = [Number(match[1]), Number(match[2])] as const;
  if (compare(theirs, OLDEST) < 0)
    throw unavailable(
      address,
      `the engine has API version ${theirs.join('.')}; ${OLDEST.join('.')} or newer is required`,
      'install Docker 20.10 or Podman 4, or a newer version',
    );
  const spoken = compare(theirs, NEWEST) < 0 ? theirs : NEWEST;
  return {
    prefix: `/v${spoken.join('.')}`,
    kind: answer.headers['libpod-api-version'] === undefined ? 'docker' : 'podman',
  };
}

type Version = readonly [number, number];

function compare([major, minor]: Version, [otherMajor, otherMinor]: Version): number {
  return major - otherMajor || minor - otherMinor;
}

function failureText({ code, reason }: HttpFailure): string {
  switch (code) {
    case 'ENOENT':
      return 'the socket does not exist';
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'EACCES':
      return 'permission denied for this user';
    default:
      return code.startsWith('HPE_') ? 'the server there does not speak HTTP' : printable(reason);
  }
}

function hintFor(code: string): string {
  return code === 'EACCES'
    ? 'add the user to the group of the socket (docker), or use a rootless engine'
    : 'start Docker or Podman, or set DOCKER_HOST to another socket';
}

function unavailable(address: string, reason: string, hint: string): SkillError<'executor/unavailable'> {
  const reasons = [`${address}: ${reason}`];
  const message = `no container engine at ${address}: ${reason}`;
  return executorUnavailable('container', message, { hint, reasons, install: 'apt install docker.io' });
}

/** For an engine that stopped answering after `connect`. */
function brokenEngine(address: string, failure: HttpFailure): SkillError<'executor/failed'> {
  const cause = failureText(failure);
  return engineFailure(`the container engine at ${address} does not answer: ${cause}`, cause);
}

/** Passes the engine's error message on. */
function refusal({ status, body }: HttpAnswer): SkillError<'executor/failed'> {
  const message = textField(field(parseJson(body.toString('utf8')), 'message')) ?? `status ${String(status)}`;
  return engineFailure(`the container engine reports: ${printable(message)}`, printable(message));
}

export function engineFailure(message: string, cause: string): SkillError<'executor/failed'> {
  return executorFailed('container', message, { hint: 'check the log of the engine (journalctl -u docker)', cause });
}
