import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';

import type { SkillError } from '#core';
import { packageFile } from '#platform';
import { executorFailed } from '../executors/failures.ts';
import { isSeparate } from '../workspace/layout.ts';
import type { RunFolder, Workspace } from '../workspace/workspace.ts';
import { forwarderCommand } from './bridge.ts';

/** A port of a program that is forwarded to this machine. */
interface ServedPort {
  readonly port: number;
  /** Called once, when the program in the sandbox accepts connections. */
  readonly onReady: () => void;
}

/** A program whose port is served while it runs. */
interface ServedProgram {
  /** What comes before the command of the program. */
  readonly argv: readonly string[];
  /** Opens the port. The caller closes it. */
  open(): Promise<{ close(): Promise<void> }>;
}

const RETRY_MS = 200;
/** What the forwarder sends first, when the program has accepted the connection. It closes one that the program refuses. */
const ACCEPTED = '+';
/** Short, because the path of a socket is limited. */
const SOCKET = 'serve.sock';

/** Without isolation a port is that of this machine already; then nothing has to be served. */
export function serveProgram(serve: ServedPort, { attached }: Workspace, run: RunFolder): ServedProgram | undefined {
  if (!isSeparate(attached)) return undefined;
  const { root, capabilities } = attached;
  const { isolation, hasNetworkGrants } = capabilities;
  return {
    argv: servingCommand(`${root}/${run.path}/${SOCKET}`, serve.port, isolation === 'container'),
    async open() {
      if (hasNetworkGrants) return await servePort(serve, path.join(run.host, SOCKET));
      const reason = `the engine of the ${isolation} executor cannot mount a socket of this machine`;
      throw executorFailed(isolation, `port ${String(serve.port)} cannot be served: ${reason}`, {
        hint: 'use an engine that runs on this machine, or another executor (skillwright doctor lists them)',
        cause: 'no shared files',
      });
    },
  };
}

/** Forwards a port of 127.0.0.1 to the same port of a sandbox, which offers it at the socket. */
export async function servePort(
  { port, onReady }: ServedPort,
  socketPath: string,
): Promise<{ close(): Promise<void> }> {
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
    const refuse = (): void => {
      far.destroy();
      near.destroy();
    };
    far.once('end', refuse);
    far.once('data', (bytes: Buffer) => {
      far.off('end', refuse);
      far.pause();
      const rest = bytes.subarray(ACCEPTED.length);
      if (rest.length > 0) far.unshift(rest);
      near.pipe(far);
      far.pipe(near);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(portTaken(port, error)));
    server.listen({ host: '127.0.0.1', port }, resolve);
  });
  let retry: NodeJS.Timeout | undefined;
  let isOver = false;
  const probe = (): void => {
    const socket = keep(connect({ path: socketPath }));
    socket.on('error', () => socket.destroy());
    socket.once('data', () => {
      isOver = true;
      socket.destroy();
      onReady();
    });
    socket.once('close', () => {
      if (!isOver) retry = setTimeout(probe, RETRY_MS);
    });
  };
  probe();
  return {
    close: () =>
      new Promise((resolve) => {
        isOver = true;
        clearTimeout(retry);
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** The start of a command that offers a port of the sandbox at a socket; the program follows. */
export function servingCommand(socketInside: string, port: number, isInImage: boolean): readonly string[] {
  const program = readFileSync(packageFile('dist/sandbox/network/forwarder.js'), 'utf8');
  return forwarderCommand(program, [socketInside, String(port), 'served'], isInImage);
}

function portTaken(port: number, { message: cause }: Error): SkillError {
  const hint = 'choose another port with --serve';
  return executorFailed('network', `port ${String(port)} of 127.0.0.1 cannot be used: ${cause}`, { hint, cause });
}
