import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SKILLS = fileURLToPath(new URL('../../skills/', import.meta.url));

export interface Outcome {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly text: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a real process; a timeout or a signal counts as code -1. */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const env: NodeJS.ProcessEnv = { ...process.env, ...options.env };
  if (options.env?.['OUTPUT_DIR'] === undefined) delete env['OUTPUT_DIR'];
  return new Promise((resolve) => {
    execFile(
      command,
      [...args],
      {
        env,
        timeout: 170_000,
        maxBuffer: 256 * 1024 * 1024,
        encoding: 'buffer',
        cwd: options.cwd,
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, stderr: stderr.toString('utf8'), text: stdout.toString('utf8') });
      },
    );
  });
}

export async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'skillwright-skills-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether a program can be started; the reason is printed once when it cannot. */
export function has(command: string, why: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    console.warn(`skipping ${why}: ${command} is not installed`);
    return false;
  }
}

/** A small repeatable random source. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

export function pick<Item>(random: (below: number) => number, items: readonly Item[]): Item {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}
