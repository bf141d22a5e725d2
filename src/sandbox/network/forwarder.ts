/**
 * A stand-alone program: `node forwarder.js <socket> <port> <forwards> -- <program> <argument>...`, from its file or by `--eval`. It runs
 * inside a sandbox without network, forwards a port of 127.0.0.1 to the proxy at the unix socket, and starts the program, whose exit
 * status becomes its own. `<forwards>` lists services that are offered at their own address (`localhost:3000,[::1]:3001`), or is `none`.
 * With `served` it is the other way round: a port of the sandbox is offered at the unix socket, which the host can reach.
 *
 * It has no imports from this project, because a sandbox only gets its text. It enforces nothing: the program could use the socket too.
 */

import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { connect, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { isatty } from 'node:tty';
import { parseArgs } from 'node:util';

const CANNOT_START = 126;
const NOT_FOUND = 127;

/** Signals sent to this process alone. Those of a terminal reach the program as well. */
const PASSED_ON: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGCONT'];
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

main(parseArgs({ allowPositionals: true }).positionals);

function main([socketPath = '', port = '', forwards = '', ...argv]: readonly string[]): void {
  const open = new Set<Socket>();
  const toProxy = (near: Socket): Socket => {
    const far = connect({ path: socketPath, allowHalfOpen: true });
    join(far, near, open);
    return far;
  };
  const proxy = createServer({ allowHalfOpen: true }, (near) => join(near, toProxy(near), open));
  const offers = (forwards === 'none' || forwards === 'served' ? [] : forwards.split(',')).map((authority) => {
    const host = authority.slice(0, authority.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1');
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) =>
      tunnel(near, authority, { socketPath, open }),
    );
    const at = {
      host: host === 'localhost' ? '127.0.0.1' : host,
      port: Number(authority.slice(authority.lastIndexOf(':') + 1)),
    };
    return { server, at };
  });
  const served = createServer({ allowHalfOpen: true }, (near) => {
    // Before the program listens, and after it has ended, the connection is refused.
    const far = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true });
    // The host waits for this byte: a connection to the socket alone says nothing about the program.
    far.once('connect', () => near.write('+'));
    join(near, far, open);
    join(far, near, open);
  });
  const isServed = forwards === 'served';
  const servers: readonly { readonly server: Server; readonly at: ListenOptions }[] = isServed
    ? [{ server: served, at: { path: socketPath } }]
    : [{ server: proxy, at: { host: '127.0.0.1', port: Number(port) } }, ...offers];
  let waiting = servers.length;
  for (const { server, at } of servers) {
    server.once('error', (error) => {
      const what = isServed ? 'the port cannot be served' : 'the network proxy cannot be started';
      writeSync(2, `skillwright: ${what}: ${error.message}\n`);
      process.exitCode = CANNOT_START;
      for (const each of servers) each.server.close();
    });
    server.listen(at, () => {
      waiting -= 1;
      if (waiting > 0) return;
      run(argv, () => {
        for (const each of servers) each.server.close();
        for (const socket of open) socket.destroy();
      });
    });
  }
}

/** Connects a client to a granted service by a CONNECT request to the proxy. */
function tunnel(
  near: Socket,
  authority: string,
  { socketPath, open }: { readonly socketPath: string; readonly open: Set<Socket> },
): void {
  const far = connect({ path: socketPath, allowHalfOpen: true });
  let answer = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    answer = Buffer.concat([answer, chunk]);
    const end = answer.indexOf('\r\n\r\n');
    if (end === -1) return;
    far.off('data', onData);
    far.pause();
    if (!/^HTTP\/1\.[01] 200 /.test(answer.subarray(0, end).toString('latin1'))) {
      near.destroy();
      far.destroy();
      return;
    }
    const rest = answer.subarray(end + 4);
    if (rest.length > 0) far.unshift(rest);
    join(near, far, open);
    join(far, near, open);
  };
  far.on('data', onData);
  far.on('error', () => near.destroy());
  near.on('error', () => far.destroy());
  far.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
}

function join(from: Socket, to: Socket, open: Set<Socket>): void {
  open.add(from);
  // The client is gone or the proxy refuses; `close` informs the other side.
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
  // Before the spawn: signals may arrive as soon as the program runs.
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
    // End with the signal that ended the program.
    else process.kill(process.pid, signal);
  });
}
