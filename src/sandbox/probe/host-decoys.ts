import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ListenOptions } from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { quietly } from '#platform';
import { readProcess } from '../process/proc.ts';
import type { Identity } from '../program-types.ts';

/** Targets on the host that an attempt tries to reach. */
export interface AttemptTargets {
  /** World-writable folder beside the workspace. */
  readonly outside: string;
  /** Files with a secret, beside the workspace and in the home folder. */
  readonly decoys: readonly string[];
  readonly tcpPort: number;
  readonly udpPort: number;
  readonly socketPath: string;
  /** Without the leading NUL. */
  readonly abstractName: string;
  /** Process id of a decoy process outside, of the same user, with the secret in its environment. */
  readonly decoyPid: number;
}

/** A listener of the host that programs must not reach. */
export type DecoyListener = 'tcp' | 'udp' | 'socket' | 'abstract';

/** Files, sockets and a process of the host that attempts try to reach, and what happened to them. */
export interface HostDecoys {
  readonly targets: AttemptTargets;
  /** Content of the decoy files, and part of the environment of the decoy process. */
  readonly secret: string;
  wasReached(listener: DecoyListener): boolean;
  isProcessAlive(): boolean;
  close(): Promise<void>;
}

export interface HostDecoyOptions {
  /** Receives the decoy files. */
  readonly folder: string;
  /** User of the programs: the decoy process runs as that user, so that only the executor protects it. */
  readonly identity: Identity | undefined;
  /** Receives one more decoy file (default: the home folder). */
  readonly home?: string;
}

const PROCESS_SECONDS = 600;

/** Permissions are as open as possible, so that only the executor can stop an attempt. */
export async function openHostDecoys({ folder, identity, home = os.homedir() }: HostDecoyOptions): Promise<HostDecoys> {
  const secret = `decoy-${randomUUID()}`;
  const outside = path.join(folder, `outside-${secret.slice(-12)}`);
  mkdirSync(outside);
  chmodSync(outside, 0o777);
  const reached = new Set<DecoyListener>();
  const socketPath = socketPathFor(`${secret.slice(-12)}.sock`);
  // First, because it may fail: nothing else has to be removed then.
  const unix = await listen({ path: socketPath }, () => reached.add('socket'));
  const decoys = [path.join(outside, 'id_ed25519'), path.join(home, `.${secret}`)].filter((file) =>
    tryWrite(file, secret),
  );
  const udp = createSocket('udp4', () => reached.add('udp'));
  await new Promise<void>((resolve) => {
    udp.bind(0, '127.0.0.1', resolve);
  });
  const tcp = await listen({ port: 0, host: '127.0.0.1' }, () => reached.add('tcp'));
  chmodSync(socketPath, 0o777);
  const abstract =
    process.platform === 'linux' ? await listen({ path: `\0${secret}` }, () => reached.add('abstract')) : undefined;
  const isRoot = process.getuid?.() === 0;
  const decoy = spawn('sleep', [String(PROCESS_SECONDS)], {
    stdio: 'ignore',
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', SECRET: secret },
    ...(identity === undefined || !isRoot ? {} : { uid: identity.uid, gid: identity.gid }),
  });
  await new Promise<void>((resolve, reject) => {
    decoy.once('spawn', resolve).once('error', reject);
  });
  return {
    targets: {
      outside,
      decoys,
      tcpPort: tcp.port,
      udpPort: udp.address().port,
      socketPath,
      abstractName: secret,
      decoyPid: decoy.pid ?? 0,
    },
    secret,
    wasReached: (listener) => reached.has(listener),
    isProcessAlive: () => decoy.exitCode === null && decoy.signalCode === null && isRunning(decoy.pid ?? 0),
    close: async () => {
      decoy.kill('SIGKILL');
      udp.close();
      await Promise.all([tcp, unix, abstract].map(async (listener) => await listener?.close()));
      for (const file of decoys) rmSync(file, { force: true });
    },
  };
}

const MAX_SOCKET_BYTES = 100;

/** Socket paths have a length limit that the temporary folder may exceed. */
function socketPathFor(name: string): string {
  const file = path.join(os.tmpdir(), name);
  return Buffer.byteLength(file) > MAX_SOCKET_BYTES ? path.join('/tmp', name) : file;
}

/** Reads /proc where possible, because it shows a kill before the exit event arrives. */
function isRunning(pid: number): boolean {
  return process.platform !== 'linux' || readProcess(pid)?.isZombie === false;
}

function tryWrite(file: string, content: string): boolean {
  // A home folder that is missing or not writable needs no decoy.
  return quietly(() => {
    writeFileSync(file, content, { mode: 0o644, flag: 'wx' });
    return true;
  }, false);
}

interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

async function listen(where: ListenOptions, reached: () => void): Promise<Listener> {
  const server = createServer((socket) => {
    reached();
    socket.on('error', () => socket.destroy()).destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(where, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: async () =>
      await new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}
