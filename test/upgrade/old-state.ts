/** What version 0.1.0 left behind, at the path where it was made (`make-state.js`): trust and records name their folder. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';

import { acquireLock } from '#platform';
import { runCli, type CliResult } from '../cli/run-cli.ts';
import { PROJECT } from '../files-below.ts';

export const FOLDER = '/tmp/skillwright-0.1.0';
export const IN_PROJECT = path.join(FOLDER, 'project');
export const HOME = path.join(FOLDER, 'home');

/** Every test gets the state anew. Test runs on one machine take turns. */
export function useOldState(): void {
  let lock: Awaited<ReturnType<typeof acquireLock>>;
  beforeAll(async () => {
    lock = await acquireLock(`${FOLDER}.lock`, { timeoutMs: 100_000, heartbeatMs: 1_000 });
    if (lock === undefined) throw new Error(`another test run has ${FOLDER}.lock`);
  }, 120_000);
  beforeEach(() => {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER);
    execFileSync('tar', ['xzf', path.join(PROJECT, 'test/upgrade/state-0.1.0.tar.gz'), '-C', FOLDER]);
  });
  afterAll(() => {
    rmSync(FOLDER, { recursive: true, force: true });
    lock?.release();
  });
}

export function cli(...words: readonly string[]): Promise<CliResult> {
  return runCli(IN_PROJECT, words, { HOME });
}

/** The run that `make-state.js` calls by this name. */
export async function runCalled(name: string): Promise<string> {
  const { out } = await cli('runs', 'list', '--json');
  const { runs } = JSON.parse(out) as {
    readonly runs: readonly { readonly id: string; readonly run: { readonly request: string } }[];
  };
  return runs.find(({ run }) => run.request === `The run ${name}: greet Ada.`)?.id ?? `no run ${name}`;
}

export function inProject(file: string): string | undefined {
  const target = path.join(IN_PROJECT, file);
  return existsSync(target) ? readFileSync(target, 'utf8') : undefined;
}
