/** A fleet of real processes: PostgreSQL, the built command as server and workers. Also used by `npm run bench`. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { openFleetClient, type FleetClient } from '../../src/client.ts';
import { openPostgres, type Postgres } from './postgres.ts';

const SKILL = '---\nname: greet\ndescription: Greets people. Use when someone says hello.\n---\nSay hello.\n';

export interface Started {
  readonly child: ChildProcess;
  /** What the line says that was waited for. */
  readonly found: string;
}

export interface FleetProcesses {
  readonly postgres: Postgres;
  /** A folder that is removed with the fleet. */
  readonly folder: string;
  /** Replaces the database that processes talk to, as with a proxy before it. */
  env(database?: string): Record<string, string>;
  /** Starts a command and waits for a line of its output. */
  start(words: readonly string[], line: RegExp, env?: Readonly<Record<string, string>>): Promise<Started>;
  /** Starts a server; returns a client with all rights. */
  serve(...words: readonly string[]): Promise<Started & { readonly admin: FleetClient; readonly secret: string }>;
  /** Starts a worker with a scripted model. */
  worker(script: object, ...words: readonly string[]): Promise<Started>;
  /** Runs a command to its end and returns its standard output. */
  run(...words: readonly string[]): string;
  close(): Promise<void>;
}

export async function openFleetProcesses(
  project: string,
  { fsync = false }: { readonly fsync?: boolean } = {},
): Promise<FleetProcesses> {
  const command = path.join(project, 'dist/command/skillwright.js');
  const postgres = await openPostgres({ fsync });
  const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-fleet-'));
  const [cwd, home] = [path.join(folder, 'project'), path.join(folder, 'home')];
  mkdirSync(path.join(home, '.agents/skills/greet'), { recursive: true });
  mkdirSync(cwd);
  writeFileSync(path.join(home, '.agents/skills/greet/SKILL.md'), SKILL);
  const children = new Set<ChildProcess>();
  let files = 0;
  const env: FleetProcesses['env'] = (database = postgres.url) => ({
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    SKILLWRIGHT_DATABASE_URL: database,
  });
  const start: FleetProcesses['start'] = async (words, line, given = env()) => {
    const { child, found } = startCommand([command, ...words], line, { cwd, env: given });
    children.add(child);
    return { child, found: await found };
  };
  const run: FleetProcesses['run'] = (...words) =>
    execFileSync(process.execPath, [command, ...words], {
      cwd,
      env: env(),
      timeout: 120_000,
      stdio: 'pipe',
    }).toString();
  return {
    postgres,
    folder,
    env,
    start,
    run,
    async serve(...words) {
      const secret = run('fleet', 'keys', 'create', 'admin', '--rights', 'admin').trim();
      const serving = await start(['serve', '--port', '0', ...words], /(http:\S+)\n/);
      return { ...serving, secret, admin: openFleetClient({ url: serving.found, key: secret }) };
    },
    worker(script, ...words) {
      files += 1;
      const file = path.join(folder, `script-${String(files)}.json`);
      writeFileSync(file, JSON.stringify(script));
      const data = path.join(folder, `worker-${String(files)}`);
      return start(
        ['worker', '--model', `scripted:${file}`, '--data', data, '--executor', 'none', ...words],
        /^worker (\S+):/m,
      );
    },
    async close() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all([...children].map(ended));
      postgres.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A folder that programs may write to: root's programs run as another user. The caller removes it. */
export function openEffects(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-effects-'));
  chmodSync(folder, 0o777);
  return folder;
}

/** Starts Node with these words. `found` resolves to what a line of its output says, and rejects if it ends before. */
export function startCommand(
  words: readonly string[],
  line: RegExp,
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): { readonly child: ChildProcess; readonly found: Promise<string> } {
  const child = spawn(process.execPath, [...words], { ...place, stdio: 'pipe' });
  let output = '';
  const found = new Promise<string>((resolve, reject) => {
    const take = (data: Buffer): void => {
      output += data.toString();
      const match = line.exec(output);
      if (match !== null) resolve(match[1] ?? '');
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    // Not `close`: a program that the process started may still have its pipes.
    child.on('exit', (code) => reject(new Error(`${words.join(' ')} ended with ${String(code)}: ${output}`)));
  });
  return { child, found };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.on('exit', () => resolve());
  });
}

export async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  child.kill(signal);
  await ended(child);
}

export async function until(isDone: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isDone())) await sleep(50);
}

/** Tries again while a server or the database is down. */
export async function retried<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (attempt === 3_000) throw error;
      await sleep(200);
    }
  }
}
