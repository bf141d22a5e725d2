import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

import {
  findGrant,
  invalidInput,
  readAddress,
  readHostPattern,
  type HostAndPort,
  type HostPattern,
  type Problem,
  isProblem,
} from '#core';
import { connectThrough, proxyFor, writeAuthority } from './user-proxy.ts';
import { isSystemError } from '../system-error.ts';

type NetworkAddress = NonNullable<ReturnType<typeof readAddress>>;

/** Resolves a name to addresses, best first. */
export type ResolveHost = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Why a host was not reached, with what to do. */
const HINTS = {
  'not-granted': 'grant the host and port, or use a host that is granted',
  'not-public': 'grant it as private://HOST:PORT if that address is intended',
  unresolved: 'check the spelling of the host and the name server of this machine',
  unreachable: 'check that the server runs and that this machine reaches it, then try again',
} as const;

export type Refusal = keyof typeof HINTS;

/** A request for a connection and its decision. */
export interface NetworkDecision {
  /** Normalized; truncated and escaped if it is not a valid host. */
  readonly host: string;
  /** 0 if the request had none. */
  readonly port: number;
  readonly allowed: boolean;
  /** The matching grant, or the reason of the refusal. */
  readonly rule: string;
}

/** Why a host is not reached. The message is one line for the program, so that it knows which grant is missing. */
export interface Unreached extends Problem<`network/${Refusal}`> {
  readonly refusal: Refusal;
}

export interface NetworkGateOptions {
  readonly grants: readonly HostPattern[];
  readonly resolve?: ResolveHost;
  /** Connect through the proxy of this environment, where it names one for a host. It resolves the name, so no address is checked. */
  readonly proxyFrom?: Readonly<Record<string, string | undefined>>;
  /** Timeout of a name lookup, and of each connection attempt. */
  readonly connectMs: number;
  readonly onDecision: (decision: NetworkDecision) => void;
}

export interface NetworkGate {
  /** Connects to a granted host. Network errors are returned as a problem. */
  reach(asked: HostAndPort, signal: AbortSignal): Promise<Socket | Unreached>;
}

const HTTP_PORT = 80;
/** Addresses of one name that are tried in turn. */
const MAX_TRIES = 3;
/** Grants listed in a refusal. */
const MAX_NAMED = 8;

function unreached(refusal: Refusal, message: string): Unreached {
  return { code: `network/${refusal}`, refusal, message, hint: HINTS[refusal] };
}

/**
 * Every outgoing connection passes this gate. It checks the grant by name, resolves the name itself, checks every address, and connects
 * to an address that it checked: DNS rebinding between check and connection has no effect.
 */
export function networkGate({
  grants,
  resolve = lookUp,
  proxyFrom,
  connectMs,
  onDecision,
}: NetworkGateOptions): NetworkGate {
  const decide = (asked: HostAndPort, allowed: boolean, rule: string): void => {
    onDecision({ host: asked.host.name, port: asked.port, allowed, rule });
  };
  const refuse = (asked: HostAndPort, refusal: Refusal, message: string): Unreached => {
    decide(asked, false, refusal);
    return unreached(refusal, message);
  };
  return {
    async reach(asked, signal) {
      const authority = writeAuthority(asked.host, asked.port);
      const grant = findGrant(grants, asked.host, asked.port);
      if (grant === undefined) return refuse(asked, 'not-granted', notGranted(grants, asked));
      const viaProxy =
        proxyFrom === undefined ? undefined : await throughProxy(asked, { proxyFrom, connectMs, signal });
      if (viaProxy !== undefined) {
        decide(asked, true, grant.text);
        return viaProxy;
      }
      const found = await resolveAddresses(asked, { resolve, connectMs, signal });
      if (found.length === 0) return refuse(asked, 'unresolved', `${asked.host.name} has no address`);
      const usable = found.filter((address) => mayReach(grant, address));
      if (usable.length === 0) return refuse(asked, 'not-public', notPublic(authority, found));
      decide(asked, true, grant.text);
      for (const address of usable.slice(0, MAX_TRIES)) {
        const socket = await dial({ address: address.text, port: asked.port, connectMs, signal });
        if (socket !== undefined) return socket;
      }
      return unreached('unreachable', `${authority} does not answer`);
    },
  };
}

interface ProxyUse extends Pick<NetworkGateOptions, 'connectMs'> {
  readonly proxyFrom: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Returns nothing for a host without a proxy. */
async function throughProxy(
  asked: HostAndPort,
  { proxyFrom, connectMs, signal }: ProxyUse,
): Promise<Socket | Unreached | undefined> {
  try {
    const proxy = proxyFor({ ...asked, isSecure: asked.port !== HTTP_PORT }, proxyFrom);
    if (proxy === undefined) return undefined;
    return await connectThrough(proxy, asked, AbortSignal.any([signal, AbortSignal.timeout(connectMs)]));
  } catch (error) {
    // Every failure of the user's proxy has this code.
    if (error instanceof Error && 'code' in error && error.code === 'EPROXY')
      return unreached('unreachable', error.message);
    if (signal.aborted || (error instanceof Error && /Abort|Timeout|cancelled/.test(`${error.name} ${error.message}`)))
      return unreached('unreachable', 'the proxy does not answer');
    throw error;
  }
}

/** Parses a grant that a person wrote. Throws `input/invalid`. */
export function readGrant(text: string): HostPattern {
  const read = readHostPattern(text);
  if (!isProblem(read)) return read;
  throw invalidInput(
    `invalid network grant: ${read.message}`,
    'a host, with or without a port',
    'grant hosts as example.org, *.example.org, example.org:8443, or private://localhost:8080 for what is not on the internet',
  );
}

/**
 * Whether a grant covers an address of its host. A private grant for a name covers this machine, its local network and the ranges for
 * tests, which VPN clients use for their own name servers. It covers no metadata service and no multicast address: those must be granted by
 * address.
 */
function mayReach(grant: HostPattern, address: NetworkAddress): boolean {
  const kind = address.kind === 'public' && isOwn(address) ? 'private' : address.kind;
  if (kind === 'public') return true;
  if (!grant.isPrivate) return false;
  return grant.kind === 'address' || (kind !== 'metadata' && kind !== 'multicast');
}

/** At a public address of this machine, services for the local network may listen. */
function isOwn({ text }: NetworkAddress): boolean {
  return Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === text) === true);
}

function notGranted(grants: readonly HostPattern[], { host, port }: HostAndPort): string {
  const others = grants.filter((grant) => findGrant([grant], host) !== undefined);
  if (others.length > 0) return `port ${String(port)} of ${host.name} is not granted, only ${named(others)}`;
  const known = grants.length === 0 ? 'no host is' : `granted: ${named(grants)}`;
  return `${writeAuthority(host, port)} is not granted; ${known}`;
}

const KINDS: Readonly<Record<NetworkAddress['kind'], string>> = {
  public: 'an address of this machine',
  private: 'a private network',
  loopback: 'this machine',
  'link-local': 'the local network segment',
  multicast: 'a multicast address',
  metadata: 'a cloud metadata service, which hands out credentials',
  reserved: 'a range reserved for special use',
};

function notPublic(authority: string, found: readonly NetworkAddress[]): string {
  const kinds = [...new Set(found.map(({ kind, text }) => `${text} (${KINDS[kind]})`))].slice(0, MAX_NAMED).join(', ');
  return `${authority} resolves to ${kinds}; grant it as private://${authority} if that is intended`;
}

function named(grants: readonly HostPattern[]): string {
  const texts = grants.slice(0, MAX_NAMED).map(({ text }) => text);
  return [...texts, ...(grants.length > MAX_NAMED ? [`${String(grants.length - MAX_NAMED)} more`] : [])].join(', ');
}

interface Lookup {
  readonly resolve: ResolveHost;
  readonly connectMs: number;
  readonly signal: AbortSignal;
}

async function resolveAddresses(
  { host }: HostAndPort,
  { resolve, connectMs, signal }: Lookup,
): Promise<readonly NetworkAddress[]> {
  const texts = host.isAddress
    ? [host.name]
    : await withinTime(connectMs, signal, (stop) => ask(resolve, host.name, stop));
  return (texts ?? []).flatMap((text) => readAddress(text) ?? []);
}

async function ask(resolve: ResolveHost, name: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return await resolve(name, signal);
  } catch (error) {
    // Any lookup error means the same to the program: the name has no address.
    if (isSystemError(error)) return [];
    throw error;
  }
}

/** The system resolver cannot be cancelled; the caller stops waiting at the deadline. */
async function lookUp(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);
}

async function withinTime<T>(
  ms: number,
  signal: AbortSignal,
  act: (stop: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const done = new AbortController();
  const stop = AbortSignal.any([signal, done.signal]);
  const timer = setTimeout(() => done.abort(), ms);
  try {
    return await Promise.race([
      act(stop),
      new Promise<undefined>((resolve) => {
        if (stop.aborted) resolve(undefined);
        stop.addEventListener('abort', () => resolve(undefined), { once: true });
      }),
    ]);
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}

interface Dial {
  readonly address: string;
  readonly port: number;
  readonly connectMs: number;
  readonly signal: AbortSignal;
}

async function dial({ address, port, connectMs, signal }: Dial): Promise<Socket | undefined> {
  const socket = connect({ host: address, port, allowHalfOpen: true, autoSelectFamily: false });
  // Later errors end in `close`, which the user of the socket handles.
  const isOpen = await withinTime(
    connectMs,
    signal,
    () =>
      new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true));
        socket.on('error', () => resolve(false));
      }),
  );
  if (isOpen === true) return socket;
  socket.destroy();
  return undefined;
}
