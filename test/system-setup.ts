import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import { PACKAGES, PROGRAMS, has, probeAll } from './needs.ts';
import { stopSharedEngine } from './sandbox/docker-engine.ts';

/** Installs missing programs if SKILLWRIGHT_TEST_INSTALL=1, and stops the container engine that the tests shared. */
export function setup(): () => Promise<void> {
  probeAll();
  if (process.env['SKILLWRIGHT_TEST_INSTALL'] === '1' && installMissing()) probeAll();
  return async () => {
    const cache = process.env['TEST_CACHE_DIR'];
    if (cache !== undefined) await stopSharedEngine(cache);
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
