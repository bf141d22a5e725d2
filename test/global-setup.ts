import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { PROJECT } from './files-below.ts';

/** What some tests run things with; installed where we may, else those tests say why they are skipped. */
const PACKAGES = [
  ['/usr/bin/bwrap', 'bubblewrap'],
  ['/usr/sbin/dockerd', 'docker.io'],
  ['/usr/bin/minisign', 'minisign'],
  ['/usr/bin/chromium', 'chromium'],
] as const;

/** One by one: a large one that does not arrive in time must not keep the others away. */
function installPackages(): void {
  const missing = PACKAGES.filter(([file]) => !existsSync(file)).map(([, name]) => name);
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  const options = {
    stdio: 'ignore',
    timeout: 240_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  } as const;
  const steps = [
    ['update', '-qq'],
    ...missing.map((name) => ['install', '-y', '-qq', '--no-install-recommends', name]),
  ];
  for (const step of steps) {
    try {
      execFileSync('apt-get', step, options);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      console.log(`apt-get ${step.join(' ')}: ${error.message}`);
    }
  }
}

/** Some tests start the built command and built modules in processes of their own: the build must be there. */
export function setup(): void {
  installPackages();
  if (existsSync(path.join(PROJECT, 'dist/command/skillwright.js'))) return;
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: PROJECT, stdio: 'inherit', timeout: 300_000 });
}
