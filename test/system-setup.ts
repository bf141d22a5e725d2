import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { stopSharedEngine } from './sandbox/docker-engine.ts';

/** Programs that system tests run, with the Debian package of each. */
const PROGRAMS = [
  { file: '/usr/bin/bwrap', package: 'bubblewrap' },
  { file: '/usr/sbin/dockerd', package: 'docker.io' },
  { file: '/usr/bin/minisign', package: 'minisign' },
  { file: '/usr/bin/chromium', package: 'chromium' },
  { file: '/usr/lib/postgresql', package: 'postgresql' },
] as const;

/**
 * Makes the cache folder that the commands of this run share. Installs missing programs if SKILLWRIGHT_TEST_INSTALL=1; otherwise says once
 * per program which tests are skipped.
 */
export function setup(): () => Promise<void> {
  if (process.env['SKILLWRIGHT_TEST_INSTALL'] === '1') installMissing();
  const cache = mkdtempSync(path.join(os.tmpdir(), 'skillwright-test-cache-'));
  // Read by test/cli/run-cli.ts.
  process.env['TEST_CACHE_DIR'] = cache;
  for (const { file, package: name } of missing())
    console.log(
      `skipped: tests that need ${name}, because ${file} does not exist (install ${name}, or run as root with SKILLWRIGHT_TEST_INSTALL=1)`,
    );
  return async () => {
    await stopSharedEngine(cache);
    rmSync(cache, { recursive: true, force: true });
  };
}

function missing(): readonly (typeof PROGRAMS)[number][] {
  return PROGRAMS.filter(({ file }) => !existsSync(file));
}

/** Installs one package at a time, so that a large one that times out does not cost the others. */
function installMissing(): void {
  const names = missing().map(({ package: name }) => name);
  if (names.length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const steps = [['update', '-qq'], ...names.map((name) => ['install', '-y', '-qq', '--no-install-recommends', name])];
  for (const step of steps) {
    try {
      execFileSync('apt-get', step, { stdio: 'ignore', timeout: 240_000, env });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      console.log(`apt-get ${step.join(' ')}: ${error.message}`);
    }
  }
}
