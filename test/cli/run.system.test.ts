import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { readRun } from '../../src/journal/journal-reader.ts';
import { listRuns } from '../../src/journal/run-folder.ts';
import { verifyRun } from '../../src/journal/verify.ts';
import type { RunEvent } from '../../src/core/run-events.ts';
import { RULE_MODEL_REMARK } from '../../src/model/rules/rules.ts';
import { verifies } from '../conformance/verifies.ts';
import { PROJECT } from '../files-below.ts';
import { serve } from '../model/local-server.ts';
import { scratch } from '../skills/registry/support.ts';
import { SKILLS } from '../built-in-skills/support.ts';
import { atTerminal } from './pseudo-terminal.ts';
import { SHARED_CACHE, cli, runCli, temporaryFolder, writeFiles, type CliResult } from './run-cli.ts';
import { needs } from '../needs.ts';

const ORDERS = readFileSync(path.join(SKILLS, 'csv-report/evals/files/orders.csv'), 'utf8');
const QUESTION = 'What is in this CSV file? Are there missing values?';
const RULES = ['--model', 'rules'];
/** One for all of these tests: what is found out about sandboxes is kept there. */
const home = temporaryFolder();

interface StartOptions {
  /** A text that comes through a pipe, or a file that is open. */
  readonly stdin?: string | { readonly descriptor: number };
  readonly env?: Readonly<Record<string, string>>;
}

interface Started {
  readonly ended: Promise<CliResult>;
  readonly send: (signal: NodeJS.Signals) => void;
}

/** The built command in a process of its own, with something on its stdin. */
function start(cwd: string, words: readonly string[], { stdin = '', env = {} }: StartOptions = {}): Started {
  const child = spawn(process.execPath, [path.join(PROJECT, 'dist/command/skillwright.js'), ...words], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...SHARED_CACHE, ...env },
    timeout: 170_000,
    stdio: [typeof stdin === 'string' ? 'pipe' : stdin.descriptor, 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  if (typeof stdin === 'string') child.stdin?.on('error', () => undefined).end(stdin);
  const ended = new Promise<CliResult>((resolve) => {
    child.on('close', (status) => resolve({ status: status ?? -1, out, err }));
  });
  return { ended, send: (signal) => void child.kill(signal) };
}

/** In this process, which is faster, unless something is on stdin. */
const run = (cwd: string, words: readonly string[], options: StartOptions = {}): Promise<CliResult> =>
  options.stdin === undefined ? runCli(cwd, words, { HOME: home, ...options.env }) : start(cwd, words, options).ended;

function project(): string {
  const folder = scratch();
  writeFileSync(path.join(folder, 'orders.csv'), ORDERS);
  return folder;
}

/** Of the only run there. */
function record(folder: string): {
  readonly outcome: string;
  readonly status: string;
  readonly events: readonly RunEvent[];
} {
  const runs = listRuns(path.join(folder, '.agent/runs'));
  expect(runs).toHaveLength(1);
  const place = runs[0]?.path ?? '';
  const { info, lines } = readRun(place);
  return { outcome: info.outcome, status: verifyRun(place).status, events: [...lines].map(({ event }) => event) };
}

describe('with the rule model', () => {
  verifies(
    'CLI-1',
    'run answers a question about a table with the figures that a script found, in a sandbox',
    async () => {
      const folder = project();
      const words = ['run', QUESTION, '--in', 'orders.csv', '--out', 'results', '--yes', ...RULES];
      const { status, out, err } = await run(folder, words);
      expect([status, err]).toEqual([0, expect.stringContaining('model rules: it was requested by name')]);
      expect(out.startsWith(`${RULE_MODEL_REMARK}\n\n`)).toBe(true);
      expect(out).toContain('- Rows: 12\n');
      expect(out).toContain('| 5 | units | integer | 11 | 1 |');
      expect(readFileSync(path.join(folder, 'results/report.md'), 'utf8')).toContain('- Rows: 12\n');
      const { outcome, status: verdict, events } = record(folder);
      expect([outcome, verdict]).toEqual(['done', 'intact']);
      const ran = events.find((event) => event.type === 'observation' && event.observation.type === 'program-ran');
      expect(ran).toMatchObject({
        observation: { result: { exit_code: 0, isolation: expect.not.stringMatching('none') } },
      });
    },
  );

  test('without an approval nothing runs, and the printed command runs it', async () => {
    const folder = project();
    const words = ['run', '--in', 'orders.csv', '--out', 'results', ...RULES];
    const { status, out, err } = await run(folder, words, { stdin: `${QUESTION}\n` });
    expect([status, out]).toEqual([3, expect.stringContaining('This answer is incomplete: run_script needs approval')]);
    expect(record(folder).outcome).toBe('refused');
    const [, line = ''] = /run: skillwright (runs resume .*--approve [0-9a-f]{64})\n/.exec(err) ?? [];
    const again = await run(folder, line.split(' '));
    expect([again.status, again.out]).toEqual([0, expect.stringContaining('- Rows: 12\n')]);
    expect(readFileSync(path.join(folder, 'results/report.md'), 'utf8')).toContain('- Rows: 12\n');
    // It was good for one execution.
    const third = await run(folder, line.split(' '));
    expect([third.status, third.err]).toEqual([4, expect.stringContaining('it was already resumed as ')]);
    const fourth = await run(folder, [...line.split(' '), '--again']);
    expect([fourth.status, fourth.err]).toEqual([
      3,
      expect.stringMatching(/was already used; .*--approve [0-9a-f]{64}-1/),
    ]);
  });

  test('without an approval and with a run that continues, the model answers and the record says refused', async () => {
    const folder = project();
    const { status, out } = await run(folder, ['run', QUESTION, '--in', 'orders.csv', '--keep-going', ...RULES]);
    expect([status, out.startsWith(RULE_MODEL_REMARK)]).toEqual([3, true]);
    expect(record(folder).outcome).toBe('refused');
  });

  test.each([['tools'], ['actions']])('--json prints an event a line and the result last, by %s', async (protocol) => {
    const folder = project();
    const words = ['run', '--in', 'orders.csv', '--yes', '--json', '--protocol', protocol, ...RULES];
    const { status, out } = await run(folder, words, { stdin: `${QUESTION}\n` });
    expect(status).toBe(0);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ seq: 1, event: { type: 'run-start', request: QUESTION } });
    expect(lines.at(-2)).toMatchObject({ event: { type: 'run-end', outcome: 'done' } });
    const { result } = lines.at(-1);
    expect(result).toMatchObject({ outcome: 'done', reason: '', model: 'rules', status: 0, copied: [] });
    const grown = lines.map(({ event }) => (event?.type === 'answer-delta' ? event.text : '')).join('');
    expect(grown).toBe(result.answer);
  });

  test('a request from a file; skills that are wanted are there before the first turn', async () => {
    const folder = project();
    writeFileSync(path.join(folder, 'task.md'), `${QUESTION}\n`);
    const words = ['run', '--file', 'task.md', '--in', 'orders.csv', '--skill', 'csv-report', '--yes', ...RULES];
    const { status, out } = await run(folder, words);
    expect([status, out]).toEqual([0, expect.stringContaining('- Rows: 12\n')]);
    expect(record(folder).events).toContainEqual({ type: 'activation', skill: expect.any(String), reason: 'required' });
  });

  test('the configuration of the project may name the rule model; a script of answers is a model too', async () => {
    const folder = project();
    mkdirSync(path.join(folder, '.agent'));
    writeFileSync(path.join(folder, '.agent/config.json'), '{"model": {"provider": "mock"}}');
    const mock = await run(folder, ['run', QUESTION, '--executor', 'none']);
    expect([mock.status, mock.err]).toEqual([0, expect.stringContaining('model rules: it is configured')]);
    const turns = [
      { toolCalls: [{ name: 'search_skills', input: { query: 'csv' } }] },
      { expect: { contains: ['csv-report'] }, text: 'It is csv-report.' },
    ];
    writeFileSync(path.join(folder, 'script.json'), JSON.stringify({ turns }));
    const words = ['-C', folder, 'run', QUESTION, '--model', 'scripted:script.json', '--executor', 'none'];
    expect(await run(path.dirname(folder), words)).toMatchObject({ status: 0, out: 'It is csv-report.\n' });
    const gone = await run(folder, ['run', QUESTION, '--model', 'scripted:gone.json']);
    expect([gone.status, gone.err]).toEqual([1, expect.stringContaining('gone.json')]);
  });

  test('a budget that ends is status 1, and the answer says what is missing', async () => {
    const folder = project();
    const { status, out } = await run(folder, ['run', QUESTION, '--budget', 'turns=1', '--yes', ...RULES]);
    expect([status, out]).toEqual([1, expect.stringContaining('the budget of turns is exhausted (1 of 1)')]);
    expect(record(folder).outcome).toBe('degraded');
  });

  test('without anything that runs programs it says so and shows what it would run', async () => {
    const folder = project();
    const { status, out } = await run(folder, ['run', QUESTION, '--executor', 'none', '--in', 'orders.csv', ...RULES]);
    expect([status, out]).toEqual([0, expect.stringContaining('program execution is disabled')]);
  });

  test('where nothing isolates programs it warns, runs none and goes on', async () => {
    const folder = project();
    const env = { DOCKER_HOST: `unix://${folder}/none.sock` };
    const words = ['run', QUESTION, '--in', 'orders.csv', '--yes', '--set', 'execution.executor=container', ...RULES];
    const { status, out, err } = await run(folder, words, { env });
    expect([status, out]).toEqual([0, expect.stringContaining('program execution is disabled')]);
    expect(err).toContain('warning: programs are disabled: no executor isolates programs on this machine');
    expect(record(folder).events.filter(({ type }) => type === 'run-start')).toHaveLength(1);
  });

  test('an executor that is named and not there is status 4, and no run begins', async () => {
    const folder = project();
    const env = { DOCKER_HOST: `unix://${folder}/none.sock` };
    const { status } = await run(folder, ['run', QUESTION, '--executor', 'container', ...RULES], { env });
    expect(status).toBe(4);
    expect(listRuns(path.join(folder, '.agent/runs'))).toEqual([]);
  });
});

test(
  'at a terminal the person is asked, sees the plan go on, and the answer once',
  needs('python3 with pty'),
  async () => {
    const words = ['run', QUESTION, '--in', 'orders.csv', '--protocol', 'actions', ...RULES];
    const { status, text } = await atTerminal(
      [process.execPath, path.join(PROJECT, 'dist/command/skillwright.js'), ...words],
      [
        { until: '[n]o' },
        { seconds: 0.6 },
        { keys: 'y' },
        { until: 'Save 1 file (report.md) to out?' },
        { seconds: 0.6 },
        { keys: 'n' },
      ],
      // A terminal on which nothing can be drawn again.
      { cwd: project(), env: { HOME: home, TERM: 'dumb', ...SHARED_CACHE } },
    );
    expect(status).toBe(0);
    expect(text.split('• Rows: 12')).toHaveLength(2);
    const steps = [...text.matchAll(/\[[x> ]\] (?:find|follow|answer)/g)].map(([step]) => step);
    expect(steps).toEqual([
      '[>] find',
      '[ ] follow',
      '[ ] answer',
      '[x] find',
      '[>] follow',
      '[x] follow',
      '[x] answer',
    ]);
  },
);

describe('which model', () => {
  const isTaken = async (port: number): Promise<boolean> =>
    fetch(`http://127.0.0.1:${String(port)}/`).then(
      () => true,
      () => false,
    );

  test('no key and no server: the rule model, and that is said', async ({ skip }) => {
    if ((await Promise.all([11_434, 1_234, 8_080].map(isTaken))).includes(true)) skip('a server runs on this machine');
    const { status, out, err } = await run(project(), ['run', QUESTION]);
    expect(status).toBe(0);
    expect(err).toContain(
      'model rules: no language model was found; no provider is configured; no API key of a vendor is set;',
    );
    expect(err).toContain('rules is not a language model');
    expect(out.startsWith(RULE_MODEL_REMARK)).toBe(true);
  });

  test.each([
    ['nosuch/model', 'nosuch'],
    ['anthropic', 'ANTHROPIC_API_KEY'],
  ])('--model %s cannot be had: status 4, and nothing takes its place', async (name, said) => {
    const { status, out, err } = await run(project(), ['run', QUESTION, '--model', name]);
    expect([status, out, err]).toEqual([4, '', expect.stringContaining(said)]);
  });

  test('a project cannot send the key of its user elsewhere', async () => {
    const folder = project();
    const thief = await serve((response) => response.end('{}'));
    onTestFinished(() => thief.close());
    const params = { base_url: thief.url, model: 'm' };
    writeFiles(folder, { '.agent/config.json': JSON.stringify({ model: { provider: 'openai-compatible', params } }) });
    await run(folder, ['run', QUESTION, '--budget', 'wallMs=3000'], { env: { OPENAI_API_KEY: 'key-123456789' } });
    expect(thief.requests).toEqual([]);
  });
});

describe('what makes no sense', () => {
  test.each([
    [['run', ' '], 2, 'the request is empty'],
    [['run', 'x', '--file', 'y'], 2, 'the request is given twice'],
    [['run', 'x', '--budget', 'turn=5'], 2, 'did you mean turns?'],
    [['run', 'x', '--protocol', 'xml'], 2, '--protocol must be one of tools, actions'],
    [['run', '--file', 'nothing.md'], 1, 'file not found'],
  ])('%j is status %d: %s', async (words, expected, said) => {
    const { status, err } = await cli(scratch(), words);
    expect([status, err]).toEqual([expected, expect.stringContaining(said)]);
  });

  test.each([
    [`${QUESTION}\n`, 0, /^- Rows: 12$/mu, /^done after/mu],
    ['', 2, /^$/u, /^error: the request is empty\nhint: .*\n$/u],
  ])('a file as stdin is read as a pipe is: %j', async (text, expected, answer, talk) => {
    const folder = project();
    writeFileSync(path.join(folder, 'task.md'), text);
    const descriptor = openSync(path.join(folder, 'task.md'), 'r');
    onTestFinished(() => closeSync(descriptor));
    const words = ['run', '--in', 'orders.csv', '--yes', ...RULES];
    const { status, out, err } = await run(folder, words, { stdin: { descriptor } });
    expect([status, out, err]).toEqual([expected, expect.stringMatching(answer), expect.stringMatching(talk)]);
  });

  test('the request that docs/agent.md shows finds its skill without a model', async () => {
    const shown = /skillwright run "(.+)" --in/u.exec(readFileSync(path.join(PROJECT, 'docs/agent.md'), 'utf8'));
    const words = ['run', shown?.[1] ?? '', '--in', 'orders.csv', '--yes', ...RULES];
    const { status, out } = await run(project(), words);
    expect([status, out]).toEqual([0, expect.stringContaining('- Rows: 12\n')]);
  });

  test('files that cannot be copied cost no answer', async () => {
    const folder = project();
    const words = ['run', QUESTION, '--in', 'orders.csv', '--out', 'orders.csv', '--yes', ...RULES];
    const told = await run(folder, words);
    expect([told.status, told.out, told.err]).toEqual([
      1,
      expect.stringContaining('- Rows: 12\n'),
      expect.stringContaining('error: the files cannot be written to '),
    ]);
    expect(record(folder)).toMatchObject({ outcome: 'done', status: 'intact' });
    const { status, out } = await run(folder, [...words, '--json']);
    const { result } = JSON.parse(out.trimEnd().split('\n').at(-1) ?? '');
    expect(status).toBe(1);
    expect(result).toMatchObject({ outcome: 'done', copied: [], errors: [{ code: 'io/failed' }], status: 1 });
  });

  test('a file that is not there ends the run and is named', async () => {
    const { status, err } = await run(project(), ['run', QUESTION, '--in', 'nothing.csv', ...RULES]);
    expect([status, err]).toEqual([1, expect.stringContaining('nothing.csv')]);
  });

  test('endless words on stdin are no request', async () => {
    const { status, err } = await run(scratch(), ['run', '-', ...RULES], { stdin: 'x'.repeat(2_000_000) });
    expect([status, err]).toEqual([2, expect.stringContaining('larger than 1 MiB')]);
  });
});

describe('with a language model over HTTP', () => {
  const server = new LLMock({ port: 0, strict: true });
  beforeAll(async () => {
    await server.start();
  });
  afterAll(async () => {
    await server.stop();
  });

  test('it chooses, runs and answers; the figures of the script have reached it', async () => {
    const folder = project();
    const args = ['inputs/orders.csv', '--format', 'md'];
    const calls = [
      ['load_skill', { skill: 'csv-report' }],
      ['run_script', { skill: 'csv-report', script: 'scripts/report.mjs', args }],
    ] as const;
    const results = ['', 'scripts/report.mjs', '- Rows: 12'];
    // Each answer comes only when the result of the call before it is in the request.
    const isTurn = (turn: number): object => ({
      predicate: ({ messages }: { readonly messages: readonly { readonly role: string }[] }): boolean =>
        messages.filter(({ role }) => role === 'assistant').length === turn &&
        JSON.stringify(messages).includes(results[turn] ?? ''),
    });
    for (const [turn, [name, input]] of calls.entries())
      server.on(isTurn(turn), {
        toolCalls: [{ name, arguments: JSON.stringify(input), id: `call-${String(turn)}` }],
      });
    server.on(isTurn(2), { content: 'It has 12 rows; one number is missing.' });
    const env = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'key-123456789', OPENAI_MODEL: 'gpt-4o' };
    const words = ['run', QUESTION, '--in', 'orders.csv', '--yes'];
    const { status, out, err } = await run(folder, words, { env });
    expect([status, out, err]).toEqual([
      0,
      'It has 12 rows; one number is missing.\n',
      expect.stringContaining('model openai-compatible/gpt-4o: OPENAI_API_KEY and OPENAI_BASE_URL are set'),
    ]);
    expect(server.getRequests()).toHaveLength(3);
    expect(record(folder)).toMatchObject({ outcome: 'done', status: 'intact' });
    expect(JSON.stringify(record(folder).events)).not.toContain('key-123456789');
  });

  test.each([
    ['Ctrl-C', ['SIGINT']],
    ['a terminal that goes away, and says so twice,', ['SIGHUP', 'SIGHUP']],
  ] as const)('%s ends the turn, closes the record and is status 130', async (_, signals) => {
    const folder = project();
    let asked = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (asked = resolve));
    const silent = await serve(() => asked());
    onTestFinished(() => silent.close());
    const env = { OPENAI_BASE_URL: `${silent.url}/v1`, OPENAI_API_KEY: 'k', OPENAI_MODEL: 'm' };
    const started = start(folder, ['run', QUESTION], { env });
    await waiting;
    for (const signal of signals) started.send(signal);
    const { status, out } = await started.ended;
    expect([status, out]).toEqual([130, expect.stringContaining('the run was interrupted: stopped by SIG')]);
    expect(record(folder)).toMatchObject({ outcome: 'cancelled', status: 'intact' });
  });
});
