/** The process that answers hooks over a socket, so that they need not start Node and read all skills on each prompt. */
import { chmodSync, statSync, unlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';

import { acquireLock, isSystemError, packageFile, quietly } from '#platform';
import type { Surroundings } from '#core';
import { keepHint } from '../hint-record.ts';
import { openAnswers } from './answer-prompt.ts';
import { DEADLINE_MS, HOOK_VARIABLES, checkFolder, hookFiles, noteFailure } from './hook-folder.ts';

const IDLE_MS = 10 * 60_000;
/** Agents send the prompt, which may hold a pasted file. */
const MAX_INPUT = 8_000_000;
/** A review follows an answer; the next answer must not wait for it. */
const REVIEW_MS = 1000;
/** The process belongs to the terminal of the agent whose hook started it, and goes on without it. */
const TERMINAL_SIGNALS = ['SIGINT', 'SIGHUP'] as const;
const ignore = (): void => undefined;

export interface ResidentOptions {
  readonly folder: string;
  readonly home: string;
  /** The file of this program: when an update replaces it, the process ends. */
  readonly program: string;
  /** The variables that name the cache folder. */
  readonly cache: Surroundings['env'];
  readonly idleMs?: number;
  /** The agent and folder of the prompt for which the process is started, and its variables: the next one is likely there too. */
  readonly first?: {
    readonly agent: string;
    readonly cwd: string;
    readonly env: Readonly<Record<string, string | undefined>>;
  };
}

/** Serves until it is idle. Resolves at once if another process serves already or the folder is not safe. */
export async function serveHooks({
  folder,
  home,
  program,
  cache,
  idleMs = IDLE_MS,
  first,
}: ResidentOptions): Promise<void> {
  // doctor reports it for the agent whose hook started this process.
  const note = (problem: string): void => noteFailure(folder, `${first?.agent ?? 'hook'}: ${problem}`);
  const problem = checkFolder(folder);
  if (problem !== undefined) return note(problem);
  const { socket } = hookFiles(folder);
  const server = createServer({ requestTimeout: 5000 });
  const answers = openAnswers({ indexer: packageFile('dist/command/hook-program.js'), cache });
  // Two hooks may start a process at once; the lock decides which one serves.
  const lock = await acquireLock(`${socket}.lock`, { timeoutMs: 5000 });
  if (lock === undefined) return;
  try {
    if (await isServed(socket)) return;
    // Before it listens: hooks answer from what was kept meanwhile.
    if (first !== undefined && first.cwd !== '')
      await answers
        .prepare(first.agent, { cwd: first.cwd, home, env: first.env })
        .catch((error: unknown) => note(messageOf(error)));
    quietly(() => unlinkSync(socket));
    await listen(server, socket);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return note(`the resident process cannot listen on ${socket} (${error.code})`);
  } finally {
    lock.release();
  }
  const own = statSync(socket).ino;
  const version = stampOf(program);
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(idle);
      clearTimeout(reviewing);
      for (const signal of TERMINAL_SIGNALS) process.off(signal, ignore);
      if (quietly(() => statSync(socket).ino) === own) quietly(() => unlinkSync(socket));
      server.close(() => resolve());
      server.closeAllConnections();
    };
    let idle = setTimeout(end, idleMs);
    let reviewing: NodeJS.Timeout | undefined;
    const review = (): void => {
      answers.review().catch((error: unknown) => noteFailure(folder, `review: ${messageOf(error)}`));
    };
    if (first !== undefined) review();
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      clearTimeout(idle);
      idle = setTimeout(end, idleMs);
      // Replaced by an update, or removed.
      if (stampOf(program) !== version) setImmediate(end);
      clearTimeout(reviewing);
      // oxlint-disable-next-line typescript/no-floating-promises -- it answers every failure itself
      answerRequest({ request, response, folder, home, answers }).finally(() => {
        reviewing = setTimeout(review, REVIEW_MS);
        reviewing.unref();
      });
    });
    process.once('SIGTERM', end);
    for (const signal of TERMINAL_SIGNALS) process.on(signal, ignore);
  });
}

interface HookRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly folder: string;
  readonly home: string;
  readonly answers: ReturnType<typeof openAnswers>;
}

async function answerRequest({ request, response, folder, home, answers }: HookRequest): Promise<void> {
  const agent = (request.url ?? '').slice(1);
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > MAX_INPUT) throw new Error(`the input of the hook is larger than ${String(MAX_INPUT)} bytes`);
      chunks.push(bytes);
    }
    const env = Object.fromEntries(
      HOOK_VARIABLES.flatMap((name) => {
        const value = request.headers[`x-${name.replaceAll('_', '-').toLowerCase()}`];
        return typeof value === 'string' ? [[name, Buffer.from(value, 'latin1').toString('utf8')]] : [];
      }),
    );
    const { text, hint } = await answers.answer({ agent, input: Buffer.concat(chunks).toString('utf8'), home, env });
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    // An agent that no longer waits has shown nothing.
    if (hint !== undefined && !response.destroyed) keepHint(home, hint);
  } catch (error) {
    // A hook must not fail; doctor reports why it gave no answer.
    noteFailure(folder, `${agent.slice(0, 40)}: ${messageOf(error)}`);
    response.writeHead(500).end();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function isServed(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    const finish = (answer: boolean): void => {
      probe.destroy();
      resolve(answer);
    };
    probe.setTimeout(DEADLINE_MS, () => finish(true));
    probe.once('connect', () => finish(true));
    probe.once('error', () => finish(false));
  });
}

async function listen(server: Server, socket: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, () => resolve());
  });
  chmodSync(socket, 0o600);
}

function stampOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${String(stats.ino)}:${String(stats.mtimeMs)}`;
}
