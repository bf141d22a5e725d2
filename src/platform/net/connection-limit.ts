import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Limits the connections of a server by their state. Connections that sent no request yet need no token, so they must not keep others out: a
 * new one takes the place of the oldest. Returns whether a request may be answered: at most `limit` are at a time.
 */
export function limitConnections(
  server: Server,
  limit: number,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  /** Connections without a request, the oldest first. */
  const waiting = new Set<Socket>();
  let answered = 0;
  server.on('connection', (socket: Socket) => {
    waiting.add(socket);
    socket.once('close', () => waiting.delete(socket));
    const [oldest] = waiting;
    if (waiting.size > limit) oldest?.destroy();
  });
  return ({ socket }, response) => {
    waiting.delete(socket);
    if (answered >= limit) return false;
    answered += 1;
    response.once('close', () => {
      answered -= 1;
      if (!socket.destroyed) waiting.add(socket);
    });
    return true;
  };
}
