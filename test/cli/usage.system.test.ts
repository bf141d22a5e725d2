import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';

import { expect, test } from 'vitest';

import { openPlace, transcriptsOf } from '../activation/recorded-sessions.ts';
import { PROJECT } from '../files-below.ts';
import { runCli } from './run-cli.ts';

const COMMAND = path.join(PROJECT, 'dist/command/skillwright.js');

test('usage prints a table of 80 columns for people', async () => {
  const { home, project } = openPlace('pi');
  const { status, out } = await runCli(project, ['usage', '--since', '9999w'], { HOME: home });
  expect(status).toBe(0);
  expect(out.replaceAll(/since \d{4}-\d\d-\d\d/g, 'since DATE')).toBe(
    [
      'pi: 4 requests in 4 transcripts',
      '',
      'skill       fired  hinted  missed  off topic  tokens     cost   last used',
      'csv-report      1                                264  $0.0011  2026-11-18',
      'text-diff       1                                264  $0.0011  2026-11-18',
      'slide-deck      0               1                                   never',
      '',
      'pi: 1 skill not used since DATE, 23 tokens in each session',
      '  slide-deck (23)',
      '',
    ].join('\n'),
  );
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
});

test('usage --json has a schema and the same counts', async () => {
  const { home, project } = openPlace('codex');
  const { out } = await runCli(project, ['usage', '--json', '--since', '9999w'], { HOME: home });
  const { schema, agents, skills, prices } = JSON.parse(out);
  expect({
    schema,
    prices,
    requests: agents[0].requests,
    fired: skills.map((one: { fired: number }) => one.fired),
  }).toEqual({
    schema: 1,
    prices: [],
    requests: 4,
    fired: [1, 1, 0],
  });
});

test('usage without transcripts has exit code 1, and a wrong age 2', async () => {
  const { home, project } = openPlace('pi');
  const none = await runCli(project, ['usage', '--agent', 'codex'], { HOME: home });
  expect([none.status, none.err]).toEqual([
    1,
    'no transcripts found; the agents that are read: skillwright help usage\n',
  ]);
  expect((await runCli(project, ['usage', '--since', 'yesterday'], { HOME: home })).status).toBe(2);
});

test('usage --cases drafts cases from requests, which a person confirms one by one', async () => {
  const { home, project } = openPlace('pi');
  const file = transcriptsOf(home).find((one) => readFileSync(one, 'utf8').includes('"Build slides')) ?? '';
  const secret = `ghp_${'a1'.repeat(18)}`;
  const text = readFileSync(file, 'utf8').replace(
    'from this outline',
    `from /home/jane/acme/outline.md with ${secret} for bob@acme.example`,
  );
  writeFileSync(file, text);
  const run = (...words: readonly string[]) => runCli(project, words, { HOME: home });
  const made = await run('usage', '--cases', 'slide-deck', '--since', '9999w');
  expect([made.status, made.out]).toEqual([0, '.agents/skills/slide-deck/evals/from-usage.yaml\n']);
  expect(made.err).toContain('4 drafts: 1 positive, 3 negative, 0 near-miss, 0 task; 0 dropped\n');
  const drafts = readFileSync(path.join(project, made.out.trim()), 'utf8');
  expect(drafts.split('\n').slice(0, 8)).toEqual([
    '# From requests to your agents, redacted. A draft is not run and counts in no verdict.',
    '# Read each case. To confirm it, remove its line "draft: true"; delete those that are wrong.',
    'cases:',
    '  - id: "slide-deck-positive-1"',
    '    draft: true',
    '    input: "Build slides for a presentation from file.md with [secret shape] for [email]"',
    '    expect: {"trigger":true}',
    '    tags: ["positive"]',
  ]);
  for (const hidden of ['jane', 'acme', 'bob', secret]) expect(drafts).not.toContain(hidden);
  const check = await run('eval', 'check', made.out.trim());
  expect(check.out + check.err).toContain('4 drafts');
  // A request is a draft once.
  const again = await run('usage', '--cases', '.agents/skills/slide-deck', '--since', '9999w');
  expect([again.status, again.err]).toEqual([
    1,
    'no request can become a case: 4 dropped; try a longer time, such as --since 26w\n',
  ]);
  expect((await run('usage', '--cases', 'unknown-skill')).status).toBe(2);
});

/** The sessions again and again, with other ids and long answers. */
async function writeHistory(file: string, from: string, megabytes: number): Promise<number> {
  const stream = createWriteStream(file);
  const lines = readFileSync(from, 'utf8');
  const filler = `{"type":"message","message":{"role":"toolResult","toolCallId":"x","isError":false,"content":[{"type":"text","text":"${'y'.repeat(200_000)}"}]}}\n`;
  let sessions = 0;
  for (let written = 0; written < megabytes * 1_000_000; written += lines.length + filler.length) {
    const again = lines.replaceAll(/"id":"([0-9a-f]{8})"/g, `"id":"$1-${String(sessions)}"`);
    if (!stream.write(again + filler)) await once(stream, 'drain');
    sessions += 1;
  }
  stream.end();
  await once(stream, 'close');
  return sessions;
}

test('usage reads a history of 200 MB with a heap of 64 MB', async () => {
  const { home, project } = openPlace('pi');
  const [first = ''] = transcriptsOf(home);
  const file = path.join(path.dirname(first), 'large.jsonl');
  const sessions = await writeHistory(file, first, 200);
  expect(statSync(file).size).toBeGreaterThan(200_000_000);
  const words = ['--max-old-space-size=64', COMMAND, 'usage', '--json', '--since', '9999w'];
  const child = spawn(process.execPath, words, {
    cwd: project,
    env: { HOME: home, PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const out: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  const [status] = await once(child, 'close');
  expect(status).toBe(0);
  const [{ requests, damaged }] = JSON.parse(Buffer.concat(out).toString('utf8')).agents;
  expect({ requests, damaged }).toEqual({ requests: 4 + sessions, damaged: 0 });
}, 300_000);

test('usage ends at once when it is interrupted', async () => {
  const { home, project } = openPlace('pi');
  const folder = path.join(home, '.pi/agent/sessions/--large--');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'large.jsonl'), `{"type":"message","message":{"role":"user"}}\n`.repeat(4_000_000));
  const child = spawn(process.execPath, [COMMAND, 'usage', '--since', '9999w'], {
    cwd: project,
    env: { HOME: home, PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => out.push(chunk));
  setTimeout(() => child.kill('SIGINT'), 1000);
  const [status, signal] = await once(child, 'close');
  expect([status, signal, Buffer.concat(out).toString('utf8')]).toEqual([130, null, '']);
}, 60_000);
