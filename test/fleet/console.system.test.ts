/** The console of a fleet in Chromium: one fleet, one browser, from the key to the answer. */
import { readFileSync } from 'node:fs';

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { spawnCli } from '../cli/run-cli.ts';
import { openBrowser } from '../console/browser.ts';
import { stop, until } from './fleet-processes.ts';
import { openFleetWorld, type FleetWorld } from './harness.ts';
import { needs } from '../needs.ts';

const SKILL = '---\nname: bill\ndescription: Bills people. Use to bill someone.\n---\nRun scripts/bill.sh.\n';

const BILL = { name: 'run_script', input: { skill: 'bill', script: 'scripts/bill.sh' } };

/** Makes the streams of a page reachable, so that a test can cut them. */
const KEEP_STREAMS = `globalThis.streams = [];
globalThis.EventSource = class extends EventSource {
  constructor(...given) {
    super(...given);
    streams.push(this);
  }
};`;

describe('the console of a fleet', needs('postgresql', 'chromium'), () => {
  let world: FleetWorld;

  beforeAll(async () => {
    world = await openFleetWorld({
      'bill/SKILL.md': SKILL,
      'bill/scripts/bill.sh': '#!/bin/sh\necho billed > out/bill.txt\n',
    });
  }, 240_000);
  afterAll(() => world.close(), 120_000);

  test('log in with a key, follow a run, approve, stop and download; pages of one machine say so', async () => {
    const browser = await openBrowser();
    const pageFor = async (key: string): Promise<Page> => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      await page.addInitScript(KEEP_STREAMS);
      await page.goto(world.url);
      await page.locator('input[name=key]').fill(key);
      await page.locator('form button').click();
      await page.locator('nav.pages').waitFor();
      return page;
    };
    const shot = async (page: Page, name: string): Promise<void> => {
      const folder = process.env['SKILLWRIGHT_TEST_PICTURES'];
      if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
    };
    try {
      const page = await pageFor(world.secret);
      const state = (name: string) => page.locator('.run-facts .badge', { hasText: name });
      await page.locator('nav.pages', { hasText: 'Policy' }).waitFor();
      await expect.poll(() => page.locator('nav.pages', { hasText: 'Evaluations' }).count()).toBe(0);
      await page.goto(`${world.url}/#/evaluations`);
      await page.getByText('This page shows files of one machine').waitFor();
      await shot(page, 'local-page');

      const { run } = await world.admin.submit({ request: 'bill Ada' });
      await page.goto(`${world.url}/#/runs`);
      await page.getByText('bill Ada').first().waitFor();
      const worker = await world.startWorker({ turns: [{ text: 'Billed **Ada**.' }] });
      await world.admin.wait(run);
      await page.goto(`${world.url}/#/runs/${run}`);
      await page.getByText('Billed Ada.').waitFor();
      await state('done').waitFor();
      await shot(page, 'done');
      await stop(worker);

      // The page is open before a worker begins, and stays open until the run has ended.
      const asked = await world.admin.submit({ request: 'bill Bob' });
      await page.goto(`${world.url}/#/runs/${asked.run}`);
      await state('queued').waitFor();
      const asking = await world.startWorker(
        { turns: [{ toolCalls: [BILL] }, { text: 'never' }] },
        '--executor',
        'local',
      );
      const yes = page.getByRole('button', { name: 'Yes, once' });
      await yes.waitFor();
      await state('running').waitFor();
      await page.locator('.steps', { hasText: 'run_script' }).waitFor();
      await until(async () => (await world.admin.run(asked.run)).state === 'waiting');
      await shot(page, 'question');
      // The model is not asked again before the answer.
      expect(await page.getByText('never').count()).toBe(0);
      await stop(asking);
      const made = await spawnCli(world.project, ['fleet', 'keys', 'create', 'reader', '--rights', 'read'], world.env);
      const reader = await pageFor(made.out.trim());
      await reader.goto(`${world.url}/#/runs/${asked.run}`);
      await reader.locator('.steps', { hasText: 'run_script' }).waitFor();
      expect(await reader.getByRole('button', { name: /^(?:Stop|Yes, once|No)$/ }).count()).toBe(0);
      expect(await reader.locator('nav.pages a').allInnerTexts()).toEqual([
        'Skills',
        'Catalog and cost',
        'Runs',
        'Policy',
      ]);
      await shot(reader, 'reader');
      // This page has rows of the attempt that waits, and connects again when another one has ended.
      await reader.evaluate('streams.forEach((stream) => stream.close())');

      const billing = await world.startWorker({ turns: [{ text: 'Billed **Bob**.' }] }, '--executor', 'local');
      await yes.click();
      await page.getByText('Billed Bob.').waitFor();
      await state('done').waitFor();
      await shot(page, 'approved');
      await page.getByRole('tab', { name: 'Integrity' }).click();
      const integrity = page.locator('.integrity');
      await integrity.locator('li').nth(1).waitFor();
      const [said = '', ...records] = (await integrity.innerText()).split('\n').filter((text) => text.trim() !== '');
      expect(said).toMatch(/^intact\s+Every line is as it was recorded\.$/);
      expect(records.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
        expect.stringMatching(/^intact #1 /),
        expect.stringMatching(/^intact #2 /),
      ]);
      await page.getByRole('tab', { name: 'Steps' }).click();
      await reader.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await reader.getByText('Billed Bob.').waitFor();
      // Rows of the attempt that waited are gone: its record ended with a refusal.
      const steps = (at: Page): Promise<readonly string[]> => at.locator('.steps .step-text').allInnerTexts();
      expect((await steps(page)).filter((text) => text.includes('refused'))).toEqual([]);
      await expect.poll(() => steps(reader), { timeout: 60_000 }).toEqual(await steps(page));
      await reader.goto(`${world.url}/#/approvals`);
      await reader.getByText('Your key may not answer questions').waitFor();
      await reader.getByRole('link', { name: 'Log in with another key' }).click();
      await reader.locator('input[name=key]').waitFor();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'bill.txt' }).click(),
      ]);
      expect(readFileSync(await download.path(), 'utf8')).toBe('billed\n');
      await stop(billing);

      const unwanted = await world.admin.submit({ request: 'bill Eve' });
      await page.goto(`${world.url}/#/runs/${unwanted.run}`);
      await page.getByRole('button', { name: 'Stop' }).click();
      await state('cancelled').waitFor();
      await shot(page, 'cancelled');
      expect(await world.admin.run(unwanted.run)).toMatchObject({ state: 'ended', outcome: 'cancelled' });
    } finally {
      await browser.close();
    }
  }, 240_000);
});
