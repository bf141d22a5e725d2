import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { PACKAGES, PROGRAMS, has, probeAll } from './needs.ts';
import { stopSharedEngine } from './sandbox/docker-engine.ts';

/** Makes the cache folder that the commands of this run share, and installs missing programs if SKILLWRIGHT_TEST_INSTALL=1. */
export function setup(): () => Promise<void> {
  probeAll();
  if (process.env['SKILLWRIGHT_TEST_INSTALL'] === '1' && installMissing()) probeAll();
  const cache = mkdtempSync(path.join(os.tmpdir(), 'skillwright-test-cache-'));
  // Read by test/cli/run-cli.ts.
  process.env['TEST_CACHE_DIR'] = cache;
  return async () => {
    await stopSharedEngine(cache);
    rmSync(cache, { recursive: true, force: true });
  };
}

/** Installs one package at a time, so that a large one that times out does not cost the others. Returns whether it tried. */
function installMissing(): boolean {
  const names = PROGRAMS.filter((need) => !has(need)).map((need) => PACKAGES[need] ?? need);
  if (names.length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const steps = [
    ['update', '-qq'],
    ...[...new Set(names)].map((name) => ['install', '-y', '-qq', '--no-install-recommends', name]),
  ];
  for (const step of steps) {
    try {
      execFileSync('apt-get', step, { stdio: 'ignore', timeout: 240_000, env });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      console.log(`apt-get ${step.join(' ')}: ${error.message}`);
    }
  }
  return true;
}
