import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';

import { SkillError } from '#core';
import { builtFile } from '#platform';
import { forwarderCommand } from './forwarder-command.ts';
import { imageForwarder } from './image-forwarder.ts';

export interface ServedPort {
  close(): Promise<void>;
}

export interface ServePortOptions {
  readonly port: number;
  /** The socket on the host at which the sandbox offers the port. */
  readonly socketPath: string;
  /** Called once, when the program in the sandbox accepts connections. */
  readonly onReady: () => void;
}

const RETRY_MS = 200;

/** Forwards a port of 127.0.0.1 to the same port of a sandbox. */
export async function servePort({ port, socketPath, onReady }: ServePortOptions): Promise<ServedPort> {
  const open = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    open.add(socket);
    return socket.once('close', () => open.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = keep(connect({ path: socketPath, allowHalfOpen: true }));
    keep(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(portTaken(port, error)));
    server.listen({ host: '127.0.0.1', port }, resolve);
  });
  const timer = setInterval(() => {
    const probe = keep(connect({ path: socketPath }));
    probe.on('error', () => probe.destroy());
    // The sandbox closes the connection at once while nothing listens there.
    probe.once('connect', () => {
      setTimeout(() => {
        if (probe.destroyed || probe.readableEnded) return;
        clearInterval(timer);
        onReady();
        probe.destroy();
      }, RETRY_MS / 2);
    });
    probe.resume();
  }, RETRY_MS);
  return {
    close: () =>
      new Promise((resolve) => {
        clearInterval(timer);
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** The start of a command that offers a port of the sandbox at a socket; the program follows. */
export function servingCommand(socketInside: string, port: number, isInImage: boolean): readonly string[] {
  const program = readFileSync(builtFile('sandbox/network/serve-forwarder.js'), 'utf8');
  const places = [socketInside, String(port)];
  return isInImage ? imageForwarder('served', program, places) : forwarderCommand(program, places);
}

function portTaken(port: number, error: Error): SkillError {
  return new SkillError({
    code: 'executor/failed',
    message: `port ${String(port)} of 127.0.0.1 cannot be used: ${error.message}`,
    hint: 'choose another port with --serve',
    data: { executor: 'network', cause: error.message },
  });
}
