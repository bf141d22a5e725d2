/** One GET on a connection of its own, through the gate that judges the address it really leads to. No cookies, no proxies, no agent. */
import type { IncomingMessage } from 'node:http';

import { readHost, writeAuthority } from '../../core/network/host-pattern.ts';
import { packRefusal } from '../problems.ts';
import type { PackRefusal } from '../problems.ts';
import { isLoopback } from './source-address.ts';
import { quoted } from '../../core/text/text.ts';
import { exchangeOver } from '../../platform/net/http-exchange.ts';
import type { HttpTarget } from '../../platform/net/http-exchange.ts';
import { isRefused, networkGate, readGrant } from '../../platform/net/network-gate.ts';
import type { SourceNetwork } from './bring-options.ts';

export interface GetOptions {
  readonly network: SourceNetwork;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The person named this machine, so that it may be reached. */
  readonly mayReachLoopback: boolean;
  readonly stop: AbortSignal;
}

/** The key for one host, and the host it is for: both or nothing is sent. */
const TOKEN = 'SKILLWRIGHT_HTTP_TOKEN';
const TOKEN_HOST = 'SKILLWRIGHT_HTTP_TOKEN_HOST';
const CONNECT_MS = 10_000;

/** An address as a target, or why it is none. `from` is who sends us there. */
export function targetOf(
  text: string,
  { allowHttp = false }: SourceNetwork,
  from?: HttpTarget,
): HttpTarget | PackRefusal {
  const shown = quoted(withoutQuery(text), 200);
  const whence = from === undefined ? shown : `${from.authority} sends on to ${shown}, which`;
  if (/[\x00-\x20\x7f\\]/.test(text) || !URL.canParse(text, from?.url.href))
    return packRefusal('source/refused', `${whence} is no address`);
  const url = new URL(text, from?.url);
  const isSecure = url.protocol === 'https:';
  const host = readHost(url.hostname);
  if ((!isSecure && url.protocol !== 'http:') || host === undefined || url.username !== '' || url.password !== '')
    return packRefusal('source/refused', `${whence} is no plain address of the web`);
  url.hash = '';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  if (!isSecure && (from?.isSecure === true || (!allowHttp && !isLoopback({ host, port }))))
    return packRefusal('source/refused', `${whence} is not secure: anybody on the way can change what comes`);
  return { type: 'target', url, isSecure, host, port, authority: writeAuthority(host, port) };
}

/** Without what could be a key. */
export function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, '');
}

/** Sends the request. Throws the errors of connections; what the rules do not allow is a refusal. */
export async function sendGet(target: HttpTarget, options: GetOptions): Promise<IncomingMessage | PackRefusal> {
  const { network, stop, env } = options;
  const mayBePrivate = network.allowPrivate === true || (options.mayReachLoopback && isLoopback(target));
  const gate = networkGate({
    grants: [readGrant(`${mayBePrivate ? 'private://' : ''}${target.authority}`)],
    connectMs: CONNECT_MS,
    onDecision: () => undefined,
    ...(network.resolve === undefined ? {} : { resolve: network.resolve }),
  });
  const reached = await gate.reach(target, stop);
  if (stop.aborted && !isRefused(reached)) reached.destroy();
  stop.throwIfAborted();
  if (isRefused(reached)) {
    if (reached.refusal !== 'not-public') return packRefusal('source/failed', reached.message);
    return packRefusal('source/refused', `${target.authority} is not on the internet`);
  }
  const token = tokenFor(target, env);
  return await exchangeOver(reached, {
    target,
    method: 'GET',
    // What is hashed are the bytes of the file.
    headers: { 'accept-encoding': 'identity', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    certificates: network.certificates,
    stop,
  });
}

/** Never over an open connection to another machine, never to another host. */
function tokenFor(target: HttpTarget, env: GetOptions['env']): string | undefined {
  const { [TOKEN]: token = '', [TOKEN_HOST]: host = '' } = env;
  if (token === '' || !/^[\x21-\x7e]+$/.test(token) || (!target.isSecure && !isLoopback(target))) return undefined;
  const isMeant = host.includes(':')
    ? host === target.authority
    : host !== '' && host === target.host.name && target.url.port === '';
  return isMeant ? token : undefined;
}
