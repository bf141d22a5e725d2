/** The program of a hook where no resident process answers: it answers itself, and starts one for the next prompt. */
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { statSync } from 'node:fs';
import path from 'node:path';

import { quietly } from '#platform';
import { AGENTS } from '../agents/agents.ts';
import { keepHint } from '../hint-record.ts';
import { openAnswers } from './answer-prompt.ts';
import { indexInThread } from './body-index.ts';
import { DEADLINE_MS, HOOK_VARIABLES, checkFolder, hookFiles, noteFailure } from './hook-folder.ts';
import { readPrompt } from './prompt.ts';
import { serveHooks } from './resident.ts';

/** The word that makes the program of the hook serve. */
const SERVE = '--serve';

/** `AGENT FOLDER` answers one prompt; `--serve FOLDER AGENT CWD` serves, next a prompt of that agent in that folder. Never fails: an agent may block a prompt whose hook does. */
export async function runHook(host: NodeJS.Process): Promise<void> {
  if (await indexInThread()) return;
  const [program = '', word = '', named = '', agent = '', cwd = ''] = host.argv.slice(1);
  const home = host.env['HOME'] ?? '';
  if (named === '' || home === '') return;
  const folder = path.resolve(named);
  try {
    if (word === SERVE) await serveHooks({ folder, home, program, first: { agent, cwd, env: readVariables(host) } });
    else await answerOnce(host, { agent: word, folder, home, program });
  } catch (error) {
    noteFailure(folder, `${word}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

interface HookCall {
  readonly agent: string;
  readonly folder: string;
  readonly home: string;
  readonly program: string;
}

async function answerOnce(host: NodeJS.Process, { agent, folder, home, program }: HookCall): Promise<void> {
  const input = await readInput(host.stdin);
  const problem = checkFolder(folder);
  if (problem !== undefined) throw new Error(problem);
  const env = readVariables(host);
  const served = await askResident(folder, { agent, input, env });
  if (served !== undefined) {
    host.stdout.write(served);
    return;
  }
  const prompt = readPrompt(input);
  if (prompt === undefined || !AGENTS.some(({ id }) => id === agent)) return;
  startResident(host, [program, SERVE, folder, agent, prompt.cwd]);
  const checkTime = (): void => {
    if (host.uptime() * 1000 > DEADLINE_MS) throw new Error(`no answer within ${String(DEADLINE_MS)} ms`);
  };
  const { text, hint } = await openAnswers().answer({ agent, input, home, env, onFile: checkTime });
  checkTime();
  host.stdout.write(text);
  if (hint !== undefined) keepHint(home, hint);
}

function readVariables({ env }: NodeJS.Process): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(HOOK_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

async function readInput(stream: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** The answer of the resident process; undefined if none listens. For machines without curl. */
async function askResident(
  folder: string,
  {
    agent,
    input,
    env,
  }: { readonly agent: string; readonly input: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<string | undefined> {
  const { socket } = hookFiles(folder);
  const stats = quietly(() => statSync(socket, { throwIfNoEntry: false }));
  if (stats?.isSocket() !== true || (process.getuid !== undefined && stats.uid !== process.getuid())) return undefined;
  const headers = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined ? [] : [[`x-${name.replaceAll('_', '-')}`, Buffer.from(value, 'utf8').toString('latin1')]],
    ),
  );
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath: socket, path: `/${agent}`, method: 'POST', headers, timeout: DEADLINE_MS });
    asking.on('timeout', () =>
      asking.destroy(new Error(`the resident process gave no answer within ${String(DEADLINE_MS)} ms`)),
    );
    asking.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === undefined) reject(error);
      else resolve(undefined);
    });
    asking.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => resolve(undefined));
      response.on('end', () => resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString('utf8') : ''));
    });
    asking.end(input);
  });
}

function startResident(host: NodeJS.Process, words: readonly string[]): void {
  const child = spawn(host.execPath, words, { detached: true, stdio: 'ignore', cwd: '/' });
  child.on('error', (error) => noteFailure(words[2] ?? '', `the resident process does not start: ${error.message}`));
  child.unref();
}
