/** Files behind addresses of the web: within limits of size, time and redirections, whatever the server says of them. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { PackRefused, isRefusal, packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { isLoopback } from './source-address.ts';
import { printable, quoted } from '../../core/text/text.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import type { HttpTarget } from '../../platform/net/http-exchange.ts';
import type { Bringing } from './bring-options.ts';
import { sendGet, targetOf, withoutQuery } from './gated-get.ts';
import type { GetOptions } from './gated-get.ts';

const MAX_REDIRECTS = 5;
const REDIRECTIONS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const TIMEOUT_MS = 300_000;
/** Nothing came for so long: nothing will. */
const SILENCE_MS = 30_000;

export type Asking = Pick<Bringing, 'network' | 'env' | 'signal' | 'onProgress'> & { readonly maxBytes: number };

export interface Downloaded {
  readonly type: 'downloaded';
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** Downloads into a file that is not there yet. */
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

/** Downloads a small file into memory. */
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
  const first = targetOf(address, network);
  if (isRefusal(first)) return first;
  const shown = quoted(withoutQuery(first.url.href), 200);
  const { timeoutMs = TIMEOUT_MS } = network;
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), timeoutMs);
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
    if (error instanceof PackRefused) return error.refusal;
    const why = ended.signal.aborted ? `it did not end within ${String(timeoutMs)} ms` : networkReason(error);
    return packRefusal('source/failed', `${shown}: ${why}`);
  } finally {
    clearTimeout(timer);
  }
}

async function follow(first: HttpTarget, options: GetOptions): Promise<IncomingMessage | PackRefusal> {
  let target = first;
  for (let redirects = 0; ; redirects += 1) {
    const response = await sendGet(target, options);
    if (isRefusal(response)) return response;
    const { statusCode = 0, headers } = response;
    if (!REDIRECTIONS.has(statusCode) || headers.location === undefined) return response;
    response.destroy();
    if (redirects === MAX_REDIRECTS)
      return packRefusal('source/refused', `${first.authority} sends on more than ${String(MAX_REDIRECTS)} times`);
    const next = targetOf(headers.location, options.network, target);
    if (isRefusal(next)) return next;
    target = next;
  }
}

function ofStatus(status: number, shown: string): PackRefusal | undefined {
  if (status === 200) return undefined;
  if (status === 404 || status === 410)
    return packRefusal('source/missing', `${shown} is not there (${String(status)})`);
  if (status === 401 || status === 403)
    return packRefusal(
      'source/refused',
      `${shown} needs a key (${String(status)}); give one by SKILLWRIGHT_HTTP_TOKEN and its host by SKILLWRIGHT_HTTP_TOKEN_HOST`,
    );
  return packRefusal('source/failed', `${shown} answered ${String(status)}`);
}

interface Receiving {
  readonly asking: Asking;
  readonly shown: string;
  readonly take: (piece: Buffer) => void;
  readonly stop: AbortSignal;
}

/** The length that a server announces is shown and saves a useless download; it is the bytes that are counted. */
async function receive(response: IncomingMessage, { asking, shown, take, stop }: Receiving): Promise<Downloaded> {
  const { maxBytes, onProgress } = asking;
  const tooLarge = new PackRefused(
    packRefusal('archive/too-large', `${shown} has more than ${String(maxBytes)} bytes`),
  );
  const announced = Number(response.headers['content-length'] ?? Number.NaN);
  const hash = createHash('sha256');
  let bytes = 0;
  let silence: NodeJS.Timeout | undefined;
  const expectMore = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => response.destroy(new PackRefused(silent(shown))), SILENCE_MS);
  };
  try {
    if (announced > maxBytes) throw tooLarge;
    expectMore();
    // Without an encoding a response gives bytes; its type says anything.
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
  return packRefusal('source/failed', `${shown}: nothing came for ${String(SILENCE_MS)} ms`);
}

/** Whatever servers and connections do wrong has a code. Errors of files fly on, and so do bugs. */
function networkReason(error: unknown): string {
  const isOurs = isSystemError(error) && !NETWORK_CALLS.has(error.syscall ?? '');
  if (isOurs || !(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') throw error;
  return printable(`${error.message.slice(0, 200)} (${error.code})`);
}

const NETWORK_CALLS: ReadonlySet<string> = new Set(['connect', 'getaddrinfo', 'read', 'write', 'shutdown', '']);
