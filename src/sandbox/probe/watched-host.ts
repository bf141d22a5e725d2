import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { ListenOptions } from 'node:net';
import os from 'node:os';
import path from 'node:path';

import type { Identity } from '../../core/execution.ts';
import { isSystemError } from '../../platform/fs/paths.ts';
import type { CanaryPlace } from './canaries.ts';
import { readProcess } from '../executors/proc.ts';

export type Door = 'tcp' | 'udp' | 'socket' | 'abstract';

/** Things of the host for a program to reach, and what became of them. */
export interface WatchedHost {
  readonly place: CanaryPlace;
  /** In the decoys, and in the environment of the victim. */
  readonly secret: string;
  wasReached(door: Door): boolean;
  isVictimAlive(): boolean;
  close(): Promise<void>;
}

export interface WatchOptions {
  /** Where things are put to be reached. */
  readonly folder: string;
  /** Whom programs run as: the victim is theirs, so that only the executor protects it. */
  readonly identity: Identity | undefined;
  /** Where a decoy is put beside. */
  readonly home?: string;
}

const VICTIM_SECONDS = 600;

/** Everything is as open as files and sockets can be: only the executor stands in the way. */
export async function watchHost({ folder, identity, home = os.homedir() }: WatchOptions): Promise<WatchedHost> {
  const secret = `decoy-${randomUUID()}`;
  const outside = path.join(folder, `outside-${secret.slice(-12)}`);
  mkdirSync(outside);
  chmodSync(outside, 0o777);
  const reached = new Set<Door>();
  const socketPath = shortPlace(`${secret.slice(-12)}.sock`);
  // First, before anything is left lying about: it is what a folder for temporary files may not take.
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
  const victim = spawn('sleep', [String(VICTIM_SECONDS)], {
    stdio: 'ignore',
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', SECRET: secret },
    ...(identity === undefined || !isRoot ? {} : { uid: identity.uid, gid: identity.gid }),
  });
  await new Promise<void>((resolve, reject) => {
    victim.once('spawn', resolve).once('error', reject);
  });
  return {
    place: {
      outside,
      decoys,
      tcpPort: tcp.port,
      udpPort: udp.address().port,
      socketPath,
      abstractName: secret,
      victim: victim.pid ?? 0,
    },
    secret,
    wasReached: (door) => reached.has(door),
    isVictimAlive: () => victim.exitCode === null && victim.signalCode === null && isRunning(victim.pid ?? 0),
    close: async () => {
      victim.kill('SIGKILL');
      udp.close();
      await Promise.all([tcp, unix, abstract].map(async (listener) => await listener?.close()));
      for (const file of decoys) rmSync(file, { force: true });
    },
  };
}

const MAX_SOCKET_BYTES = 100;

/** The name of a socket has to be short, wherever temporary files are. */
function shortPlace(name: string): string {
  const place = path.join(os.tmpdir(), name);
  return Buffer.byteLength(place) > MAX_SOCKET_BYTES ? path.join('/tmp', name) : place;
}

/** By looking, where that is possible: a signal that was sent shows there first. */
function isRunning(pid: number): boolean {
  return process.platform !== 'linux' || readProcess(pid)?.isZombie === false;
}

function tryWrite(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { mode: 0o644, flag: 'wx' });
    return true;
  } catch (error) {
    // A home that cannot be written, or that does not exist, needs no decoy.
    if (isSystemError(error)) return false;
    throw error;
  }
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
