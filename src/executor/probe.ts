import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { ListenOptions } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { DEFAULT_LIMITS } from '../core/execution.ts';
import type {
  AttachedWorkspace,
  EndReason,
  Executor,
  ExecutorName,
  Isolation,
  ProgramEnd,
  RunLimits,
} from '../core/execution.ts';
import { isPresent, isSystemError } from '../platform/paths.ts';
import { readProcess } from './process-row.ts';
import { CANARY_LIMITS, CANARY_NAMES, canaryScript, fileName } from './canaries.ts';
import type { CanaryName, CanaryPlace } from './canaries.ts';

/** `unknown`: the attempt could not be made, so nothing is known; that is not a reason to trust. */
export type CanaryVerdict = 'blocked' | 'open' | 'unknown';

export interface CanaryResult {
  readonly name: CanaryName;
  readonly verdict: CanaryVerdict;
}

/** What an executor really keeps from a program on this machine, seen from outside. */
export interface ProbeReport {
  readonly executor: ExecutorName;
  readonly isolation: Isolation;
  readonly results: readonly CanaryResult[];
  /** Nothing that was tried worked, and what isolation is made of was tried. */
  readonly isIsolating: boolean;
}

/** Without these known to be blocked nothing is isolated. */
const ESSENTIAL: ReadonlySet<CanaryName> = new Set([
  'writes outside',
  'reads secrets',
  'kills other processes',
  'runs as root',
]);

export interface ProbeOptions {
  /** Where a decoy is put and taken away again. */
  readonly home?: string;
  /** Folder for the workspace of the probe; the system's for temporary files otherwise. */
  readonly directory?: string;
}

/** Ended before it could say that it tried: it did. */
const LIMIT_REASONS: ReadonlySet<EndReason> = new Set(['memory', 'processes', 'disk']);

const CANARY_MS = 20_000;
const SURVIVOR_MS = 700;
const SETTLE_MS = 150;

/** Runs every canary through an executor. Throws what `attach` throws. */
export async function probeExecutor(executor: Executor, options: ProbeOptions = {}): Promise<ProbeReport> {
  const base = mkdtempSync(path.join(options.directory ?? os.tmpdir(), 'skillwright-probe-'));
  const watched = await watchHost(base, executor, options.home ?? os.homedir());
  try {
    const root = makeWorkspace(base, executor);
    const workspace = await executor.attach({ id: 'probe', root, skills: [] });
    try {
      const results: CanaryResult[] = [];
      for (const name of CANARY_NAMES)
        results.push({ name, verdict: await tryCanary(name, { workspace, root, watched }) });
      const isIsolating =
        results.every(({ verdict }) => verdict !== 'open') &&
        results.every(({ name, verdict }) => verdict === 'blocked' || !ESSENTIAL.has(name));
      return { executor: executor.name, isolation: workspace.capabilities.isolation, results, isIsolating };
    } finally {
      await workspace.detach();
    }
  } finally {
    await watched.close();
    rmSync(base, { recursive: true, force: true });
  }
}

interface Trial {
  readonly workspace: AttachedWorkspace;
  /** On the host. */
  readonly root: string;
  readonly watched: WatchedHost;
}

async function tryCanary(name: CanaryName, { workspace, root, watched }: Trial): Promise<CanaryVerdict> {
  const out = path.join(root, 'out');
  const isShort = name === 'survives its time';
  const end = await workspace.run(
    {
      argv: ['/bin/sh', '-c', canaryScript(name, watched.place)],
      cwd: 'work',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', OUT: `${workspace.root}/out` },
      stdin: new Uint8Array(),
      limits: limitsFor(name, isShort ? SURVIVOR_MS : CANARY_MS),
      network: [],
    },
    { stdout: { write: () => true }, stderr: { write: () => true } },
  );
  const left = [`${fileName(name)}.tried`, ...(name === 'more processes than allowed' ? ['born'] : [])];
  const isTried = left.some((file) => isPresent(path.join(out, file))) || LIMIT_REASONS.has(end.reason);
  // What reached us, or ended a process of ours, is told by events that may still be on their way.
  await delay(SETTLE_MS);
  const isOpen = await worked(name, { out, watched, end });
  return isOpen ? 'open' : isTried ? 'blocked' : 'unknown';
}

function limitsFor(name: CanaryName, wallMs: number): RunLimits {
  const { memoryBytes, processes, diskBytes } = CANARY_LIMITS;
  return {
    ...DEFAULT_LIMITS,
    wallMs,
    ...(name === 'more memory than allowed' ? { memoryBytes } : {}),
    ...(name === 'more processes than allowed' ? { processes } : {}),
    ...(name === 'more disk than allowed' ? { diskBytes } : {}),
  };
}

interface Aftermath {
  readonly out: string;
  readonly watched: WatchedHost;
  readonly end: ProgramEnd;
}

/** Whether the host shows that it worked; the program is not asked. */
async function worked(name: CanaryName, { out, watched, end }: Aftermath): Promise<boolean> {
  const read = (file: string): string => readIfThere(path.join(out, file));
  switch (name) {
    case 'writes outside':
      return ['/usr/skillwright-canary', '/etc/skillwright-canary', path.join(watched.place.outside, 'written')].some(
        isPresent,
      );
    case 'reads secrets':
      return watched.place.decoys.some((_, at) => read(`secret.${String(at)}`).includes(watched.secret));
    case 'tcp to this machine':
    case 'udp to this machine':
    case 'unix socket by path':
    case 'abstract unix socket':
      return watched.wasReached(name);
    case 'environment of other processes':
      return read('environ').includes(watched.secret);
    case 'kills other processes':
      return !watched.isVictimAlive();
    case 'nested namespaces':
      return isPresent(path.join(out, 'nested'));
    case 'runs as root':
      return read('uid').trim() === '0' || /[1-9a-f]/.test(read('capabilities'));
    case 'leaves a setuid file':
      return isPresent(path.join(out, 'setuid')) && (statSync(path.join(out, 'setuid')).mode & 0o6000) !== 0;
    case 'more memory than allowed':
      return Number(read('held')) >= 4 * CANARY_LIMITS.memoryBytes;
    case 'more processes than allowed':
      return end.reason !== 'processes' && Number(read('born')) >= 3 * CANARY_LIMITS.processes;
    case 'more disk than allowed':
      return end.reason !== 'disk';
    case 'survives its time': {
      const before = read('heartbeat').length;
      await delay(300);
      return end.reason !== 'timeout' || read('heartbeat').length !== before;
    }
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (isSystemError(error)) return '';
    throw error;
  }
}

interface WatchedHost {
  readonly place: CanaryPlace;
  readonly secret: string;
  wasReached(name: CanaryName): boolean;
  isVictimAlive(): boolean;
  close(): Promise<void>;
}

const VICTIM_SECONDS = 600;

/** Things of ours for a program to reach: files, sockets, a process. */
async function watchHost(base: string, { identity }: Executor, home: string): Promise<WatchedHost> {
  const secret = `decoy-${process.getBuiltinModule('node:crypto').randomUUID()}`;
  const outside = path.join(base, 'outside');
  mkdirSync(outside);
  // Open to everybody, so that only the sandbox stands in the way.
  for (const folder of [base, outside]) chmodSync(folder, 0o777);
  const decoys = [path.join(outside, 'id_ed25519'), path.join(home, `.${secret}`)].filter((file) =>
    tryWrite(file, secret),
  );
  const reached = new Set<CanaryName>();
  const socketPath = path.join(base, 'agent.sock');
  const tcp = await listen({ port: 0, host: '127.0.0.1' }, () => reached.add('tcp to this machine'));
  const unix = await listen({ path: socketPath }, () => reached.add('unix socket by path'));
  chmodSync(socketPath, 0o777);
  const abstract = await listen({ path: `\0${secret}` }, () => reached.add('abstract unix socket'));
  const udp = createSocket('udp4', () => reached.add('udp to this machine'));
  await new Promise<void>((resolve) => {
    udp.bind(0, '127.0.0.1', resolve);
  });
  const victim = spawn('sleep', [String(VICTIM_SECONDS)], {
    stdio: 'ignore',
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', SECRET: secret },
    ...(identity === undefined ? {} : { uid: identity.uid, gid: identity.gid }),
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
    wasReached: (name) => reached.has(name),
    isVictimAlive: () => victim.exitCode === null && victim.signalCode === null && isRunning(victim.pid ?? 0),
    close: async () => {
      victim.kill('SIGKILL');
      udp.close();
      await Promise.all([tcp, unix, abstract].map(async (listener) => await listener.close()));
      for (const file of decoys) rmSync(file, { force: true });
    },
  };
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
    socket.on('error', () => undefined).destroy();
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

function makeWorkspace(base: string, { identity }: Executor): string {
  const root = path.join(base, 'workspace');
  mkdirSync(root);
  chmodSync(root, 0o711);
  for (const name of ['skills', 'work', 'work/inputs', 'out', 'runs']) {
    mkdirSync(path.join(root, name));
    if (identity !== undefined) chownSync(path.join(root, name), identity.uid, identity.gid);
  }
  return root;
}
