/** The console of a fleet in Chromium: one fleet, one browser, from the key to the answer. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { CHROMIUM, openBrowser } from '../../console/browser.ts';
import { stop } from './fleet-processes.ts';
import { openFleetWorld } from './harness.ts';
import type { FleetWorld } from './harness.ts';
import { POSTGRES } from './postgres.ts';

const SKILL = '---\nname: bill\ndescription: Bills people. Use to bill someone.\n---\nRun scripts/bill.sh.\n';

describe.skipIf(POSTGRES === undefined || CHROMIUM === undefined)('the console of a fleet', () => {
  let world: FleetWorld;

  beforeAll(async () => {
    world = await openFleetWorld({ 'bill/SKILL.md': SKILL, 'bill/scripts/bill.sh': '#!/bin/sh\necho billed\n' });
  }, 240_000);
  afterAll(() => world.close(), 120_000);

  test('log in with a key, see the runs and an answer; pages of one machine say so', async () => {
    const browser = await openBrowser();
    const pageFor = async (key: string): Promise<Page> => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
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
    } finally {
      await browser.close();
    }
  }, 240_000);
});
