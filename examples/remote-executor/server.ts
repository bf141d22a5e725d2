/**
 * The other side of `executor.ts`, as a stub: it runs programs as its own user and isolates nothing, and says so. Put your sandbox in place
 * of `spawn`, and what it enforces into `capabilities`.
 *
 *     TOKEN=secret node server.js [PORT]
 */
import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import type { Frame, Opened, ProgramEnd, ProgramSpec } from './executor.ts';
import { ALL, openMirror, WRITABLE, type Mirror } from './mirror.ts';

interface Workspace {
  readonly root: string;
  readonly mirror: Mirror;
  /** Ends a program, by the id of its run. */
  readonly stops: Map<string, (reason: ProgramEnd['reason']) => void>;
}

type Program = Omit<ProgramSpec, 'stdin'> & { readonly stdin: string };

/** For output that arrives after the end. */
const LEFT_MS = 1_000;
const KEEP_OPEN_MS = 15_000;
const workspaces = new Map<string, Workspace>();

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
  const [, , id = '', what = '', run] = pathname.split('/');
  const send = (status: number, body: unknown = ''): void => void response.writeHead(status).end(JSON.stringify(body));
  if (request.headers.authorization !== `Bearer ${process.env['TOKEN'] ?? ''}`) return send(401, 'wrong token');
  if (request.method === 'POST' && pathname === '/workspaces') return send(200, await open());
  const workspace = workspaces.get(id);
  if (workspace === undefined) return send(404, 'no such workspace');
  const { root, mirror, stops } = workspace;
  switch (`${request.method ?? ''} ${what}`) {
    case 'PUT files':
      await mirror.apply(JSON.parse(await text(request)));
      return send(200);
    case 'GET files':
      return send(200, await mirror.changes());
    case 'POST runs':
      return execute(JSON.parse(await text(request)), { workspace, run: run ?? '', response });
    case 'DELETE runs':
      for (const [one, stop] of stops)
        if (run === undefined || run === one) stop(searchParams.get('reason') === 'output' ? 'output' : 'cancelled');
      return send(200);
    case 'DELETE ':
      workspaces.delete(id);
      for (const stop of stops.values()) stop('cancelled');
      await rm(root, { recursive: true, force: true });
      return send(200);
    default:
      return send(404, 'no such route');
  }
}

async function open(): Promise<Opened> {
  const root = await realpath(await mkdtemp(path.join(os.tmpdir(), 'remote-')));
  const id = path.basename(root);
  workspaces.set(id, { root, mirror: openMirror(root, { sends: WRITABLE, takes: ALL }), stops: new Map() });
  const limits = { wallMs: 'runtime', outputBytes: 'runtime' } as const;
  const capabilities = {
    isolation: 'none',
    limits,
    hasNetworkGrants: false,
    hasInteraction: false,
    hasTerminal: false,
  } as const;
  return { id, root, capabilities };
}

function execute(
  { argv, cwd, env, stdin, limits }: Program,
  to: { readonly workspace: Workspace; readonly run: string; readonly response: ServerResponse },
): void {
  const { response, run } = to;
  const { root, stops } = to.workspace;
  const send = (frame: Frame): boolean => response.write(`${JSON.stringify(frame)}\n`);
  const started = performance.now();
  const [command = '', ...words] = argv;
  response.writeHead(200).flushHeaders();
  const child = spawn(command, words, { cwd: path.join(root, cwd), env, detached: true });
  let stopped: ProgramEnd['reason'] | undefined;
  const stop = (reason: ProgramEnd['reason']): void => {
    stopped ??= reason;
    endGroup(child.pid);
  };
  stops.set(run, stop);
  response.on('close', () => stop('cancelled'));
  const limit = setTimeout(stop, limits.wallMs, 'timeout');
  const keepOpen = setInterval(() => response.write('\n'), KEEP_OPEN_MS);
  const finish = (frame: Frame): void => {
    clearTimeout(limit);
    clearInterval(keepOpen);
    stops.delete(run);
    send(frame);
    response.end();
  };
  let left = limits.outputBytes;
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = child[name];
    stream.on('data', (chunk: Buffer) => {
      const taken = chunk.subarray(0, Math.max(0, left));
      left -= chunk.length;
      if (left < 0) stop('output');
      if (send({ [name]: taken.toString('base64') })) return;
      stream.pause();
      response.once('drain', () => stream.resume());
    });
  }
  // A program need not read its input.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(Buffer.from(stdin, 'base64'));
  child.on('error', ({ message }) => finish({ error: message }));
  child.on('exit', () => {
    // What it left behind ends with it. A process that left the group may hold the output open, and is not waited for.
    endGroup(child.pid);
    setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), LEFT_MS).unref();
  });
  child.on('close', (exitCode, signal) => {
    const reason = stopped ?? (signal === null ? 'exited' : 'signal');
    const how = { ...(reason === 'exited' && exitCode !== null && { exitCode }), ...(signal !== null && { signal }) };
    finish({ end: { reason, ...how, durationMs: Math.round(performance.now() - started), warnings: [] } });
  });
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // No process of the group is left.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    if (!response.headersSent) response.writeHead(500);
    response.end(String(error));
  });
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(`http://127.0.0.1:${String(address?.port)}`);
});
