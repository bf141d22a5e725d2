/** Chromium of the system, driven by playwright-core. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

function find(): string | undefined {
  const found = PROGRAMS.find((program) => existsSync(program));
  if (found !== undefined || process.env['SKILLWRIGHT_TEST_INSTALL'] !== '1') return found;
  execFileSync('apt-get', ['install', '-y', '-q', 'chromium'], { stdio: 'ignore' });
  return PROGRAMS.find((program) => existsSync(program));
}

export const CHROMIUM = find();
if (CHROMIUM === undefined)
  console.log('skipping the tests of the console: chromium is not installed (SKILLWRIGHT_TEST_INSTALL=1 installs it)');

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
}
