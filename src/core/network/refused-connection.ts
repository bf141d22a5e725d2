import { printable } from '../text/text.ts';
import { readAddress } from './network-address.ts';

/** A connection that a program asked for and did not get. */
export interface RefusedConnection {
  readonly host: string;
  /** 0 if the request had none. */
  readonly port: number;
  /** `not-granted`, `not-public`, `unresolved`, ... */
  readonly reason: string;
}

const WEB_PORTS: ReadonlySet<number> = new Set([0, 80, 443]);

/** One line for a person, with the flag that would allow the connection. */
export function refusedText({ host, port, reason }: RefusedConnection): string {
  const name = printable(host.includes(':') ? `[${host}]` : host);
  const authority = WEB_PORTS.has(port) ? name : `${name}:${String(port)}`;
  const { kind = 'public' } = readAddress(host) ?? {};
  const grant = kind === 'public' || kind === 'loopback' ? authority : `private://${authority}`;
  switch (reason) {
    case 'not-granted':
      return `the connection to ${authority} was refused; allow it with --allow ${grant}`;
    case 'not-public':
      return `the connection to ${authority} was refused, because its address is not public; allow it with --allow private://${authority}`;
    default:
      return `the connection to ${authority} failed: ${printable(reason)}`;
  }
}
