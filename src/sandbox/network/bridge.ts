import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { readHostPattern, readAddress, type HostPattern, type ProgramSpec, type ProgramEnd, isProblem } from '#core';
import { packageFile, openAllowProxy, type networkGate } from '#platform';
import { imageForwarder } from './image-forwarder.ts';
import type { Identity } from '../program-types.ts';

type OnDecision = Parameters<typeof networkGate>[0]['onDecision'];

type RefusedConnection = NonNullable<ProgramEnd['refused']>[number];

export interface BridgeOptions {
  /** Granted host patterns; see core/network/host-pattern.ts. */
  readonly hosts: readonly string[];
  /** Folder on the host for the socket; the user of the program must be able to traverse it. */
  readonly folder: string;
  /** User of the program, where it is not the current user. */
  readonly identity?: Identity;
  readonly resolve?: NonNullable<Parameters<typeof networkGate>[0]['resolve']>;
  readonly proxyFrom?: ProgramSpec['proxyFrom'] | undefined;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<NonNullable<Parameters<typeof openAllowProxy>[0]['limits']>>;
  readonly onDecision?: OnDecision;
  /** Path of the socket inside the sandbox. */
  readonly socketInside?: string;
  /** Programs of an image run instead of this machine's Node (default: false). */
  readonly isInImage?: boolean;
  /** Path of the compiled forwarder (default: beside this file). */
  readonly forwarder?: string;
}

/** Access to granted hosts for programs without a network. Open as long as its programs run. */
export interface Bridge {
  /** Path on the host. */
  readonly socketPath: string;
  /** Proxy variables for programs. */
  readonly env: Readonly<Record<string, string>>;
  /** Start of the command inside; the program follows. Without `isInImage` the running Node must be available inside at its own path. */
  readonly forwarderArgv: readonly string[];
  /** The refused connections so far, each once. */
  refused(): readonly RefusedConnection[];
  close(): Promise<void>;
}

/** A proxy to granted hosts on a port of 127.0.0.1. */
export interface PortProxy {
  readonly port: number;
  /** Proxy variables for the program. */
  readonly env: Readonly<Record<string, string>>;
  refused(): readonly RefusedConnection[];
  close(): Promise<void>;
}

/** Maximum number of refused connections that are remembered. */
const MAX_REFUSED = 20;

/** Default path of the socket inside a sandbox. */
const SOCKET_INSIDE = '/run/skillwright/proxy.sock';
/** On the private loopback interface of a sandbox no other program can use the port. */
const PORT = 3128;

/** Opens a proxy on a socket in `folder` for sandboxes that have only a loopback interface. */
export async function openBridge(options: BridgeOptions): Promise<Bridge> {
  const {
    hosts,
    folder,
    identity,
    socketInside = SOCKET_INSIDE,
    forwarder = packageFile('dist/sandbox/network/forwarder.js'),
    isInImage = false,
    onDecision,
    ...rest
  } = options;
  const noted = notedRefusals(onDecision);
  const { forwards, isDirect } = loopbackForwards(hosts);
  // Passed as an argument, so that a sandbox only has to mount the socket.
  const program = readFileSync(forwarder, 'utf8');
  const places = [socketInside, String(PORT), forwards.join(',') || 'none'] as const;
  const socketPath = path.join(folder, `net-${randomBytes(6).toString('hex')}.sock`);
  const proxy = await openAllowProxy({
    ...rest,
    hosts,
    socketPath,
    onDecision: noted.onDecision,
    owner: identity,
  });
  return {
    socketPath,
    env: { ...proxyEnvironment(PORT, isDirect), ...(isInImage ? {} : quietNode()) },
    forwarderArgv: forwarderCommand(program, places, isInImage),
    refused: noted.refused,
    close: async () => await proxy.close(),
  };
}

/** Opens a proxy on a port of 127.0.0.1, for package managers in a sandbox that has the network of the machine. */
export async function openPortProxy({
  hosts,
  proxyFrom,
}: Pick<BridgeOptions, 'hosts' | 'proxyFrom'>): Promise<PortProxy> {
  const noted = notedRefusals();
  const proxy = await openAllowProxy({ hosts, proxyFrom, loopback: true, onDecision: noted.onDecision });
  const { port = 0 } = proxy;
  return {
    port,
    env: { ...proxyEnvironment(port, false), ...quietNode() },
    refused: noted.refused,
    close: () => proxy.close(),
  };
}

/** The start of a command that runs the text of a forwarder; the program follows. */
export function forwarderCommand(forwarder: string, places: readonly string[], isInImage: boolean): readonly string[] {
  if (isInImage) return imageForwarder(forwarder, places);
  return [process.execPath, '--input-type=module', '--eval', forwarder, '--', ...places, '--'];
}

function notedRefusals(onDecision?: OnDecision): {
  readonly onDecision: OnDecision;
  readonly refused: () => readonly RefusedConnection[];
} {
  const refused = new Map<string, RefusedConnection>();
  return {
    refused: () => [...refused.values()],
    onDecision: (decision) => {
      const { host, port, allowed, rule } = decision;
      if (!allowed && refused.size < MAX_REFUSED) refused.set(`${host}:${String(port)}`, { host, port, reason: rule });
      onDecision?.(decision);
    },
  };
}

/** Ports below this need a privilege that programs do not have. */
const FIRST_FREE_PORT = 1024;

/**
 * Services of this machine's loopback interface that were granted by port: the forwarder offers them at the same address inside, so that
 * programs without proxy support reach them too. If another loopback grant remains, clients must not bypass the proxy for `localhost`.
 */
function loopbackForwards(hosts: readonly string[]): {
  readonly forwards: readonly string[];
  readonly isDirect: boolean;
} {
  const grants = hosts.map(readHostPattern).flatMap((read) => (isProblem(read) || !isLoopback(read) ? [] : [read]));
  const isOffered = ({ ports }: HostPattern): boolean =>
    ports !== 'all' && ports.every((port) => port >= FIRST_FREE_PORT && port !== PORT);
  const forwards = grants.filter(isOffered).flatMap(({ host, ports }) => {
    const name = host.includes(':') ? `[${host}]` : host;
    return ports === 'all' ? [] : ports.map((port) => `${name}:${String(port)}`);
  });
  return { forwards, isDirect: grants.every(isOffered) };
}

/** Both spellings, because curl reads only lower-case `http_proxy`. The proxy resolves host names (`socks5h`). */
function proxyEnvironment(port: number, isDirect = true): Readonly<Record<string, string>> {
  const http = `http://127.0.0.1:${String(port)}`;
  const socks = `socks5h://127.0.0.1:${String(port)}`;
  const direct = isDirect ? 'localhost,127.0.0.1,::1' : '';
  return {
    HTTP_PROXY: http,
    http_proxy: http,
    HTTPS_PROXY: http,
    https_proxy: http,
    ALL_PROXY: socks,
    all_proxy: socks,
    NO_PROXY: direct,
    no_proxy: direct,
    // For the fetch of Node 22.21, Node 24 and later.
    NODE_USE_ENV_PROXY: '1',
  };
}

/**
 * Node 22 warns about NODE_USE_ENV_PROXY on the standard error of every program. `--disable-warning` would silence that warning alone, but
 * with it in NODE_OPTIONS a Node older than 20.11, such as the one of Debian 12, refuses to start.
 */
function quietNode(): Readonly<Record<string, string>> {
  return process.version.startsWith('v22.') ? { NODE_NO_WARNINGS: '1' } : {};
}

/** Whether a grant names the loopback interface itself. */
function isLoopback({ host, kind }: Pick<HostPattern, 'host' | 'kind'>): boolean {
  return kind === 'address' ? readAddress(host)?.kind === 'loopback' : kind === 'name' && host === 'localhost';
}
