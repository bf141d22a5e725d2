import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

import { readAddress, type HostAndPort } from '#core';

/** The proxy that the user's environment names, for requests that this program makes itself. Programs of skills never get it. */

type Environment = Readonly<Record<string, string | undefined>>;

/** The longest head of an answer to CONNECT. */
const MAX_HEAD = 16 * 1024;

/** Returns the proxy for a target, as curl chooses it: by scheme, then ALL_PROXY. Targets in NO_PROXY and this machine have none. */
export function proxyFor(target: HostAndPort & { readonly isSecure: boolean }, env: Environment): URL | undefined {
  const { host, port, isSecure } = target;
  const isHere = host.isAddress ? readAddress(host.name)?.kind === 'loopback' : host.name === 'localhost';
  if (isHere || isExcluded(host.name, port, readVariable(env, 'no_proxy'))) return undefined;
  const text = readVariable(env, isSecure ? 'https_proxy' : 'http_proxy') ?? readVariable(env, 'all_proxy');
  if (text === undefined) return undefined;
  const whole = text.includes('://') ? text : `http://${text}`;
  const proxy = URL.canParse(whole) ? new URL(whole) : undefined;
  if (proxy === undefined || !/^https?:$/.test(proxy.protocol) || proxy.hostname === '')
    throw proxyProblem('the proxy in the environment is not an http:// or https:// address; correct HTTPS_PROXY');
  return proxy;
}

/** Opens a tunnel. The proxy resolves the name, so the address of the target is not checked here. Throws connection errors. */
export async function connectThrough(proxy: URL, { host, port }: HostAndPort, stop: AbortSignal): Promise<Socket> {
  stop.throwIfAborted();
  const socket = await opened(proxy, stop);
  const authority = writeAuthority(host, port);
  const name = host.name.includes(':') ? `[${host.name}]:${String(port)}` : `${host.name}:${String(port)}`;
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const authorization =
    proxy.username === '' ? '' : `proxy-authorization: Basic ${Buffer.from(credentials).toString('base64')}\r\n`;
  socket.write(`CONNECT ${name} HTTP/1.1\r\nhost: ${name}\r\n${authorization}\r\n`);
  try {
    const status = await readHead(socket, stop);
    if (status === 200) return socket;
    throw proxyProblem(`the proxy ${proxy.host} answered ${String(status)} for ${authority}`);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function opened(proxy: URL, stop: AbortSignal): Promise<Socket> {
  const isSecure = proxy.protocol === 'https:';
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  const port = proxy.port === '' ? (isSecure ? 443 : 80) : Number(proxy.port);
  return new Promise((resolve, reject) => {
    const socket = isSecure ? connectSecurely({ host, port, servername: host }) : connect({ host, port });
    const cancel = (): void => {
      socket.destroy();
      reject(new Error('the connection to the proxy was cancelled', { cause: stop.reason }));
    };
    stop.addEventListener('abort', cancel, { once: true });
    socket.once('close', () => stop.removeEventListener('abort', cancel));
    // Stays registered: a later error must not crash the process.
    socket.on('error', (error) => reject(proxyProblem(`the proxy ${proxy.host} cannot be reached`, error)));
    socket.once(isSecure ? 'secureConnect' : 'connect', () => resolve(socket));
  });
}

/** Reads the answer to CONNECT up to its empty line. Bytes behind it belong to the tunnel. */
function readHead(socket: Socket, stop: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const settle = (act: () => void): void => {
      // Not `data` and `pause`: the next reader of a paused socket would wait forever.
      socket.off('readable', take);
      socket.off('close', closed);
      stop.removeEventListener('abort', closed);
      act();
    };
    const closed = (): void => settle(() => reject(proxyProblem('the proxy closed the connection')));
    const take = (): void => {
      for (let piece: unknown = socket.read(); piece instanceof Buffer; piece = socket.read())
        head = Buffer.concat([head, piece]);
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) {
        if (head.length > MAX_HEAD) settle(() => reject(proxyProblem('the answer of the proxy is too long')));
        return;
      }
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.subarray(0, end).toString('latin1'))?.[1];
      settle(() => {
        if (end + 4 < head.length) socket.unshift(head.subarray(end + 4));
        resolve(Number(status ?? 0));
      });
    };
    socket.on('readable', take);
    socket.once('close', closed);
    stop.addEventListener('abort', closed, { once: true });
  });
}

function proxyProblem(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code: 'EPROXY' });
}

/** Both spellings are in use; the lower-case one wins, as in curl. */
function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name] ?? env[name.toUpperCase()];
  return value === undefined || value.trim() === '' ? undefined : value.trim();
}

/** Entries are `*`, names, names with a leading dot (names below only) and addresses, each with an optional port. */
function isExcluded(name: string, port: number, list = ''): boolean {
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, host = entry, only] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
      if (only !== undefined && Number(only) !== port) return false;
      const bare = host.replace(/^\*?\./, '').replace(/^\[|\]$/g, '');
      return name === bare || name.endsWith(`.${bare}`);
    });
}

/** Formats an authority; IPv6 addresses get brackets. */
export function writeAuthority({ name }: HostAndPort['host'], port: number): string {
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
}
