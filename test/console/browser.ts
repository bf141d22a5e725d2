/** Chromium of the system, driven by playwright-core. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type * as Playwright from 'playwright-core';
import type { Browser, Page } from 'playwright-core';

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

const require = createRequire(import.meta.url);

export function openBrowser(): Promise<Browser> {
  // An import would search its four megabytes for exports first.
  const { chromium }: typeof Playwright = require('playwright-core');
  return chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
  });
}

/** Serious violations of WCAG AA on a page, or only of its contrast. */
export async function violations(page: Page, isOnlyContrast = false): Promise<readonly string[]> {
  // The policy of the page allows no other script, so it is evaluated by the browser itself.
  if ((await page.evaluate('typeof axe')) === 'undefined')
    await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  return page.evaluate<readonly string[]>(
    `axe.run('body', { iframes: false, resultTypes: ['violations'], runOnly: ${isOnlyContrast ? "['color-contrast']" : "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']"} }).then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ target }) => target.join(' ')).join(', ')))`,
  );
}
