/** Makes the pictures of docs/console.md: npm run screenshots. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { CHROMIUM, openBrowser } from './browser.ts';
import { openConsoleWorld } from './console-world.ts';

const FOLDER = process.env['SCREENSHOTS'];
const SIZES = [
  ['wide', 1440, 900],
  ['tablet', 768, 1024],
  ['phone', 360, 780],
] as const;

describe.skipIf(CHROMIUM === undefined || FOLDER === undefined)('screenshots', () => {
  test('of every page, at three widths, light and dark', async () => {
    const world = await openConsoleWorld({ isTidy: true });
    const browser = await openBrowser();
    try {
      const start = async (request: string): Promise<string> => {
        const response = await fetch(`${world.server.url}/api/v1/runs`, {
          method: 'POST',
          headers: { authorization: `Bearer ${world.server.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ request }),
        });
        const { run } = (await response.json()) as { run: string };
        return run;
      };
      const runs = [await start('How many rows are in sales.csv?'), await start('hostile request <b>bold</b>')];
      const waiting = await start('Write release notes from the changelog');
      await start('Run the program');
      await expect
        .poll(async () => {
          const response = await fetch(`${world.server.url}/api/v1/approvals`, {
            headers: { authorization: `Bearer ${world.server.token}` },
          });
          const { pending } = (await response.json()) as { pending: readonly unknown[] };
          return pending.length;
        })
        .toBe(2);
      const pages = {
        skills: 'skills',
        skill: `skills/${encodeURIComponent(world.runtime.find('release-notes').id)}`,
        install: 'install',
        catalog: 'catalog',
        ask: `ask/${waiting}`,
        approvals: 'approvals',
        runs: 'runs',
        run: `runs/${waiting}`,
        compare: `runs/compare/${runs.join('/')}`,
        evaluations: 'evaluations',
        report: 'evaluations/20261114T101500',
        cases: 'evaluations/20261114T101500/cases',
        case: 'evaluations/20261114T101500/case/0',
        trigger: 'evaluations/20261114T101500/trigger',
        changes: 'evaluations/20261114T101500/changes?against=20261110T101500',
        policy: 'policy',
      };
      const wanted = process.env['PAGES']?.split(',') ?? Object.keys(pages);
      const folder = path.resolve(PROJECT, FOLDER ?? '');
      mkdirSync(folder, { recursive: true });
      for (const scheme of ['light', 'dark'] as const) {
        if (!(process.env['SCHEMES'] ?? scheme).includes(scheme)) continue;
        const context = await browser.newContext({ colorScheme: scheme, locale: process.env['LOCALE'] ?? 'en' });
        // The temporary folder of the test is of no interest.
        await context.route(/\/api\/v1\/(?!changes|runs\/[^/]+\/live)/, async (route) => {
          const response = await route.fetch();
          const text = await response.text();
          await route.fulfill({
            response,
            body: text.replaceAll(world.project, '/home/dana/shop').replaceAll(world.root, '/home/dana'),
          });
        });
        const page = await context.newPage();
        await page.goto(world.server.newLink());
        for (const [size, width, height] of SIZES) {
          if (process.env['SIZES'] !== undefined && !process.env['SIZES'].includes(size)) continue;
          await page.setViewportSize({ width, height });
          for (const [name, hash] of Object.entries(pages)) {
            if (!wanted.includes(name)) continue;
            await page.goto(`${world.server.url}/#/${hash}`);
            await page.waitForLoadState('load');
            await page.locator('main').waitFor();
            await page.waitForTimeout(700);
            await page.screenshot({ path: path.join(folder, `${name}-${size}-${scheme}.png`) });
          }
        }
        await context.close();
      }
    } finally {
      await browser.close();
      await world.close();
    }
  });
});
