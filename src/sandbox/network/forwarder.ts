/**
 * A program of its own: `node forwarder.js <socket> <port> -- <program> <argument>...`, from its file or by `--eval`. It runs where
 * there is no network but a unix socket, offers that socket as a port of 127.0.0.1, and starts the program, whose exit is its exit.
 *
 * It is one file without imports of ours, because a sandbox is given its text alone. It decides nothing: whoever runs beside it could
 * use the socket as well.
 */

import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { isatty } from 'node:tty';
import { parseArgs } from 'node:util';

const CANNOT_START = 126;
const NOT_FOUND = 127;

/** From the outside to this process alone; a terminal sends its own to the program too. */
const PASSED_ON: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGCONT'];
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

main(parseArgs({ allowPositionals: true }).positionals);

function main([socketPath = '', port = '', ...argv]: readonly string[]): void {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: socketPath, allowHalfOpen: true });
    join(near, far, open);
    join(far, near, open);
  });
  server.once('error', (error) => {
    writeSync(2, `skillwright: no way to the network: ${error.message}\n`);
    process.exitCode = CANNOT_START;
  });
  server.listen({ host: '127.0.0.1', port: Number(port) }, () =>
    run(argv, () => {
      server.close();
      for (const socket of open) socket.destroy();
    }),
  );
}

function join(from: Socket, to: Socket, open: Set<Socket>): void {
  open.add(from);
  // A client that is gone, or a proxy that refuses: the other side learns it by `close`.
  from.on('error', () => to.destroy());
  from.once('close', () => {
    open.delete(from);
    if (!from.readableEnded) to.destroy();
  });
  from.pipe(to);
}

function run([command = '', ...args]: readonly string[], closeAll: () => void): void {
  const passOn = (signal: NodeJS.Signals): void => {
    program.kill(signal);
  };
  const leaveToProgram = (): void => undefined;
  // Before there is a program: it may be answered with a signal as soon as it runs, which is before `spawn` returns.
  for (const signal of PASSED_ON) process.on(signal, passOn);
  for (const signal of FROM_TERMINAL) process.on(signal, isatty(0) ? leaveToProgram : passOn);
  const program = spawn(command, args, { stdio: 'inherit' });
  const stop = (): void => {
    closeAll();
    for (const signal of [...PASSED_ON, ...FROM_TERMINAL]) process.removeAllListeners(signal);
  };
  program.once('error', (error) => {
    stop();
    writeSync(2, `skillwright: ${error.message}\n`);
    process.exitCode = 'code' in error && error.code === 'ENOENT' ? NOT_FOUND : CANNOT_START;
  });
  program.once('exit', (code, signal) => {
    stop();
    if (signal === null) process.exitCode = code ?? CANNOT_START;
    // As if it had been the program that was waited for.
    else process.kill(process.pid, signal);
  });
}
