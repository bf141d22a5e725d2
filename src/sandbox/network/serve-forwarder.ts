/**
 * A stand-alone program: `node serve-forwarder.js <socket> <port> -- <program> <argument>...`, from its file or by `--eval`. It runs inside
 * a sandbox, offers a port of the sandbox at a unix socket that the host can reach, and starts the program, whose exit status becomes its
 * own. It has no imports from this project, because a sandbox only gets its text.
 */

import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { parseArgs } from 'node:util';

const CANNOT_START = 126;

const [socketPath = '', port = '', command = '', ...args] = parseArgs({ allowPositionals: true }).positionals;
const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true });
  // Before the program listens, and after it has ended, the connection is refused.
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
  near.pipe(far);
  far.pipe(near);
});
server.once('error', (error) => {
  writeSync(2, `skillwright: the port cannot be served: ${error.message}\n`);
  process.exitCode = CANNOT_START;
});
server.listen(socketPath, () => {
  const program = spawn(command, args, { stdio: 'inherit' });
  program.once('error', (error) => {
    writeSync(2, `skillwright: ${error.message}\n`);
    process.exitCode = CANNOT_START;
    server.close();
  });
  program.once('exit', (code, signal) => {
    server.close();
    if (signal === null) process.exitCode = code ?? CANNOT_START;
    else process.kill(process.pid, signal);
  });
});
