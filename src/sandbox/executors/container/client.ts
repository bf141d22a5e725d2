import type { Duplex } from 'node:stream';

import { parseJson, printable, type SkillError } from '#core';
import { executorFailed, executorUnavailable } from '../failures.ts';
import { HttpSocket, type HttpAnswer, type HttpCall, type HttpEndpoint, type HttpFailure } from './http-socket.ts';
import { endpointText } from './endpoint.ts';
import { field, textField } from './json-answer.ts';

/** The part of the Engine API of Docker and Podman that running programs needs. */

/** The newest API version that this code was written for, and the oldest that it supports (Docker 20.10, Podman 4). */
const NEWEST = [1, 43] as const;
const OLDEST = [1, 40] as const;
const PING_MS = 5000;
const CALL_MS = 30_000;

export interface EngineCall {
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal | undefined;
  readonly json?: unknown;
  readonly bytes?: AsyncIterable<Uint8Array>;
  /** Status codes beside 2xx and 304 that this call accepts. */
  readonly also?: readonly number[];
}

export interface EngineAnswer {
  readonly status: number;
  readonly body: unknown;
}

export class EngineClient {
  readonly #http: HttpSocket;
  readonly #prefix: string;
  /** For messages. */
  readonly address: string;
  readonly kind: 'docker' | 'podman';

  private constructor(http: HttpSocket, { address, prefix, kind }: Negotiated) {
    this.#http = http;
    this.#prefix = prefix;
    this.address = address;
    this.kind = kind;
  }

  /** Throws `executor/unavailable` where no engine answers. */
  static async connect(endpoint: HttpEndpoint, { deadlineMs = PING_MS }: EngineCall = {}): Promise<EngineClient> {
    const http = new HttpSocket(endpoint);
    const address = endpointText(endpoint);
    const answer = await http.call({ method: 'GET', path: '/_ping', deadlineMs });
    try {
      return new EngineClient(http, negotiate(address, answer));
    } catch (error) {
      http.close();
      throw error;
    }
  }

  async get(path: string, call: EngineCall = {}): Promise<EngineAnswer> {
    return this.#answer('GET', path, call);
  }

  async post(path: string, call: EngineCall = {}): Promise<EngineAnswer> {
    return this.#answer('POST', path, call);
  }

  async put(path: string, call: EngineCall = {}): Promise<EngineAnswer> {
    return this.#answer('PUT', path, call);
  }

  async delete(path: string, call: EngineCall = {}): Promise<EngineAnswer> {
    return this.#answer('DELETE', path, call);
  }

  /** The response headers; empty unless the status is 200. */
  async head(path: string, { signal, deadlineMs = CALL_MS }: EngineCall = {}): Promise<HttpAnswer['headers']> {
    const answer = await this.#http.call({ method: 'HEAD', path: this.#prefix + path, deadlineMs, signal });
    if (answer.type === 'failed') throw brokenEngine(this.address, answer);
    return answer.status === 200 ? answer.headers : {};
  }

  /** Opens a connection to the streams of a program. The caller closes it. */
  async converse(path: string, { json, signal, deadlineMs = CALL_MS }: EngineCall = {}): Promise<Conversation> {
    const call: HttpCall = { method: 'POST', path: this.#prefix + path, json: json ?? {}, deadlineMs, signal };
    const answer = await this.#http.upgrade(call);
    if (answer.type === 'failed') throw brokenEngine(this.address, answer);
    if (answer.type === 'answered') throw refusal(answer);
    return { socket: answer.socket, head: answer.head };
  }

  /** Streams the body of a GET response. */
  async download(path: string, { signal, deadlineMs = CALL_MS }: EngineCall = {}): Promise<AsyncIterable<Buffer>> {
    const answer = await this.#http.download({ method: 'GET', path: this.#prefix + path, deadlineMs, signal });
    if (answer.type === 'failed') throw brokenEngine(this.address, answer);
    if (answer.type === 'answered') throw refusal(answer);
    return answer.body;
  }

  close(): void {
    this.#http.close();
  }

  async #answer(
    method: HttpCall['method'],
    path: string,
    { json, bytes, signal, also = [], deadlineMs = CALL_MS }: EngineCall,
  ): Promise<EngineAnswer> {
    const answer = await this.#http.call({
      method,
      path: this.#prefix + path,
      deadlineMs,
      signal,
      json,
      bytes,
    });
    if (answer.type === 'failed') throw brokenEngine(this.address, answer);
    const { status, body } = answer;
    if ((status >= 200 && status < 300) || status === 304 || also.includes(status))
      return { status, body: parseJson(body.toString('utf8')) };
    throw refusal(answer);
  }
}

export interface Conversation {
  readonly socket: Duplex;
  /** Bytes that arrived together with the protocol upgrade. */
  readonly head: Buffer;
}

interface Negotiated {
  readonly address: string;
  readonly prefix: string;
  readonly kind: 'docker' | 'podman';
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
    address,
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
