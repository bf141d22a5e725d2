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
