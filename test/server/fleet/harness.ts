/** A fleet of the built command: a database, one server, and workers that end with their test. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

import { openFleetClient } from '../../../src/client.ts';
import type { FleetClient } from '../../../src/client.ts';
import { spawnCli, temporaryFolder } from '../../cli/run-cli.ts';
import { PROJECT } from '../../files-below.ts';
import { openPostgres } from './postgres.ts';
import type { Postgres } from './postgres.ts';

const COMMAND = path.join(PROJECT, 'dist/command/skillwright.js');

export interface FleetWorld {
  readonly postgres: Postgres;
  /** The working folder of all commands. */
  readonly project: string;
  readonly home: string;
  readonly url: string;
  readonly secret: string;
  readonly admin: FleetClient;
  readonly env: Readonly<Record<string, string>>;
  /** Starts a worker with this script and waits until it works. */
  readonly startWorker: (script: object, ...words: readonly string[]) => Promise<ChildProcess>;
  readonly close: () => Promise<void>;
}

/** `skills`: SKILL.md and other files by path below the skills of the user. */
export async function openFleetWorld(
  skills: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<FleetWorld> {
  const postgres = await openPostgres();
  const base = temporaryFolder();
  const [project, home] = [path.join(base, 'project'), path.join(base, 'home')];
  mkdirSync(project);
  for (const [name, text] of Object.entries(skills)) {
    const file = path.join(home, '.agents/skills', name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: name.endsWith('.sh') ? 0o755 : 0o644 });
  }
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, SKILLWRIGHT_DATABASE_URL: postgres.url };
  const made = await spawnCli(project, ['fleet', 'keys', 'create', 'admin', '--rights', 'admin'], env);
  if (made.status !== 0) throw new Error(made.err);
  const secret = made.out.trim();
  const start = (given: readonly string[], line: RegExp): Promise<readonly [ChildProcess, string]> => {
    const child = spawn(process.execPath, [COMMAND, ...given], { cwd: project, env, stdio: 'pipe' });
    let output = '';
    return new Promise((resolve, reject) => {
      const take = (data: Buffer): void => {
        output += data.toString();
        const found = line.exec(output);
        if (found !== null) resolve([child, found[1] ?? '']);
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      child.on('close', (code) => reject(new Error(`${given.join(' ')} ended with ${String(code)}: ${output}`)));
    });
  };
  const [server, url] = await start(['serve', '--port', '0', ...words], /(http:\S+)\n/);
  return {
    postgres,
    project,
    home,
    url,
    secret,
    env,
    admin: openFleetClient({ url, key: secret }),
    async startWorker(script, ...more) {
      const file = path.join(temporaryFolder(), 'script.json');
      writeFileSync(file, JSON.stringify(script));
      const data = path.join(temporaryFolder(), 'worker');
      const [child] = await start(
        ['worker', '--model', `scripted:${file}`, '--data', data, ...more],
        /^worker (\S+):/m,
      );
      onTestFinished(() => stop(child, 'SIGKILL'));
      return child;
    },
    async close() {
      await stop(server, 'SIGKILL');
      postgres.close();
    },
  };
}

export async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.on('close', () => resolve());
  });
  child.kill(signal);
  await ended;
}

export async function until(isDone: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isDone())) await sleep(50);
}
