/** How messages of a chat are typed: search, several lines, ahead of the answer, chosen from a list, and for screen readers. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { reduceChat, type Said } from '../../src/agent/reduce-chat.ts';
import { readRun } from '../../src/journal/journal-reader.ts';
import { listRuns } from '../../src/journal/run-folder.ts';
import { PROJECT } from '../files-below.ts';
import { chunk, serve, startStream } from '../model/local-server.ts';
import { needs } from '../needs.ts';
import { atTerminal, type Screen, type Step } from './pseudo-terminal.ts';
import { SHARED_CACHE, temporaryFolder, writeFiles } from './run-cli.ts';

const PROGRAM = path.join(PROJECT, 'dist/command/skillwright.js');
const home = temporaryFolder();
const SCRIPTED = ['--model', 'scripted:script.json'];

function project(...answers: readonly (string | object)[]): string {
  const folder = temporaryFolder();
  const turns = answers.map((answer) => (typeof answer === 'string' ? { text: answer } : answer));
  writeFiles(folder, { 'script.json': JSON.stringify({ turns }) });
  return folder;
}

function chat(
  folder: string,
  steps: readonly Step[],
  words: readonly string[] = SCRIPTED,
  env: Readonly<Record<string, string>> = {},
): Promise<Screen> {
  return atTerminal([process.execPath, PROGRAM, 'chat', '--executor', 'none', ...words], steps, {
    cwd: folder,
    env: { HOME: home, ...SHARED_CACHE, ...env },
  });
}

/** The messages of the newest chat. */
function sent(folder: string): readonly string[] {
  const [run] = listRuns(path.join(folder, '.agent/runs'));
  return [...readRun(run?.path ?? '').lines]
    .reduce<readonly Said[]>((said, { event }) => (event.type === 'chat' ? reduceChat(said, event.event) : said), [])
    .map(({ message }) => message);
}

const until = (text: string): Step => ({ until: text });
const keys = (text: string): Step => ({ keys: text });
const PROMPT = until('> ');
const send = (text: string): readonly Step[] => [PROMPT, keys(`${text}\r`), until('done after')];
const QUIT = [PROMPT, keys('/quit\r')] as const;

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('at a terminal', needs('python3 with pty'), () => {
  test('Ctrl-R finds an earlier message by a part of it, older ones again, and Ctrl-G gives the line back', async () => {
    const folder = project('1', '2', '3', '4');
    await chat(folder, [
      ...send('count the red apples'),
      ...send('count the green apples'),
      PROMPT,
      keys('\u0012'),
      until('(search: ) '),
      keys('apples'),
      until('(search: apples) '),
      until('green'),
      keys('\u0012'),
      until('red apples'),
      keys('\r'),
      until('done after'),
      PROMPT,
      // In one chunk, as a slow line delivers it.
      keys('mi\u0012ne'),
      until('(no match: mine) '),
      keys('\u0007'),
      until('mi'),
      keys('ne\r'),
      until('done after'),
      ...QUIT,
    ]);
    expect(sent(folder)).toEqual(['count the red apples', 'count the green apples', 'count the red apples', 'mine']);
  });

  test('Alt-Enter, and a backslash before Enter, start another line of the message', async () => {
    const folder = project('1');
    await chat(folder, [
      PROMPT,
      keys('first'),
      until('first'),
      keys('\u001B\r'),
      until('␤'),
      keys('second\\'),
      until('second\\'),
      keys('\r'),
      until('␤'),
      keys('third'),
      until('third'),
      keys('\r'),
      until('done after'),
      ...QUIT,
    ]);
    expect(sent(folder)).toEqual(['first\nsecond\nthird']);
  });

  test('what is typed while the agent works is sent when it is done; after Ctrl-C it waits on the line', async () => {
    const folder = project();
    const [go, never] = [path.join(folder, 'go'), path.join(folder, 'never')];
    const server = await serve(async (response, turn) => {
      startStream(response);
      await waitFor(() => existsSync(turn === 2 ? never : go) || response.destroyed);
      response.end(`${chunk({ content: `Answer ${String(turn)}.` })}${chunk({}, 'stop')}data: [DONE]\n\n`);
    });
    onTestFinished(() => server.close());
    const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'k', OPENAI_MODEL: 'm' };
    const { text } = await chat(
      folder,
      [
        PROMPT,
        keys('one\r'),
        until('asking'),
        keys('twox'),
        until('> twox'),
        keys('\u007F'),
        keys('\r'),
        until('1 queued'),
        keys('half'),
        until('> half'),
        { touch: go },
        until('Answer 0.'),
        until('> two'),
        until('Answer 1.'),
        until('half'),
        keys(' done\r'),
        until('asking'),
        keys('later\r'),
        until('1 queued'),
        keys('\u0003'),
        until('cancelled after'),
        until('later'),
        keys('\u0015/quit\r'),
      ],
      [],
      env,
    );
    expect(text).toContain('continue with');
    expect(sent(folder)).toEqual(['one', 'two', 'half done']);
  });

  test('--resume without an id lists chats and continues the chosen one; a question rings the bell', async () => {
    const write = { toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'x' } }] };
    const folder = project('1', write, 'Done.');
    await chat(folder, [...send('the older one'), ...QUIT]);
    writeFiles(folder, { 'script.json': JSON.stringify({ turns: [{ text: 'new' }] }) });
    await chat(folder, [...send('the newer one'), ...QUIT]);
    writeFiles(folder, { 'script.json': JSON.stringify({ turns: [write, { text: 'Done.' }] }) });
    const { text } = await chat(
      folder,
      [
        until('1 message, last "the older one"'),
        until('[2]'),
        { seconds: 0.6 },
        keys('2'),
        PROMPT,
        keys('go on\r'),
        until('\u0007'),
        until('for details'),
        { seconds: 0.6 },
        keys('no\r'),
        until('Done.'),
        ...QUIT,
      ],
      [...SCRIPTED, '--resume'],
    );
    expect(text).toContain('Continue which chat?');
    expect(sent(folder)).toEqual(['the older one', 'go on']);
  });

  test('--plain draws nothing: no cursor movements, no status line, whole lines', async () => {
    const folder = project('**Bold** words.');
    const { status, text } = await chat(
      folder,
      [PROMPT, keys('hello\n'), until('done after'), PROMPT, keys('/quit\n')],
      [...SCRIPTED, '--plain'],
    );
    expect([status, sent(folder)]).toEqual([0, ['hello']]);
    expect(text).toContain('words.');
    expect(text).not.toContain('\u001B');
  });

  test('--plain says a question and its answer once', async () => {
    const folder = project({ toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'a' } }] }, 'Written.');
    const { text } = await chat(
      folder,
      [
        PROMPT,
        keys('write it\n'),
        until('[y]es'),
        { seconds: 1 },
        keys('n\n'),
        until('done after'),
        until('> '),
        keys('/quit\n'),
      ],
      [...SCRIPTED, '--plain'],
    );
    expect(text).toContain('risk: create');
    expect(text).not.toMatch(/question:|denied by you/);
  });
});
