import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  readdirSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { createServer, type ListenOptions, type Server } from 'node:net';
import path from 'node:path';

import type { Identity } from '../../src/core/execution.ts';

/** Things of ours that a program must not reach, and a look at them afterwards. */
export interface AttackHost {
  readonly secret: string;
  /** Open to everybody, beside the workspace: only the sandbox stands in the way. */
  readonly outside: string;
  /** A project with the files that run by themselves later. */
  readonly project: string;
  readonly decoys: readonly string[];
  readonly tcpPort: number;
  readonly udpPort: number;
  readonly socketPath: string;
  readonly abstractName: string;
  readonly victim: number;
  /** What was reached since. */
  reached(): readonly string[];
  isVictimAlive(): boolean;
  close(): Promise<void>;
}

const PERSISTENT = [
  '.git/hooks/pre-commit',
  '.bashrc',
  '.vscode/tasks.json',
  '.claude/settings.json',
  '.mcp.json',
  'package.json',
];

export async function openAttackHost(
  base: string,
  secret: string,
  identity: Identity | undefined,
): Promise<AttackHost> {
  const outside = path.join(base, 'outside');
  const project = path.join(base, 'project');
  const home = path.join(base, 'home');
  for (const folder of [outside, project, home, path.join(home, '.ssh'), path.join(home, '.aws')]) open(folder);
  for (const file of PERSISTENT) {
    open(path.dirname(path.join(project, file)));
    writeFileSync(path.join(project, file), 'untouched');
    chmodSync(path.join(project, file), 0o666);
  }
  const decoys = ['home/.ssh/id_ed25519', 'home/.aws/credentials', 'home/.npmrc', 'project/.env', 'outside/key'].map(
    (file) => path.join(base, file),
  );
  for (const file of decoys) writeFileSync(file, secret, { mode: 0o644 });
  const reached: string[] = [];
  const socketPath = path.join(outside, 'docker.sock');
  const tcp = await listen({ port: 0, host: '127.0.0.1' }, () => reached.push('tcp'));
  const unix = await listen({ path: socketPath }, () => reached.push('unix'));
  chmodSync(socketPath, 0o777);
  const abstractName = `attack-${randomUUID()}`;
  const abstract = await listen({ path: `\0${abstractName}` }, () => reached.push('abstract'));
  const udp = createSocket('udp4', () => reached.push('udp'));
  await new Promise<void>((resolve) => {
    udp.bind(0, '127.0.0.1', resolve);
  });
  const key = openSync(decoys[0] ?? '', 'r');
  const victim = spawn('sleep', ['900'], {
    stdio: [key, 'ignore', 'ignore'],
    cwd: outside,
    env: { PATH: '/usr/bin:/bin', SECRET: secret },
    ...(identity === undefined ? {} : identity),
  });
  closeSync(key);
  await new Promise<void>((resolve, reject) => {
    victim.once('spawn', resolve).once('error', reject);
  });
  const address = tcp.address();
  return {
    secret,
    outside,
    project,
    decoys,
    tcpPort: typeof address === 'object' && address !== null ? address.port : 0,
    udpPort: udp.address().port,
    socketPath,
    abstractName,
    victim: victim.pid ?? 0,
    reached: () => [...reached],
    isVictimAlive: () => victim.exitCode === null && victim.signalCode === null,
    close: async () => {
      victim.kill('SIGKILL');
      udp.close();
      await Promise.all([tcp, unix, abstract].map(closed));
    },
  };
}

function open(folder: string): void {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o777);
}

async function listen(where: ListenOptions, reached: () => void): Promise<Server> {
  const server = createServer((socket) => {
    reached();
    socket.on('error', () => undefined).destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(where, resolve);
  });
  return server;
}

async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}

/** What a program changed outside; nothing where all is as it was. */
export function changesOutside({ outside, project, secret, decoys }: AttackHost): readonly string[] {
  const changes = readdirSync(outside).filter((name) => !['docker.sock', 'key'].includes(name));
  for (const file of PERSISTENT) if (readFileSync(path.join(project, file), 'utf8') !== 'untouched') changes.push(file);
  for (const file of decoys) if (readFileSync(file, 'utf8') !== secret) changes.push(file);
  return changes;
}

export interface FoundFile {
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
  readonly bytes: number;
  readonly kind: 'file' | 'folder' | 'link' | 'device' | 'other';
}

function kindOf(stats: Stats): FoundFile['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  if (stats.isSymbolicLink()) return 'link';
  return stats.isBlockDevice() || stats.isCharacterDevice() ? 'device' : 'other';
}

const MAX_FOUND = 50_000;

/** Everything a program left, as the host sees it. */
export function filesBelow(folder: string): readonly FoundFile[] {
  const found: FoundFile[] = [];
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined && found.length < MAX_FOUND; next = waiting.pop()) {
    if (next.length > 3500) continue;
    for (const name of readdirSync(next)) {
      const file = path.join(next, name);
      const stats = lstatSync(file, { throwIfNoEntry: false });
      // A name that is no text is not found again.
      if (stats === undefined) continue;
      const kind = kindOf(stats);
      found.push({ path: file, mode: stats.mode & 0o7777, uid: stats.uid, bytes: stats.blocks * 512, kind });
      if (kind !== 'folder') continue;
      // A program may have taken away our permission to list what it left.
      if ((stats.mode & 0o500) !== 0o500) chmodSync(file, 0o700);
      waiting.push(file);
    }
  }
  return found;
}

/** A secret in any small file that was left. */
export function holdsSecret(folder: string, secret: string): readonly string[] {
  return filesBelow(folder)
    .filter(({ kind, bytes }) => kind === 'file' && bytes < 4 * 1024 * 1024)
    .filter((file) => readFileSync(file.path, 'latin1').includes(secret))
    .map((file) => file.path);
}
