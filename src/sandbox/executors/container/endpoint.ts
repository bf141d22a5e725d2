import { SkillError } from '../../../core/errors.ts';
import type { HttpEndpoint } from '../../../platform/net/http-socket.ts';

/** Where an engine is: a path of a socket, or what `DOCKER_HOST` may hold. */
const DEFAULT_SOCKET = '/var/run/docker.sock';
const DEFAULT_PORT = 2375;

/** `unix:///run/podman/podman.sock`, `/run/docker.sock`, `tcp://10.0.0.2:2375`; nothing: the usual socket. */
export function engineEndpoint(address: string | undefined): HttpEndpoint {
  if (address === undefined || address === '') return { type: 'unix', socketPath: DEFAULT_SOCKET };
  if (address.startsWith('/')) return { type: 'unix', socketPath: address };
  if (address.startsWith('unix://')) {
    const socketPath = address.slice('unix://'.length);
    if (socketPath.startsWith('/')) return { type: 'unix', socketPath };
    throw badAddress(address, 'the path of a socket has to be absolute');
  }
  if (address.startsWith('tcp://') || address.startsWith('http://')) return tcpEndpoint(address);
  if (address.startsWith('ssh://')) throw badAddress(address, 'engines behind ssh are not supported', SSH_HINT);
  throw badAddress(address, 'it names no way to an engine that is known here');
}

export function endpointText(endpoint: HttpEndpoint): string {
  return endpoint.type === 'unix' ? `unix://${endpoint.socketPath}` : `tcp://${endpoint.host}:${String(endpoint.port)}`;
}

const SSH_HINT =
  'forward the socket with `ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock HOST`, then use unix:///tmp/engine.sock';

function tcpEndpoint(address: string): HttpEndpoint {
  // With a scheme that URL knows, so that host and port are checked.
  const known = address.replace(/^tcp:/, 'http:');
  if (!URL.canParse(known)) throw badAddress(address, 'it is no address');
  const url = new URL(known);
  if (url.username !== '' || url.password !== '' || (url.pathname !== '/' && url.pathname !== ''))
    throw badAddress(address, 'only a host and a port may stand there');
  const isDefault = url.port === '';
  return {
    type: 'tcp',
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    // URL leaves out port 80, which is what somebody may have written.
    port: isDefault ? (/:80\/?$/.test(address) ? 80 : DEFAULT_PORT) : Number(url.port),
  };
}

function badAddress(address: string, reason: string, hint?: string): SkillError {
  return new SkillError({
    code: 'executor/unavailable',
    message: `the address of the container engine ${JSON.stringify(address)} cannot be used: ${reason}`,
    hint: hint ?? 'write unix:///path/of/the/socket or tcp://host:port',
    data: { executor: 'container', reasons: [reason], install: '' },
  });
}
