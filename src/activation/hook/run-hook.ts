/**
 * The program of a hook where no resident process answers. What a prompt mostly needs is here and starts fast; the rest is another file, which is
 * loaded if the kept hints of the place are missing or outdated.
 */
import { readFileSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';

import { quietly } from '#platform';
import { keepHint } from '../hint-record.ts';
import { chooseHints } from '../hints/choose-hints.ts';
import { composeAnswer, type Answer } from './compose-answer.ts';
import { stampOf } from './file-stamps.ts';
import { DEADLINE_MS, HOOK_VARIABLES, SERVE, START, checkFolder, hookFiles, noteFailure } from './hook-folder.ts';
import type { HintContext } from './hint-source.ts';
import { keptFile, useKept } from './kept-hints.ts';
import { readPrompt, type Prompt } from './prompt.ts';
import type { wholeHook } from './whole-hook.ts';

/**
 * `AGENT FOLDER` answers one prompt; `--serve FOLDER AGENT CWD` serves, next a prompt of that agent in that folder. Never fails: an agent may
 * block a prompt whose hook does. Whether a hint was given from what is kept.
 */
export async function runHook(host: NodeJS.Process, loadWhole: () => Promise<typeof wholeHook>): Promise<boolean> {
  const [program = '', word = '', named = '', agent = '', cwd = ''] = host.argv.slice(1);
  const home = host.env['HOME'] ?? '';
  if (named === '' || home === '') return false;
  const folder = path.resolve(named);
  const env = readVariables(host);
  try {
    if (word === SERVE) {
      const { serve } = await loadWhole();
      await serve({ folder, home, program, cache: host.env, first: { agent, cwd, env } });
    } else return await answerOnce(host, { agent: word, folder, home, env, loadWhole });
  } catch (error) {
    noteFailure(folder, `${word}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return false;
}

interface HookCall {
  readonly agent: string;
  readonly folder: string;
  readonly home: string;
  readonly env: HintContext['env'];
  readonly loadWhole: () => Promise<typeof wholeHook>;
}

async function answerOnce(host: NodeJS.Process, call: HookCall): Promise<boolean> {
  const { agent, folder, home, env, loadWhole } = call;
  // Streams take milliseconds to load.
  const input = readFileSync(0, 'utf8');
  const problem = checkFolder(folder);
  if (problem !== undefined) throw new Error(problem);
  const served = await askResident(call, input);
  if (served !== undefined) {
    print(served);
    return false;
  }
  const prompt = readPrompt(input);
  if (prompt === undefined) return false;
  const isTimeUp = (): boolean => host.uptime() * 1000 > DEADLINE_MS;
  const checkTime = (): void => {
    if (isTimeUp()) throw new Error(`no answer within ${String(DEADLINE_MS)} ms`);
  };
  const kept = answerFromKept(keptFile(agent, { cwd: prompt.cwd, home, env }, { env: host.env, home }), prompt);
  const whole = kept === undefined ? await loadWhole() : undefined;
  if (whole?.isAgent(agent) === false) return false;
  // The script starts the resident process when this one has ended, so that the answer does not wait for it.
  host.exitCode = START;
  const answer = kept ?? (await whole?.answer({ agent, input, home, env, onFile: checkTime }));
  checkTime();
  print(answer?.text ?? '');
  if (answer?.hint === undefined) return false;
  keepHint(home, answer.hint);
  return kept !== undefined;
}

/** Undefined if the skills must be read: a change inside of a hinted SKILL.md shows only here. */
function answerFromKept(file: string | undefined, prompt: Prompt): Answer | undefined {
  return useKept(file, ({ index, frame, skillAt }) => {
    const known = new Map<number, ReturnType<typeof skillAt>>();
    const isHintable = (position: number): boolean => {
      known.set(position, skillAt(position));
      return known.get(position) !== undefined;
    };
    const chosen = chooseHints({ request: prompt.text, index, isHintable }).flatMap(
      ({ position }) => known.get(position) ?? [],
    );
    const isCurrent = chosen.every(({ path: own, stamp }) => stamp !== undefined && stampOf(own) === stamp);
    return isCurrent ? composeAnswer(frame, prompt, chosen) : undefined;
  });
}

/** Standard output is a pipe of the shell or of the agent, with room for far more. */
function print(text: string): void {
  if (text !== '') writeSync(1, text);
}

function readVariables({ env }: NodeJS.Process): HintContext['env'] {
  return Object.fromEntries(HOOK_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

/** The answer of the resident process; undefined if none listens. For machines without curl. */
async function askResident({ agent, folder, env }: HookCall, input: string): Promise<string | undefined> {
  const { socket } = hookFiles(folder);
  const stats = quietly(() => statSync(socket, { throwIfNoEntry: false }));
  if (stats?.isSocket() !== true || (process.getuid !== undefined && stats.uid !== process.getuid())) return undefined;
  const headers = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined ? [] : [[`x-${name.replaceAll('_', '-')}`, Buffer.from(value, 'utf8').toString('latin1')]],
    ),
  );
  const { request } = await import('node:http');
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
