/**
 * The HTTP client for addresses that a user, a model or a server chose. Each connection passes the network gate, which checks the resolved
 * address, and each redirect is checked like a new request. No cookies and no connection pool.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { isProblem, readAddress, readAuthority, type HostPattern, type Problem } from '#core';
import { exchangeOver, type HttpExchange, type HttpTarget } from './http-exchange.ts';
import { networkGate, type NetworkGateOptions, type Unreached } from './network-gate.ts';
import { connectThrough, proxyFor, writeAuthority } from './user-proxy.ts';

type HttpRequest = Pick<HttpExchange, 'target' | 'method' | 'headers' | 'body'>;

interface GuardedOptions<P extends Problem>
  extends
    Pick<HttpExchange, 'certificates' | 'stop'>,
    Pick<NetworkGateOptions, 'connectMs' | 'resolve'>,
    Partial<Pick<NetworkGateOptions, 'onDecision'>> {
  /** The grants for one connection. */
  readonly grants: (target: HttpTarget) => readonly HostPattern[];
  /** Why a host must not be reached, asked before each connection. */
  readonly deny?: (target: HttpTarget) => P | undefined;
  /** The problem of a host that was not reached. */
  readonly unreached: (problem: Unreached, target: HttpTarget) => P;
  /** The request that a redirect asks for, or why it is not followed. Absent: a redirect is the response. */
  readonly redirect?: (request: HttpRequest, status: number, location: string) => HttpRequest | P;
  /** Default: 5. */
  readonly maxRedirects?: number;
  readonly tooManyRedirects?: (limit: number) => P;
  /** The environment that names the user's proxy; only for requests that the user makes. */
  readonly proxyFrom?: Readonly<Record<string, string | undefined>>;
}

interface GuardedResponse {
  readonly response: IncomingMessage;
  /** The last target, after redirects. */
  readonly target: HttpTarget;
  /** URLs visited before `target`. */
  readonly redirects: readonly string[];
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Sends a request and returns the head of its response. Throws connection errors and the reason of `stop`. */
export async function requestGuarded<P extends Problem>(
  first: HttpRequest,
  options: GuardedOptions<P>,
): Promise<GuardedResponse | P> {
  const { stop, certificates, redirect, maxRedirects = 5 } = options;
  const redirects: string[] = [];
  let request = first;
  for (;;) {
    const { target } = request;
    const denied = options.deny?.(target);
    if (denied !== undefined) return denied;
    const reached = await reach(target, options);
    if (stop.aborted && !isProblem(reached)) reached.destroy();
    stop.throwIfAborted();
    if (isProblem(reached)) return options.unreached(reached, target);
    const response = await exchangeOver(reached, { ...request, certificates, stop });
    const { statusCode: status = 0, headers } = response;
    if (redirect === undefined || !REDIRECTS.has(status) || headers.location === undefined)
      return { response, target, redirects };
    response.destroy();
    const tooMany = redirects.length >= maxRedirects ? options.tooManyRedirects?.(maxRedirects) : undefined;
    const next = tooMany ?? redirect(request, status, headers.location);
    if (isRefused<P>(next)) return next;
    redirects.push(target.url.href);
    request = next;
  }
}

function isRefused<P extends Problem>(next: HttpRequest | P): next is P {
  return isProblem(next);
}

async function reach<P extends Problem>(
  target: HttpTarget,
  { grants, connectMs, resolve, onDecision = () => undefined, proxyFrom, stop }: GuardedOptions<P>,
): Promise<Socket | Unreached> {
  // A proxy resolves names itself, so only an address can be checked; the gate refuses one that is not public.
  const isPublic = !target.host.isAddress || readAddress(target.host.name)?.kind === 'public';
  const proxy = isPublic && proxyFrom !== undefined ? proxyFor(target, proxyFrom) : undefined;
  if (proxy !== undefined) return await connectThrough(proxy, target, stop);
  return await networkGate({ grants: grants(target), connectMs, onDecision, resolve }).reach(target, stop);
}

/** The target of an http or https URL, without its fragment; undefined for other URLs and for ambiguous hosts. */
export function httpTarget(url: URL): HttpTarget | undefined {
  const isSecure = url.protocol === 'https:';
  const asked = readAuthority(url.host, isSecure ? 443 : 80);
  if ((!isSecure && url.protocol !== 'http:') || asked === undefined) return undefined;
  const bare = new URL(url);
  bare.hash = '';
  return { type: 'target', url: bare, isSecure, ...asked, authority: writeAuthority(asked.host, asked.port) };
}
