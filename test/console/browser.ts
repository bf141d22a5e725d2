/** Chromium of the system, driven by playwright-core. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type * as Playwright from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { chromiumProgram, has } from '../needs.ts';

/** The program, if it starts. */
export const CHROMIUM = has('chromium') ? chromiumProgram() : undefined;

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
