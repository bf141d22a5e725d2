import type { Socket } from 'node:net';

import { isProblem, printable, readAuthority, type HostAndPort } from '#core';
import { joinSockets, takeBytes, type ByteMeter } from './joined-sockets.ts';
import type { NetworkDecision, NetworkGate, Refusal } from './network-gate.ts';

export interface SocksOptions {
  readonly gate: NetworkGate;
  readonly meter: ByteMeter;
  readonly onDecision: (decision: NetworkDecision) => void;
  /** Called when the request is complete. */
  readonly onHead: () => void;
  readonly signal: AbortSignal;
}

/** The first byte of every SOCKS 5 message. */
export const SOCKS_VERSION = 5;

const NO_AUTHENTICATION = 0;
const NO_METHOD = 0xff;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;

const REPLIES: Readonly<Record<Refusal | 'malformed', number>> = {
  malformed: 1,
  'not-granted': 2,
  'not-public': 2,
  unresolved: 4,
  unreachable: 5,
};
const COMMAND_UNKNOWN = 7;
const ADDRESS_TYPE_UNKNOWN = 8;

/** RFC 1928 without authentication, CONNECT only. The client sends host names; the gate resolves them. */
export async function serveSocks(
  socket: Socket,
  { gate, meter, onDecision, onHead, signal }: SocksOptions,
): Promise<void> {
  const end = (bytes: readonly number[]): void => {
    socket.end(Uint8Array.from(bytes));
  };
  const [version, count = 0] = await takeBytes(socket, 2, signal);
  if (version !== SOCKS_VERSION || count === 0) return void socket.destroy();
  const methods = await takeBytes(socket, count, signal);
  if (methods.length < count) return void socket.destroy();
  if (!methods.includes(NO_AUTHENTICATION)) return end([SOCKS_VERSION, NO_METHOD]);
  socket.write(Uint8Array.of(SOCKS_VERSION, NO_AUTHENTICATION));

  const [again, command, , type = 0] = await takeBytes(socket, 4, signal);
  if (again !== SOCKS_VERSION) return void socket.destroy();
  if (command !== CONNECT) return end(reply(COMMAND_UNKNOWN));
  if (type !== IPV4 && type !== IPV6 && type !== NAME) return end(reply(ADDRESS_TYPE_UNKNOWN));
  const asked = await takeTarget(socket, type, signal);
  onHead();
  if (asked === undefined) return void socket.destroy();
  if ('text' in asked) {
    onDecision({ host: printable(asked.text), port: asked.port, allowed: false, rule: 'malformed' });
    return end(reply(REPLIES.malformed));
  }
  const reached = await gate.reach(asked, signal);
  if (isProblem(reached)) return end(reply(REPLIES[reached.refusal]));
  if (socket.destroyed) return void reached.destroy();
  socket.write(Uint8Array.from(reply(0)));
  joinSockets(socket, reached, meter);
}

/** The bound address in a reply is left zero: clients do not need it. */
function reply(code: number): readonly number[] {
  return [SOCKS_VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0];
}

interface InvalidHost {
  readonly text: string;
  readonly port: number;
}

/** Reads the target; `undefined` if the client disconnected. */
async function takeTarget(
  socket: Socket,
  type: number,
  signal: AbortSignal,
): Promise<HostAndPort | InvalidHost | undefined> {
  const [length = 0] = type === NAME ? await takeBytes(socket, 1, signal) : [type === IPV4 ? 4 : 16];
  const bytes = length === 0 ? new Uint8Array() : await takeBytes(socket, length, signal);
  const [high, low] = await takeBytes(socket, 2, signal);
  if (high === undefined || low === undefined || bytes.length < length) return undefined;
  const port = high * 256 + low;
  // Latin-1 keeps every byte, so that a non-ASCII name is invalid instead of ambiguous.
  const text = type === NAME ? Buffer.from(bytes).toString('latin1') : addressText(bytes);
  const asked = /^[\x21-\x7e]+$/.test(text) ? readAuthority(text.includes(':') ? `[${text}]` : text, port) : undefined;
  return asked === undefined || port === 0 ? { text, port } : asked;
}

function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const hex = Buffer.from(bytes).toString('hex');
  return hex.match(/.{4}/g)?.join(':') ?? '';
}
