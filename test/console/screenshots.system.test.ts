/** Makes the pictures of docs/console.md: npm run screenshots. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { PROJECT } from '../files-below.ts';
import { openBrowser } from './browser.ts';
import { openConsoleWorld } from './console-world.ts';
import { needs } from '../needs.ts';

const FOLDER = process.env['SCREENSHOTS'];
const SIZES = [
  ['wide', 1440, 860],
  ['tablet', 768, 1024],
  ['phone', 360, 780],
] as const;

describe('screenshots', needs('chromium'), () => {
  test('of every page, at three widths, light and dark', async () => {
    const world = await openConsoleWorld({ isTidy: true });
    const browser = await openBrowser();
    try {
      const call = async (target: string, body?: object): Promise<unknown> => {
        const response = await fetch(`${world.server.url}/api/v1${target}`, {
          headers: { authorization: `Bearer ${world.server.token}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        });
        return response.json();
      };
      const start = async (request: string): Promise<string> =>
        ((await call('/runs', { request })) as { run: string }).run;
      const questions = async (): Promise<readonly { id: string; run?: string }[]> =>
        ((await call('/approvals')) as { pending: readonly { id: string; run?: string }[] }).pending;
      const answered = async (request: string, answer: object): Promise<string> => {
        const run = await start(request);
        await expect.poll(questions).toHaveLength(1);
        const [question] = await questions();
        await call(`/approvals/${question?.id ?? ''}`, answer);
        await expect
          .poll(async () => ((await call(`/runs/${run}`)) as { run: { state: string } }).run.state)
          .not.toBe('running');
        return run;
      };
      await start('How many rows are in sales.csv?');
      const request = 'Write release notes from the changelog';
      const runs = [
        await answered(request, { verdict: 'yes', scope: 'once' }),
        await answered(request, { verdict: 'no', reason: 'keep the old notes' }),
      ];
      writeFileSync(path.join(world.project, 'NOTES.md'), '# Notes\n\n- Nothing yet\n');
      const waiting = await start(request);
      await start('Run the program');
      await expect.poll(questions).toHaveLength(2);
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
      const wanted = new RegExp(process.env['PICTURES'] ?? '');
      const folder = path.resolve(PROJECT, FOLDER ?? '');
      mkdirSync(folder, { recursive: true });
      for (const scheme of ['light', 'dark'] as const) {
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
          await page.setViewportSize({ width, height });
          for (const [name, hash] of Object.entries(pages)) {
            const picture = `${name}-${size}-${scheme}`;
            if (!wanted.test(picture)) continue;
            await page.goto(`${world.server.url}/#/${hash}`);
            await page.waitForLoadState('load');
            await page.locator('main').waitFor();
            await expect.poll(() => page.locator('.loading, .placeholder').count()).toBe(0);
            // Program output and streams arrive after the page.
            await page.waitForTimeout(400);
            await page.screenshot({ path: path.join(folder, `${picture}.png`) });
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
