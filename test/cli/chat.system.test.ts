import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { readRun } from '../../src/journal/journal-reader.ts';
import { listRuns } from '../../src/journal/run-folder.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import { reduceChat, type Said } from '../../src/agent/reduce-chat.ts';
import { PROJECT } from '../files-below.ts';
import { serve } from '../model/local-server.ts';
import { scratch } from '../skills/registry/support.ts';
import { SKILLS } from '../built-in-skills/support.ts';
import { atTerminal, type Screen, type Step } from './pseudo-terminal.ts';
import { SHARED_CACHE, temporaryFolder, type CliResult } from './run-cli.ts';
import { needs } from '../needs.ts';
const PROGRAM = path.join(PROJECT, 'dist/command/skillwright.js');
const CHAT = ['chat', '--executor', 'none'];
const RULES = [...CHAT, '--model', 'rules'];
const home = temporaryFolder();

/** The built command with lines on its stdin. */
function piped(cwd: string, words: readonly string[], stdin: string): Promise<CliResult> {
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...SHARED_CACHE },
    timeout: 170_000,
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => undefined).end(stdin);
  return new Promise((resolve) => {
    child.on('close', (status) => resolve({ status: status ?? -1, out, err }));
  });
}

/** What the newest record says was said, and whether nobody changed it. */
function recorded(folder: string): {
  readonly messages: readonly string[];
  readonly status: string;
  readonly outcome: string;
} {
  const place = listRuns(path.join(folder, '.agent/runs'))[0]?.path ?? '';
  const { info, lines } = readRun(place);
  const said = [...lines].reduce<readonly Said[]>(
    (before, { event }) => (event.type === 'chat' ? reduceChat(before, event.event) : before),
    [],
  );
  return { messages: said.map(({ message }) => message), status: verifyRun(place).status, outcome: info.outcome };
}

describe('from a pipe', () => {
  test('each line is a message of one chat, in one record', async () => {
    const folder = scratch();
    const { status, out, err } = await piped(folder, RULES, 'hello\n\nand again\n');
    expect([status, out.split('Rule model:').length - 1]).toEqual([0, 2]);
    expect(err).toContain('search_skills "and again": found');
    expect(recorded(folder)).toEqual({ messages: ['hello', 'and again'], status: 'intact', outcome: 'done' });
    expect(listRuns(path.join(folder, '.agent/runs'))).toHaveLength(1);
  });

  test('what begins with a slash is a command, a skill, or a mistake that the model never hears of', async () => {
    const folder = scratch();
    const lines = [
      '/help',
      '/skills',
      '/plan',
      '/cost',
      '/undo',
      '/csv-reprot x',
      '/skil',
      'hi',
      '/undo',
      '/plan',
      '/quit',
      'never',
    ];
    const { status, out } = await piped(folder, RULES, lines.join('\n'));
    expect(status).toBe(0);
    for (const text of [
      '/undo    remove the last message and its answer, and restore the files it changed\n',
      '/csv-report    Turns a CSV',
      'no plan yet\n',
      '0 messages, 0 turns, about 0 tokens',
      'nothing to undo\n',
      'there is no skill called "csv-reprot"',
      'did you mean /skills or /skill-author?',
      'removed: hi\n',
      'goal: hi\n',
    ])
      expect(out).toContain(text);
    expect(recorded(folder)).toEqual({ messages: [], status: 'intact', outcome: 'done' });
  });

  test('a line that begins with ! is a message, and runs nothing', async () => {
    const folder = scratch();
    const { status, out } = await piped(folder, RULES, '!touch made\n/rewind\n');
    expect([status, out]).toEqual([0, expect.stringContaining('  1  "!touch made"\n')]);
    expect(existsSync(path.join(folder, 'made'))).toBe(false);
  });

  test('--resume goes on with what was said, by id and with the last one, and again after that', async () => {
    const folder = scratch();
    await piped(folder, RULES, 'one\n');
    const [first] = listRuns(path.join(folder, '.agent/runs'));
    await piped(folder, [...RULES, '--resume', 'last'], 'two\n');
    expect(recorded(folder).messages).toEqual(['one', 'two']);
    const { err } = await piped(folder, [...RULES, '--resume', 'last'], '/undo\nthree\n');
    expect(err).toContain(', 2 messages\n');
    expect(recorded(folder).messages).toEqual(['one', 'three']);
    const third = [...RULES, '--resume', first?.id ?? ''];
    expect(await piped(folder, third, 'other\n')).toMatchObject({
      status: 4,
      err: expect.stringContaining('it was already resumed as ') as string,
    });
    await piped(folder, [...third, '--again'], 'other\n');
    expect(recorded(folder).messages).toEqual(['one', 'other']);
  });

  test('--resume goes on in the vocabulary of the chat', async () => {
    const folder = scratch();
    await piped(folder, [...RULES, '--vocabulary', 'trpc'], 'one\n');
    await piped(folder, [...RULES, '--resume', 'last'], 'two\n');
    const runs = path.join(folder, '.agent/runs');
    expect(listRuns(runs).map((run) => readRun(run.path, { content: 'start' }).info.vocabulary)).toEqual([
      'trpc',
      'trpc',
    ]);
  });

  test.each([
    ['no chat was there', ['--model', 'rules', '--resume', 'last'], 1, 'no earlier chat in this project'],
    ['a model that is not there', ['--model', 'nobody/nothing'], 4, 'error'],
    ['words that it does not take', ['--model', 'rules', 'hello'], 2, 'too many arguments: expected at most 0, got 1'],
  ])('%s', async (_, words, status, text) => {
    const result = await piped(scratch(), [...CHAT, ...words], 'hi\n');
    expect([result.status, result.err]).toEqual([status, expect.stringContaining(text)]);
  });

  test('--json prints an event a line, and the result of each message', async () => {
    const { out } = await piped(scratch(), [...RULES, '--json'], 'one\ntwo\n');
    const values = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly result?: unknown });
    expect(values.flatMap(({ result }) => result ?? [])).toMatchObject([
      { outcome: 'done', status: 0 },
      { outcome: 'done', status: 0 },
    ]);
  });
});

describe('at a terminal', needs('python3 with pty'), () => {
  const PAUSE = { seconds: 0.4 };
  const [UP, CTRL_C, CTRL_D] = ['\u001B[A', '\u0003', '\u0004'];
  const chat = (
    folder: string,
    words: readonly string[],
    steps: readonly Step[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Screen> =>
    atTerminal([process.execPath, PROGRAM, ...words], steps, {
      cwd: folder,
      env: { HOME: path.join(folder, 'home'), ...SHARED_CACHE, ...env },
    });
  const until = (text: string): Step => ({ until: text });
  const keys = (text: string): Step => ({ keys: text });

  test('lines are edited, the arrow keys bring back what was typed, a paste is one message, Ctrl-D ends', async () => {
    const folder = scratch();
    const { status, text } = await chat(
      folder,
      RULES,
      [
        until('> '),
        keys('helxx\u007F\u007Flo'),
        PAUSE,
        keys('\r'),
        until('done after'),
        until('> '),
        // Pasted before what is there: it goes to the cursor.
        keys('!'),
        PAUSE,
        keys('\u0001'),
        PAUSE,
        keys('\u001B[200~first line\nsecond\tline\u001B[201~'),
        PAUSE,
        keys('\r'),
        until('done after'),
        until('> '),
        keys(UP),
        PAUSE,
        keys(UP),
        PAUSE,
        keys('\r'),
        until('done after'),
        until('> '),
        keys(CTRL_D),
      ],
      { SKILLWRIGHT_CACHE_DIR: path.join(folder, 'cache') },
    );
    expect([status, text]).toEqual([0, expect.stringContaining('continue with: skillwright chat --resume')]);
    expect(recorded(folder)).toEqual({
      messages: ['hello', 'first line\nsecond\tline!', 'hello'],
      status: 'intact',
      outcome: 'done',
    });
    const cache = path.join(folder, 'cache/chat');
    const [file = ''] = readdirSync(cache);
    expect(statSync(path.join(cache, file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path.join(cache, file), 'utf8'))).toEqual(['hello', 'first line␤second␉line!']);
  });

  test('greets in one line, and Tab completes commands, skills and files; a dropped file becomes @FILE', async () => {
    const folder = scratch();
    writeFileSync(path.join(folder, 'orders.csv'), 'a,b\n1,2\n');
    const dropped = `\u001B[200~'${path.join(folder, 'orders.csv')}'\u001B[201~`;
    const { status, text } = await chat(folder, RULES, [
      until('rules · 3 skills · no sandbox, so no programs · /help'),
      until('> '),
      keys('/he\t'),
      until('/help'),
      keys('\r'),
      until('Tab completes all of these'),
      until('> '),
      keys('/csv-r\t'),
      until('/csv-report'),
      keys('\u0015see @ord\t'),
      until('@orders.csv'),
      keys('\r'),
      until('done after'),
      until('> '),
      keys(dropped),
      until('@orders.csv'),
      keys('\r'),
      until('done after'),
      until('> '),
      keys(CTRL_D),
    ]);
    expect([status, text]).toEqual([0, expect.stringContaining('continue with: skillwright chat --resume')]);
    expect(recorded(folder).messages).toEqual(['see @orders.csv', '@orders.csv']);
  });

  test('Ctrl-C drops a line that was begun, and ends the chat the second time that nothing is there', async () => {
    const folder = scratch();
    const { status, text } = await chat(folder, RULES, [
      until('> '),
      keys('never sent'),
      PAUSE,
      keys(CTRL_C),
      until('> '),
      keys(CTRL_C),
      until('Ctrl-C again'),
      until('> '),
      keys(CTRL_C),
    ]);
    expect([status, text]).toEqual([0, expect.not.stringContaining('done after')]);
    expect(listRuns(path.join(folder, '.agent/runs'))).toEqual([]);
  });

  test('Ctrl-C while a model is waited for stops the message and not the chat', async () => {
    const folder = scratch();
    const silent = await serve(() => undefined);
    onTestFinished(() => silent.close());
    const env = { OPENAI_BASE_URL: `${silent.url}/v1`, OPENAI_API_KEY: 'k', OPENAI_MODEL: 'm' };
    const steps = [
      until('> '),
      keys('take long\r'),
      until('asking'),
      PAUSE,
      keys(CTRL_C),
      until('cancelled after'),
      until('> '),
      keys('/cost\r'),
      until('1 message, 1 turn'),
      until('> '),
      keys('/quit\r'),
    ];
    const { status } = await chat(folder, CHAT, steps, env);
    expect(status).toBe(0);
    expect(recorded(folder)).toEqual({ messages: ['take long'], status: 'intact', outcome: 'done' });
  });

  test('a question has the keys to itself; Ctrl-C at it stops the message, and the chat goes on', async () => {
    const folder = scratch();
    writeFileSync(
      path.join(folder, 'orders.csv'),
      readFileSync(path.join(SKILLS, 'csv-report/evals/files/orders.csv')),
    );
    const request = 'What is in this CSV file? Are there missing values?\r';
    const { status, text } = await chat(
      folder,
      ['chat', '--model', 'rules', '--executor', 'local', '--in', 'orders.csv'],
      [
        until('> '),
        keys(request),
        until('anything else is no'),
        { seconds: 0.8 },
        keys(CTRL_C),
        until('cancelled after'),
        until('> '),
        keys('still here\r'),
        until('done after'),
        until('> '),
        keys('/quit\r'),
      ],
    );
    expect([status, text]).toEqual([0, expect.stringContaining('search_skills "still here"')]);
    expect(recorded(folder)).toEqual({
      messages: [request.trim(), 'still here'],
      status: 'intact',
      outcome: 'done',
    });
  });

  test.each([
    ['at a line', ['--quiet'], 'hello\r', 'comes close.', 'done'],
    [
      'at a question',
      ['--executor', 'local', '--in', 'orders.csv'],
      'What is in this CSV file?\r',
      'anything else is no',
      'done',
    ],
  ])('a window that is closed %s ends the chat, and its record', async (_, flags, typed, shown, outcome) => {
    const folder = scratch();
    writeFileSync(path.join(folder, 'orders.csv'), 'a,b\n1,2\n');
    const steps = [until('> '), keys(typed), until(shown), PAUSE, { hangUp: true } as const];
    await chat(folder, ['chat', '--model', 'rules', ...flags], steps);
    expect(recorded(folder)).toEqual({ messages: [typed.trim()], status: 'intact', outcome });
  });
});
