import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, onTestFinished, TestRunner } from 'vitest';

import { main } from '../../src/cli/main.ts';
import { PROJECT } from '../files-below.ts';

/**
 * Three ways to run a command line:
 * - `cli`, in this process, for commands that read nothing but their arguments; the test sets streams, terminal width and environment.
 * - `runCli`, in this process, with the working folder and the environment that a command has. The usual one.
 * - `spawnCli`, the built command in a process of its own, for tests of the process (signals, stdin, overlapping commands) and of the build.
 */

/**
 * Compiled code and probe reports of this run, so that a command in a fresh home folder need not spend two seconds on probing the sandbox.
 * Tests of the cache pass another folder.
 */
const shared = process.env['TEST_CACHE_DIR'];
export const SHARED_CACHE: Readonly<Record<string, string>> =
  shared === undefined ? {} : { SKILLWRIGHT_CACHE_DIR: shared };

export interface CliResult {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Runs a command line in this process and returns what it wrote. */
export async function cli(
  cwd: string,
  words: readonly string[],
  { env = {}, isTTY = false, columns }: CliOptions = {},
): Promise<CliResult> {
  let out = '';
  let err = '';
  const stream = (write: (text: string) => void): { write(text: string): void; isTTY: boolean; columns?: number } => ({
    write,
    isTTY,
    columns,
  });
  const status = await main({
    words: ['--cwd', cwd, ...words],
    streams: { stdout: stream((text) => (out += text)), stderr: stream((text) => (err += text)) },
    env: { ...SHARED_CACHE, ...env },
    signal: new AbortController().signal,
  });
  return { status, out, err };
}

/**
 * Runs a command line in this process, in the surroundings that `spawnCli` gives the built command. A start of Node and its modules takes
 * several times as long as most commands, so a test spawns the command only if the process itself matters. Calls must not overlap.
 */
export async function runCli(
  cwd: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  if (isRunning) throw new Error('two overlapping calls of runCli: use spawnCli');
  isRunning = true;
  const before = { cwd: process.cwd(), env: { ...process.env } };
  replaceEnvironment({ ...testRunnerVariables(before.env), ...commandEnvironment(cwd), ...env });
  process.chdir(cwd);
  let out = '';
  let err = '';
  try {
    const status = await main({
      words,
      streams: { stdout: { write: (text) => (out += text) }, stderr: { write: (text) => (err += text) } },
      env: process.env,
      signal: new AbortController().signal,
    });
    return { status, out, err };
  } finally {
    process.chdir(before.cwd);
    replaceEnvironment(before.env);
    isRunning = false;
  }
}

let isRunning = false;

function commandEnvironment(cwd: string): Readonly<Record<string, string>> {
  return { PATH: process.env['PATH'] ?? '', HOME: path.join(cwd, 'home'), ...SHARED_CACHE };
}

function testRunnerVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => /^(?:VITEST|NODE_ENV|TEST)/.test(name)));
}

/** The variables of the process itself, because `os.tmpdir()` and programs that it starts do not read a copy. */
function replaceEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
}

/** Runs the built command in a process of its own; `wrap` changes its command line. */
export function spawnCli(
  cwd: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  wrap: (argv: readonly string[]) => readonly string[] = (argv) => argv,
): Promise<CliResult> {
  const [command = '', ...args] = wrap([process.execPath, path.join(PROJECT, 'dist/command/skillwright.js'), ...words]);
  return new Promise((resolve) => {
    const options = {
      cwd,
      env: { ...commandEnvironment(cwd), ...env },
      timeout: 170_000,
      maxBuffer: 256 * 1024 * 1024,
    };
    execFile(command, args, options, (error, out, err) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ status, out, err });
    });
  });
}

/** A folder that is gone after the test, or after all tests of the file if none runs yet. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'skillwright-test-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  // A hook that a running test registers never runs.
  if (TestRunner.getCurrentTest() === undefined) afterAll(remove);
  else onTestFinished(remove);
  return folder;
}

/** Writes files below a folder; the keys are relative paths. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [relative, text] of Object.entries(files)) {
    const file = path.join(folder, relative);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

export function skillText(name: string, description: string, rest = ''): string {
  return `---\nname: ${name}\ndescription: ${description}\n${rest}---\n\n# ${name}\n\nDo it well.\n`;
}
