import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { SkillError } from '../../core/errors.ts';
import type { Identity } from '../../core/execution.ts';
import { openAllowProxy } from '../../platform/net/allow-proxy.ts';
import type { ProxyLimits } from '../../platform/net/allow-proxy.ts';
import type { NetworkDecision, ResolveHost } from '../../platform/net/network-gate.ts';

export interface BridgeOptions {
  /** Granted host patterns; see core/network/host-pattern.ts. */
  readonly hosts: readonly string[];
  /** Folder on the host for the socket; the user of the program must be able to traverse it. */
  readonly folder: string;
  /** User of the program, where it is not the current user. */
  readonly identity?: Identity;
  readonly resolve?: ResolveHost;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<ProxyLimits>;
  readonly onDecision?: (decision: NetworkDecision) => void;
  /** Path of the socket inside the sandbox. */
  readonly socketInside?: string;
  /** Path of the compiled forwarder (default: beside this file). */
  readonly forwarder?: string;
}

/** Access to granted hosts for programs without a network. Open as long as its programs run. */
export interface Bridge {
  /** Path on the host. */
  readonly socketPath: string;
  /** Proxy variables for programs. */
  readonly env: Readonly<Record<string, string>>;
  /** Start of the command inside; the program follows. The running Node must be available inside at its own path. */
  readonly forwarderArgv: readonly string[];
  /** Bytes transferred so far. */
  transferred(): number;
  close(): Promise<void>;
}

/** Default path of the socket inside a sandbox. */
const SOCKET_INSIDE = '/run/skillwright/proxy.sock';
/** On the private loopback interface of a sandbox no other program can use the port. */
const PORT = 3128;

/** Opens a proxy on a socket in `folder` for sandboxes that have only a loopback interface. */
export async function openBridge(options: BridgeOptions): Promise<Bridge> {
  const { hosts, folder, identity, socketInside = SOCKET_INSIDE, forwarder = findForwarder(), ...rest } = options;
  // Passed as an argument, so that a sandbox only has to mount the socket.
  const program = readFileSync(forwarder, 'utf8');
  const socketPath = path.join(folder, `net-${randomBytes(6).toString('hex')}.sock`);
  const proxy = await openAllowProxy({
    ...rest,
    hosts,
    socketPath,
    ...(identity === undefined ? {} : { owner: identity }),
  });
  return {
    socketPath,
    env: proxyEnvironment(PORT),
    forwarderArgv: [process.execPath, '--input-type=module', '--eval', program, '--', socketInside, String(PORT), '--'],
    transferred: () => proxy.transferred(),
    close: async () => await proxy.close(),
  };
}

/** Both spellings, because curl reads only lower-case `http_proxy`. The proxy resolves host names (`socks5h`). */
export function proxyEnvironment(port: number): Readonly<Record<string, string>> {
  const http = `http://127.0.0.1:${String(port)}`;
  const socks = `socks5h://127.0.0.1:${String(port)}`;
  const direct = 'localhost,127.0.0.1,::1';
  return {
    HTTP_PROXY: http,
    http_proxy: http,
    HTTPS_PROXY: http,
    https_proxy: http,
    ALL_PROXY: socks,
    all_proxy: socks,
    NO_PROXY: direct,
    no_proxy: direct,
    // For the fetch of Node 24 and later.
    NODE_USE_ENV_PROXY: '1',
  };
}

/** The library's file: beside this module, or as seen from the command's bundle, or from the sources. */
const FORWARDERS: readonly string[] = [
  './forwarder.js',
  '../sandbox/network/forwarder.js',
  '../../../dist/sandbox/network/forwarder.js',
];

function findForwarder(): string {
  const places = FORWARDERS.map((place) => path.join(import.meta.dirname, place));
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new SkillError({
    code: 'executor/failed',
    message: 'the forwarder for granted hosts is missing',
    hint: 'reinstall skillwright; in a clone, run npm run build',
    data: { executor: 'network', cause: `none of ${places.join(', ')}` },
  });
}
