/** `skillwright ui` as a program, spoken to as the page speaks to it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { startCommand, stop, until } from '../fleet/fleet-processes.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from './run-cli.ts';

test(
  'an answer "for this run" counts for the rest of that run, and not for the next one',
  { ...needs('namespaces'), timeout: 60_000 },
  async () => {
    const cwd = temporaryFolder();
    const home = path.join(cwd, 'home');
    for (const folder of [home, path.join(cwd, '.git')]) mkdirSync(folder);
    const command = { name: 'run_command', input: { command: 'touch same' } };
    // The runs of a server go on in one script.
    const once = [{ toolCalls: [command] }, { toolCalls: [command] }, { text: 'done' }];
    const script = { turns: [...once, ...once] };
    writeFileSync(path.join(cwd, 'script.json'), JSON.stringify(script));
    const words = ['ui', '--no-open', '--model', 'scripted:script.json', '--executor', 'namespaces'];
    const { child, found } = startCommand(
      [path.join(PROJECT, 'dist/command/skillwright.js'), ...words],
      /(http:\S+)\n[^]*the console is open/,
      { cwd, env: { PATH: process.env['PATH'] ?? '', HOME: home } },
    );
    onTestFinished(() => stop(child));
    const link = new URL(await found);
    const login = await fetch(link, { redirect: 'manual' });
    const cookie = (login.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
    const call = async (route: string, body?: object): Promise<unknown> => {
      const answer = await fetch(new URL(`/api/v1${route}`, link), {
        method: body === undefined ? 'GET' : 'POST',
        headers: { cookie, origin: link.origin, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect([route, answer.ok]).toEqual([route, true]);
      return answer.json();
    };
    const asked: string[][] = [];
    for (let number = 0; number < 2; number += 1) {
      const ids: string[] = [];
      asked.push(ids);
      const { run } = (await call('/runs', { request: 'go' })) as { run: string };
      await until(async () => {
        const { pending } = (await call('/approvals')) as { pending: readonly { id: string }[] };
        for (const { id } of pending.filter((question) => !ids.includes(question.id))) {
          ids.push(id);
          await call(`/approvals/${id}`, { verdict: 'yes', scope: 'run' });
        }
        return ((await call(`/runs/${run}`)) as { run: { state: string } }).run.state === 'done';
      });
    }
    expect(asked).toEqual([[expect.any(String)], [expect.any(String)]]);
  },
);
