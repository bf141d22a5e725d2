/** Downloads files within limits of size, time and redirects. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';

import { isSystemError, readGrant, timerMs, type HttpTarget, requestGuarded, httpTarget } from '#platform';
import { findRefusal, isRefusal, packRefusal, refused, type PackRefusal } from '../problems.ts';
import { insecure, isLoopback } from './source-text.ts';
import { printable, problemError, quoted, sliceStart } from '#core';
import type { StageContext, SourceNetwork } from './source.ts';

const TIMEOUT_MS = 300_000;
/** Aborts a download that is silent for this long. */
const SILENCE_MS = 30_000;

export type Asking = Pick<StageContext, 'network' | 'env' | 'signal' | 'onProgress'> & { readonly maxBytes: number };

export interface Downloaded {
  readonly type: 'downloaded';
  readonly bytes: number;
  readonly sha256: string;
}

export async function downloadTo(address: string, file: string, asking: Asking): Promise<Downloaded | PackRefusal> {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    return await download(address, asking, (piece) => {
      for (let written = 0; written < piece.length;) written += writeSync(descriptor, piece, written);
    });
  } finally {
    closeSync(descriptor);
  }
}

export interface DownloadedBytes extends Downloaded {
  readonly content: Buffer;
}

export async function downloadBytes(address: string, asking: Asking): Promise<DownloadedBytes | PackRefusal> {
  const pieces: Buffer[] = [];
  const downloaded = await download(address, asking, (piece) => pieces.push(piece));
  return isRefusal(downloaded) ? downloaded : { ...downloaded, content: Buffer.concat(pieces) };
}

async function download(
  address: string,
  asking: Asking,
  take: (piece: Buffer) => void,
): Promise<Downloaded | PackRefusal> {
  const { network, signal, env } = asking;
  const first = parseTarget(address, network);
  if (isRefusal(first)) return first;
  const shown = quoted(withoutQuery(first.url.href), 200);
  const { timeoutMs = TIMEOUT_MS } = network;
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), timerMs(timeoutMs));
  const stop = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  try {
    const response = await follow(first, { network, env, mayReachLoopback: isLoopback(first), stop });
    if (isRefusal(response)) return response;
    const refused = ofStatus(response.statusCode ?? 0, shown);
    if (refused === undefined) return await receive(response, { asking, shown, take, stop });
    response.destroy();
    return refused;
  } catch (error) {
    signal?.throwIfAborted();
    const refusal = findRefusal(error);
    if (refusal !== undefined) return refusal;
    const why = ended.signal.aborted ? `timed out after ${String(timeoutMs)} ms` : networkReason(error);
    return packRefusal('source/failed', `${shown}: ${why}`);
  } finally {
    clearTimeout(timer);
  }
}

async function follow(first: HttpTarget, options: GetOptions): Promise<IncomingMessage | PackRefusal> {
  const { network, env, stop, mayReachLoopback } = options;
  const get = (target: HttpTarget): Parameters<typeof requestGuarded>[0] => {
    const token = tokenFor(target, env);
    // The hash is computed over the file, so it must not be compressed on the way.
    const headers = {
      'accept-encoding': 'identity',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    return { target, method: 'GET', headers };
  };
  const result = await requestGuarded<PackRefusal>(get(first), {
    stop,
    connectMs: CONNECT_MS,
    resolve: network.resolve,
    certificates: network.certificates,
    proxyFrom: env,
    grants: (target) => {
      const mayBePrivate = network.allowPrivate === true || (mayReachLoopback && isLoopback(target));
      return [readGrant(`${mayBePrivate ? 'private://' : ''}${target.authority}`)];
    },
    unreached: ({ refusal, message }, { authority }) =>
      refusal === 'not-public' ? notPublic(authority) : packRefusal('source/failed', message),
    tooManyRedirects: (limit) =>
      packRefusal('source/refused', `${first.authority} redirects more than ${String(limit)} times`),
    redirect: ({ target }, _status, location) => {
      const next = parseTarget(location, network, target);
      return isRefusal(next) ? next : get(next);
    },
  });
  return isRefusal(result) ? result : result.response;
}

function notPublic(authority: string): PackRefusal {
  return {
    ...packRefusal('source/refused', `${authority} is not a public address`),
    hint: 'set install.allow_private_addresses in your own configuration to use it',
    allow: 'install.allow_private_addresses',
  };
}

function ofStatus(status: number, shown: string): PackRefusal | undefined {
  if (status === 200) return undefined;
  if (status === 404 || status === 410)
    return packRefusal('source/missing', `${shown} was not found (${String(status)})`);
  if (status === 401 || status === 403)
    return packRefusal(
      'source/refused',
      `${shown} requires authentication (${String(status)}); set SKILLWRIGHT_HTTP_TOKEN and SKILLWRIGHT_HTTP_TOKEN_HOST`,
    );
  return packRefusal('source/failed', `${shown} answered ${String(status)}`);
}

interface Receiving {
  readonly asking: Asking;
  readonly shown: string;
  readonly take: (piece: Buffer) => void;
  readonly stop: AbortSignal;
}

/** `content-length` is used for progress and to reject large files early. The limit applies to the received bytes. */
async function receive(response: IncomingMessage, { asking, shown, take, stop }: Receiving): Promise<Downloaded> {
  const { maxBytes, onProgress } = asking;
  const tooLarge = refused('archive/too-large', `${shown} has more than ${String(maxBytes)} bytes`);
  const announced = Number(response.headers['content-length'] ?? Number.NaN);
  const hash = createHash('sha256');
  let bytes = 0;
  let silence: NodeJS.Timeout | undefined;
  const expectMore = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => response.destroy(problemError(silent(shown))), SILENCE_MS);
  };
  try {
    if (announced > maxBytes) throw tooLarge;
    expectMore();
    // A response without an encoding yields buffers; its type is too wide.
    for await (const piece of response as AsyncIterable<Buffer>) {
      stop.throwIfAborted();
      expectMore();
      bytes += piece.length;
      if (bytes > maxBytes) throw tooLarge;
      hash.update(piece);
      take(piece);
      onProgress?.({ step: 'fetch', done: bytes, ...(Number.isSafeInteger(announced) ? { total: announced } : {}) });
    }
    return { type: 'downloaded', bytes, sha256: hash.digest('hex') };
  } finally {
    clearTimeout(silence);
    response.destroy();
  }
}

function silent(shown: string): PackRefusal {
  return packRefusal('source/failed', `${shown}: no data for ${String(SILENCE_MS)} ms`);
}

/** Describes errors of servers and connections. Rethrows file errors and bugs. */
function networkReason(error: unknown): string {
  const isOurs = isSystemError(error) && !NETWORK_CALLS.has(error.syscall ?? '');
  if (isOurs || !(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') throw error;
  return printable(`${sliceStart(error.message, 200)} (${error.code})`);
}

const NETWORK_CALLS: ReadonlySet<string> = new Set(['connect', 'getaddrinfo', 'read', 'write', 'shutdown', '']);

interface GetOptions {
  readonly network: SourceNetwork;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user named a loopback address, so it may be reached. */
  readonly mayReachLoopback: boolean;
  readonly stop: AbortSignal;
}

/** A bearer token and the host it is for. It is sent only if both are set. */
const TOKEN = 'SKILLWRIGHT_HTTP_TOKEN';
const TOKEN_HOST = 'SKILLWRIGHT_HTTP_TOKEN_HOST';
const CONNECT_MS = 10_000;

/** Parses an address, relative to `from` for a redirect. Returns a refusal if it is not allowed. */
function parseTarget(text: string, { allowHttp = false }: SourceNetwork, from?: HttpTarget): HttpTarget | PackRefusal {
  const shown = quoted(withoutQuery(text), 200);
  const whence = from === undefined ? shown : `${from.authority} redirects to ${shown}, which`;
  if (/[\x00-\x20\x7f\\]/.test(text) || !URL.canParse(text, from?.url.href))
    return packRefusal('source/refused', `${whence} is not a valid address`);
  const url = new URL(text, from?.url);
  const target = httpTarget(url);
  if (target === undefined || url.username !== '' || url.password !== '')
    return packRefusal('source/refused', `${whence} is not a plain http(s) address`);
  if (!target.isSecure && from?.isSecure === true)
    return packRefusal('source/refused', `${whence} is not secure: the connection can be tampered with`);
  return !target.isSecure && !allowHttp && !isLoopback(target) ? insecure(`${whence} is`) : target;
}

/** Removes the query, which may contain a secret. */
export function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, '');
}

/** Never sends the token over plain HTTP to another machine, and never to another host. */
function tokenFor(target: HttpTarget, env: GetOptions['env']): string | undefined {
  const { [TOKEN]: token = '', [TOKEN_HOST]: host = '' } = env;
  if (token === '' || !/^[\x21-\x7e]+$/.test(token) || (!target.isSecure && !isLoopback(target))) return undefined;
  const isMeant = host.includes(':')
    ? host === target.authority
    : host !== '' && host === target.host.name && target.url.port === '';
  return isMeant ? token : undefined;
}
