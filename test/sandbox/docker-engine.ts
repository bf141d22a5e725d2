import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { buildRootFileSystem } from './root-file-system.ts';

/** A real Docker engine of our own: its files, its socket, nothing shared with one that may already run here. */
export interface TestEngine {
  readonly socket: string;
  /** A folder with programs of this machine. */
  readonly rootFileSystem: string;
  readonly pid: number;
  /** SIGKILL, and no cleaning up. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const READY_MS = 60_000;
const STOP_MS = 60_000;

/**
 * The engine of this test run, which the first file that needs it starts: an engine with its image takes as long as most tests of a file. A text
 * says why there is none. `stop` does nothing; `test/system-setup.ts` ends it.
 */
export async function sharedDockerEngine(): Promise<TestEngine | string> {
  const cache = process.env['TEST_CACHE_DIR'];
  if (cache === undefined) return await startDockerEngine();
  if (claim(path.join(cache, 'engine'))) {
    const started = await startDockerEngine();
    const found = typeof started === 'string' ? started : { ...started, folder: path.dirname(started.socket) };
    writeFileSync(path.join(cache, 'engine/new'), JSON.stringify(found));
    renameSync(path.join(cache, 'engine/new'), path.join(cache, SHARED));
  }
  for (const deadline = Date.now() + 2 * READY_MS; Date.now() < deadline; await delay(50)) {
    const found = readShared(cache);
    if (typeof found === 'object') return { ...found, kill: () => Promise.resolve(), stop: () => Promise.resolve() };
    if (found !== undefined) return found;
  }
  return 'the engine of this test run did not start';
}

const SHARED = 'engine/started.json';

type SharedEngine = Pick<TestEngine, 'socket' | 'rootFileSystem' | 'pid'> & { readonly folder: string };

function readShared(cache: string): SharedEngine | string | undefined {
  const file = path.join(cache, SHARED);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SharedEngine | string) : undefined;
}

/** Whether the folder is ours to fill. */
function claim(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Ends the engine that tests shared, if there is one. */
export async function stopSharedEngine(cache: string): Promise<void> {
  const found = readShared(cache);
  if (typeof found !== 'object') return;
  const isAlive = (): boolean => /^State:\s+[^ZX]/m.test(textOf(`/proc/${String(found.pid)}/status`));
  if (isAlive()) process.kill(found.pid, 'SIGTERM');
  for (const deadline = Date.now() + STOP_MS; isAlive() && Date.now() < deadline;) await delay(50);
  clean(found.folder);
}

/** An engine of its own, for tests that kill it; few `programs` make a small image, which is imported much faster. */
export async function startDockerEngine(programs?: readonly string[]): Promise<TestEngine | string> {
  if (process.platform !== 'linux') return 'a Docker engine is started by tests on Linux only';
  if (process.getuid?.() !== 0) return 'a Docker engine can be started by root only';
  const dockerd = ['/usr/sbin/dockerd', '/usr/bin/dockerd', '/usr/local/bin/dockerd'].find((file) => existsSync(file));
  if (dockerd === undefined) return 'dockerd is not installed';
  const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-docker-'));
  chmodSync(folder, 0o755);
  const rootFileSystem = path.join(folder, 'root');
  buildRootFileSystem(rootFileSystem, programs);
  for (const driver of ['overlay2', 'vfs']) {
    const engine = await start(dockerd, folder, driver);
    if (engine !== undefined) return { ...engine, rootFileSystem };
  }
  const log = readFileSync(path.join(folder, 'log'), 'utf8').slice(-2000);
  rmSync(folder, { recursive: true, force: true });
  return `dockerd does not start here: ${log}`;
}

async function start(
  dockerd: string,
  folder: string,
  driver: string,
): Promise<Omit<TestEngine, 'rootFileSystem'> | undefined> {
  const socket = path.join(folder, 'engine.sock');
  const log = openSync(path.join(folder, 'log'), 'a');
  const child = spawn(
    dockerd,
    Object.entries({
      iptables: 'false',
      ip6tables: 'false',
      bridge: 'none',
      'storage-driver': driver,
      'data-root': path.join(folder, 'data'),
      'exec-root': path.join(folder, 'exec'),
      pidfile: path.join(folder, 'pid'),
      host: `unix://${socket}`,
      // Where CAP_SYS_RESOURCE is missing, limits can only be lowered.
      'default-ulimit': ['nofile=1024:1024', 'nproc=2048:2048'],
    }).flatMap(([name, values]) => [values].flat().map((value) => `--${name}=${value}`)),
    {
      stdio: ['ignore', log, log],
      detached: true,
      // The engine starts itself twice for each container, and a third of such a start is garbage collection.
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: folder, GOGC: '1000', GOMEMLIMIT: '512MiB' },
    },
  );
  closeSync(log);
  // Other test files may use it after this process has ended.
  child.unref();
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await Promise.race([exited, delay(STOP_MS)]);
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
  };
  if (!(await isReady(socket, child))) {
    await end('SIGTERM');
    return undefined;
  }
  return {
    socket,
    pid: child.pid ?? 0,
    kill: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGTERM');
      clean(folder);
    },
  };
}

function clean(folder: string): void {
  endRest(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

/** What an engine that was killed left behind: its helpers, known by our own folder in their command lines, containers, mounts. */
function endRest(folder: string): void {
  const own = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).includes(folder));
  for (const pid of own)
    for (const child of textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)) endProcess(child);
  for (const pid of own) endProcess(pid);
  const mounts = textOf('/proc/self/mountinfo')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((place) => place.startsWith(`${folder}/`));
  for (const place of mounts.reverse()) execFileSync('/usr/bin/umount', ['--lazy', place]);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process ended meanwhile.
    return '';
  }
}

function endProcess(pid: string): void {
  // Not ourselves, should our own arguments name the folder.
  if (Number(pid) !== process.pid && existsSync(`/proc/${pid}`)) process.kill(Number(pid), 'SIGKILL');
}

async function isReady(socket: string, child: ChildProcess): Promise<boolean> {
  for (const deadline = Date.now() + READY_MS; Date.now() < deadline;) {
    if (child.exitCode !== null || child.signalCode !== null) return false;
    if (await answers(socket)) return true;
    await delay(50);
  }
  return false;
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request({ socketPath, path: '/_ping', timeout: 1000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(false));
    sent.end();
  });
}
