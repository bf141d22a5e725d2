import type { SkillError } from '#core';
import { executorUnavailable } from '../failures.ts';

export type HttpEndpoint =
  | { readonly type: 'unix'; readonly socketPath: string }
  | { readonly type: 'tcp'; readonly host: string; readonly port: number };

const DEFAULT_SOCKET = '/var/run/docker.sock';
const DEFAULT_PORT = 2375;

/** Parses `unix:///run/podman/podman.sock`, `/run/docker.sock` or `tcp://10.0.0.2:2375` (default: the socket of Docker). */
export function engineEndpoint(address: string | undefined): HttpEndpoint {
  if (address === undefined || address === '') return { type: 'unix', socketPath: DEFAULT_SOCKET };
  if (address.startsWith('/')) return { type: 'unix', socketPath: address };
  if (address.startsWith('unix://')) {
    const socketPath = address.slice('unix://'.length);
    if (socketPath.startsWith('/')) return { type: 'unix', socketPath };
    throw badAddress(address, 'the socket path must be absolute');
  }
  if (address.startsWith('tcp://') || address.startsWith('http://')) return tcpEndpoint(address);
  if (address.startsWith('ssh://')) throw badAddress(address, 'ssh is not supported', SSH_HINT);
  throw badAddress(address, 'its scheme is unknown; expected unix:// or tcp://');
}

export function endpointText(endpoint: HttpEndpoint): string {
  return endpoint.type === 'unix' ? `unix://${endpoint.socketPath}` : `tcp://${endpoint.host}:${String(endpoint.port)}`;
}

const SSH_HINT =
  'forward the socket with `ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock HOST`, then use unix:///tmp/engine.sock';

function tcpEndpoint(address: string): HttpEndpoint {
  // URL validates host and port only for schemes that it knows.
  const known = address.replace(/^tcp:/, 'http:');
  if (!URL.canParse(known)) throw badAddress(address, 'it is not a valid URL');
  const url = new URL(known);
  if (url.username !== '' || url.password !== '' || (url.pathname !== '/' && url.pathname !== ''))
    throw badAddress(address, 'only a host and a port are allowed');
  const isDefault = url.port === '';
  return {
    type: 'tcp',
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    // URL drops an explicit port 80, the default of http.
    port: isDefault ? (/:80\/?$/.test(address) ? 80 : DEFAULT_PORT) : Number(url.port),
  };
}

function badAddress(
  address: string,
  reason: string,
  hint = 'use unix:///path/of/the/socket or tcp://host:port',
): SkillError {
  const message = `invalid container engine address ${JSON.stringify(address)}: ${reason}`;
  return executorUnavailable('container', message, { hint, reasons: [reason], install: '' });
}
