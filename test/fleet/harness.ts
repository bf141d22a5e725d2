/** A fleet of the built command: a database, one server, and workers that end with their test. */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';

import { openFleetClient, type FleetClient } from '../../src/client.ts';
import { SHARED_CACHE, spawnCli, temporaryFolder } from '../cli/run-cli.ts';
import { PROJECT } from '../files-below.ts';
import { startCommand, stop } from './fleet-processes.ts';
import { openPostgres, type Postgres } from './postgres.ts';

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
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, SKILLWRIGHT_DATABASE_URL: postgres.url, ...SHARED_CACHE };
  const made = await spawnCli(project, ['fleet', 'keys', 'create', 'admin', '--rights', 'admin'], env);
  if (made.status !== 0) throw new Error(made.err);
  const secret = made.out.trim();
  const start = async (given: readonly string[], line: RegExp): Promise<readonly [ChildProcess, string]> => {
    const { child, found } = startCommand([COMMAND, ...given], line, { cwd: project, env });
    return [child, await found];
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
