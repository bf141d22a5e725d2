/** A PostgreSQL of the tests' own, in a folder of theirs. */
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, chownSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { Socket, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { has, postgresFolder } from '../needs.ts';

/** The folder of its programs, if they start. */
export const POSTGRES = has('postgresql') ? postgresFolder() : undefined;

export interface Postgres {
  readonly url: string;
  /** Its files; its user may write here. */
  readonly folder: string;
  /** `immediate` is what kill -9 does to it. */
  stop(how?: 'fast' | 'immediate'): void;
  start(): void;
  /** Ends every process of it with kill -9. */
  kill(): void;
  /** Runs one of its programs, such as pg_dump, with its user. */
  run(program: string, words: readonly string[], timeoutMs?: number): string;
  query(sql: string): string;
  close(): void;
}

/** PostgreSQL refuses to run as root, so root runs it as the user of the package. */
export async function openPostgres({ fsync = false }: { readonly fsync?: boolean } = {}): Promise<Postgres> {
  const bin = POSTGRES ?? '';
  const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-pg-'));
  const isRoot = process.getuid?.() === 0;
  const owner = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const run = (program: string, words: readonly string[], timeout = 120_000): string =>
    execFileSync(path.join(bin, program), words, { ...owner, cwd: folder, stdio: 'pipe', timeout }).toString();
  const data = path.join(folder, 'data');
  newCluster(data, () => void run('initdb', ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync']));
  const port = await freePort();
  appendFileSync(
    path.join(data, 'postgresql.conf'),
    `\nport = ${String(port)}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '${folder}'\nmax_connections = 300\nfsync = ${fsync ? 'on' : 'off'}\n`,
  );
  const start = (): void =>
    void run('pg_ctl', ['-D', data, '-l', path.join(folder, 'log'), '-w', '-t', '100', 'start']);
  const stop = (how: 'fast' | 'immediate' = 'fast'): void =>
    void run('pg_ctl', ['-D', data, '-m', how, '-w', '-t', '100', 'stop']);
  start();
  const watcher = endWithParent(path.join(bin, 'pg_ctl'), data, owner);
  const query = (sql: string): string =>
    run('psql', ['-h', folder, '-p', String(port), '-U', 'postgres', '-At', '-c', sql, 'postgres']).trim();
  return {
    url: `postgres://postgres@127.0.0.1:${String(port)}/postgres`,
    folder,
    start,
    stop,
    kill: () => killAll(Number(readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')[0])),
    run: (program, words, timeout) =>
      run(program, ['-h', folder, '-p', String(port), '-U', 'postgres', ...words], timeout),
    query,
    close() {
      stop('immediate');
      rmSync(folder, { recursive: true, force: true });
      watcher.end();
    },
  };
}

/** The first file of a test run makes a cluster, later ones copy it: initdb takes a second of processor time. */
function newCluster(data: string, make: () => void): void {
  const cache = process.env['TEST_CACHE_DIR'];
  const template = path.join(cache ?? '', 'postgres');
  if (cache !== undefined && existsSync(template)) return void execFileSync('cp', ['-a', template, data]);
  make();
  if (cache === undefined) return;
  const copy = mkdtempSync(`${template}-`);
  execFileSync('cp', ['-a', data, `${copy}/data`]);
  try {
    renameSync(`${copy}/data`, template);
  } catch (error) {
    // Two files began at the same time.
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOTEMPTY') throw error;
  }
  rmSync(copy, { recursive: true });
}

/** A shell whose input is a pipe of this process: it closes when this process ends in any way, and the shell stops the database. */
function endWithParent(control: string, data: string, owner: { readonly uid?: number; readonly gid?: number }): Socket {
  const script = 'cat; "$1" -D "$2" -m immediate stop; rm -rf "$2"';
  const watcher = spawn('sh', ['-c', script, 'sh', control, data], {
    ...owner,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.unref();
  if (!(watcher.stdin instanceof Socket)) throw new TypeError('a pipe is a socket');
  watcher.stdin.unref();
  return watcher.stdin;
}

/** The postmaster first, so that it starts no process meanwhile. */
function killAll(postmaster: number): void {
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)])
    .toString()
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0);
  for (const pid of [postmaster, ...children]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'ESRCH') throw error;
    }
  }
}

function idOf(kind: '-u' | '-g'): number {
  return Number(execFileSync('id', [kind, 'postgres']).toString());
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
