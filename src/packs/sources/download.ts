/** Downloads files within limits of size, time and redirects. */
import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';

import { httpTarget, isSystemError, readGrant, requestGuarded, timerMs, writeAll } from '#platform';
import { findRefusal, isRefusal, packRefusal, refused, type PackRefusal } from '../problems.ts';
import { insecure, isLoopback, isOnThisMachine } from './source-text.ts';
import { printable, quoted, sliceStart } from '#core';
import type { StageContext, SourceNetwork } from './source.ts';

type HttpTarget = NonNullable<ReturnType<typeof httpTarget>>;

const TIMEOUT_MS = 300_000;
/** Aborts a download that is silent for this long. */
const SILENCE_MS = 30_000;

export type Asking = Pick<StageContext, 'network' | 'env' | 'signal' | 'onProgress'> & {
  readonly maxBytes: number;
  /** The address that named this one (default: the user did): only one on this machine may name another on this machine. */
  readonly namedBy?: string;
};

export interface Downloaded {
  readonly type: 'downloaded';
  readonly bytes: number;
  readonly sha256: string;
}

export async function downloadTo(address: string, file: string, asking: Asking): Promise<Downloaded | PackRefusal> {
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    return await download(address, asking, (piece) => writeAll(descriptor, piece));
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
  const { network, signal } = asking;
  const first = parseTarget(address, network);
  if (isRefusal(first)) return first;
  const shown = quoted(withoutQuery(first.url.href), 200);
  const { timeoutMs = TIMEOUT_MS } = network;
  const ended = AbortSignal.timeout(timerMs(timeoutMs));
  const stop = signal === undefined ? ended : AbortSignal.any([signal, ended]);
  try {
    const response = await follow(first, asking, stop);
    if (isRefusal(response)) return response;
    const refused = ofStatus(response.statusCode ?? 0, shown);
    if (refused === undefined) return await receive(response, shown, { ...asking, take, stop });
    response.destroy();
    return refused;
  } catch (error) {
    signal?.throwIfAborted();
    const refusal = findRefusal(error);
    if (refusal !== undefined) return refusal;
    const why = ended.aborted ? `timed out after ${String(timeoutMs)} ms` : networkReason(error);
    return packRefusal('source/failed', `${shown}: ${why}`);
  }
}

async function follow(
  first: HttpTarget,
  { network, env, namedBy }: Asking,
  stop: AbortSignal,
): Promise<IncomingMessage | PackRefusal> {
  const isFromHere = isLoopback(first) && (namedBy === undefined || isOnThisMachine(namedBy));
  const get = (target: HttpTarget): Parameters<typeof requestGuarded>[0] => {
    // The hash is computed over the file, so it must not be compressed on the way.
    return { target, method: 'GET', headers: { 'accept-encoding': 'identity', ...authorizationFor(target, env) } };
  };
  const result = await requestGuarded<PackRefusal>(get(first), {
    stop,
    connectMs: CONNECT_MS,
    resolve: network.resolve,
    certificates: network.certificates,
    proxyFrom: env,
    grants: (target) => {
      // The user may name a loopback address; others must not redirect to one.
      const mayBePrivate = network.allowPrivate === true || (isFromHere && isLoopback(target));
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

interface Receiving extends Asking {
  readonly take: (piece: Buffer) => void;
  readonly stop: AbortSignal;
}

/** `content-length` is used for progress and to reject large files early. The limit applies to the received bytes. */
async function receive(response: IncomingMessage, shown: string, receiving: Receiving): Promise<Downloaded> {
  const { maxBytes, onProgress, take, stop } = receiving;
  const tooLarge = refused('archive/too-large', `${shown} has more than ${String(maxBytes)} bytes`);
  const announced = Number(response.headers['content-length'] ?? Number.NaN);
  const total = Number.isSafeInteger(announced) ? announced : undefined;
  const hash = createHash('sha256');
  let bytes = 0;
  response.setTimeout(SILENCE_MS, () =>
    response.destroy(refused('source/failed', `${shown}: no data for ${String(SILENCE_MS)} ms`)),
  );
  try {
    if (announced > maxBytes) throw tooLarge;
    // A response without an encoding yields buffers; its type is too wide.
    for await (const piece of response as AsyncIterable<Buffer>) {
      stop.throwIfAborted();
      bytes += piece.length;
      if (bytes > maxBytes) throw tooLarge;
      hash.update(piece);
      take(piece);
      onProgress?.({ step: 'fetch', done: bytes, total });
    }
    return { type: 'downloaded', bytes, sha256: hash.digest('hex') };
  } finally {
    response.destroy();
  }
}

/** Describes errors of servers and connections. Rethrows file errors and bugs. */
function networkReason(error: unknown): string {
  const isOurs = isSystemError(error) && !NETWORK_CALLS.has(error.syscall ?? '');
  if (isOurs || !(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') throw error;
  return printable(`${sliceStart(error.message, 200)} (${error.code})`);
}

const NETWORK_CALLS: ReadonlySet<string> = new Set(['connect', 'getaddrinfo', 'read', 'write', 'shutdown', '']);

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
function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, '');
}

/**
 * A bearer token and the host it is for; both must be set. Never sent over plain HTTP to another machine, and never to another host.
 */
function authorizationFor(target: HttpTarget, env: Asking['env']): { readonly authorization?: string } {
  const { SKILLWRIGHT_HTTP_TOKEN: token = '', SKILLWRIGHT_HTTP_TOKEN_HOST: host = '' } = env;
  if (token === '' || !/^[\x21-\x7e]+$/.test(token) || (!target.isSecure && !isLoopback(target))) return {};
  const isMeant = host.includes(':')
    ? host === target.authority
    : host !== '' && host === target.host.name && target.url.port === '';
  return isMeant ? { authorization: `Bearer ${token}` } : {};
}
