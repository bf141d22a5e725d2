import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { SkillError } from '../../core/errors.ts';
import type { Identity } from '../../core/execution.ts';
import { openAllowProxy } from '../../platform/net/allow-proxy.ts';
import type { ProxyLimits } from '../../platform/net/allow-proxy.ts';
import type { NetworkDecision, ResolveHost } from '../../platform/net/network-gate.ts';

export interface BridgeOptions {
  /** Grants; see core/policy/host-pattern.ts. */
  readonly hosts: readonly string[];
  /** Ours, on the host; whoever runs the program can traverse it. */
  readonly folder: string;
  /** Whom the program runs as where that is not us. */
  readonly identity?: Identity;
  readonly resolve?: ResolveHost;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<ProxyLimits>;
  readonly onDecision?: (decision: NetworkDecision) => void;
  /** Where the sandbox shows the socket. */
  readonly socketInside?: string;
  /** The built forwarder, where it is not beside this file. */
  readonly forwarder?: string;
}

/** A way to granted hosts for programs without a network: one for each set of grants, open as long as its programs run. */
export interface Bridge {
  /** On the host. */
  readonly socketPath: string;
  /** What tells programs about the proxy. */
  readonly env: Readonly<Record<string, string>>;
  /** The first words of a command inside; those of the program follow. The running Node must be there, at its own path. */
  readonly forwarderArgv: readonly string[];
  /** Bytes that passed so far. */
  transferred(): number;
  close(): Promise<void>;
}

/** Where a sandbox shows the socket, unless it says so. */
const SOCKET_INSIDE = '/run/skillwright/proxy.sock';
/** Of an interface that nobody else uses: a constant is as good as any. */
const PORT = 3128;

/** Opens a proxy on a socket in `folder`, for sandboxes that have a loopback interface and no other. */
export async function openBridge(options: BridgeOptions): Promise<Bridge> {
  const { hosts, folder, identity, socketInside = SOCKET_INSIDE, forwarder = findForwarder(), ...rest } = options;
  // As an argument, so that a sandbox has nothing more to show than the socket.
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

/** Both spellings: curl reads `http_proxy` in small letters only, others the large ones. Names are left to the proxy (`socks5h`). */
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
    // Node's own fetch, from 24 on.
    NODE_USE_ENV_PROXY: '1',
  };
}

/** By way of the folder above: the same from the library's modules and from the command's bundle; the built one from the sources. */
const FORWARDERS: readonly string[] = ['./forwarder.js', '../../../dist/sandbox/network/forwarder.js'];

function findForwarder(): string {
  const places = FORWARDERS.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new SkillError({
    code: 'executor/failed',
    message: 'the forwarder for granted hosts is missing',
    hint: 'install skillwright again; in a clone, run npm run build',
    data: { executor: 'network', cause: `none of ${places.join(', ')}` },
  });
}
