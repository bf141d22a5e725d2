import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { needs } from '../needs.ts';
import { recordLongRun } from './console-world.ts';
import { openConsolePage, type ConsolePage } from './open-page.ts';

describe('the page of a run', needs('chromium'), () => {
  let opened: ConsolePage;
  let page: Page;
  beforeAll(async () => {
    opened = await openConsolePage();
    ({ page } = opened);
  });
  afterAll(() => opened.close());
  const { open, start } = {
    open: (hash: string) => opened.open(hash),
    start: (request: string) => opened.start(request),
  };
  const button = (name: string) => page.getByRole('button', { name });
  const state = (name: string) => page.locator('.run-facts .badge', { hasText: name });

  test('reads a run: bars by time, what came out, search, a link to a step, keys', async () => {
    const run = await start('a report of sales');
    await open(`runs/${run}`);
    for (let question = 0; question < 3; question += 1) {
      const yes = button('Yes, for this run');
      const shown = await yes.elementHandle();
      await yes.click();
      // The next question may take its place at once, with a button of the same name.
      await page.waitForFunction((element) => element?.isConnected !== true, shown);
    }
    await state('done').waitFor();
    const lanes = await page.locator('.lane i').evaluateAll((bars) =>
      bars.map((bar) => {
        const { left, width } = bar.getBoundingClientRect();
        const room = bar.parentElement?.getBoundingClientRect();
        return { kind: bar.className, left, isInside: width > 0 && left >= (room?.left ?? 0) - 1 };
      }),
    );
    expect(lanes.filter(({ isInside }) => !isInside)).toEqual([]);
    expect(new Set(lanes.map(({ kind }) => kind))).toEqual(
      new Set(['of-model', 'of-approval', 'of-program', 'of-tool']),
    );
    const models = lanes.filter(({ kind }) => kind === 'of-model').map(({ left }) => left);
    expect(models).toEqual(models.toSorted((one, two) => one - two));
    await page.getByText('9,200 tokens in, 480 out').waitFor();
    expect(await page.locator('.run-facts b').textContent()).toBe('$0.0232');
    expect(await page.locator('.step-usd', { hasText: '$' }).count()).toBe(5);
    expect(await page.locator('main').textContent()).not.toMatch(/limits (?:held|enforced)|characters printed|by file/);
    // What a program printed is there without a click; opened, it is a table, a tree and an error.
    await page.locator('.step-preview', { hasText: 'no such column: margin' }).waitFor();
    await page.locator('.step-head', { hasText: 'printf' }).click();
    await page.getByRole('cell', { name: '1200' }).waitFor();
    await button('Text').click();
    await page.locator('.content pre', { hasText: 'north,1200' }).waitFor();
    await page.locator('.step-head', { hasText: 'sleep' }).click();
    await page
      .locator('.json-leaf', { hasText: 'north: 900' })
      .or(page.locator('.json-leaf', { hasText: 'north: 1200' }))
      .waitFor();
    // The server searches the whole record; Enter goes from hit to hit.
    await page.keyboard.press('/');
    await page.keyboard.type('MARGIN');
    await page.getByText('2 matching steps').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.step.active .step-title').textContent()).toContain('no such column');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await expect.poll(() => page.locator(':focus').textContent()).toContain('read_file CHANGELOG.md');
    await page.locator('.step.active .step-link').click();
    expect(page.url()).toMatch(/\/step\/\d+$/);
    await page.locator('.step.active .step-body', { hasText: 'Search is faster' }).waitFor();
    await page.reload();
    await page.locator('.step.active .step-body', { hasText: 'Search is faster' }).waitFor();
    await expect.poll(() => page.locator(':focus').textContent()).toContain('read_file CHANGELOG.md');
  });

  test('draws only the steps near the window, and goes to any of thousands', async () => {
    const longRun = recordLongRun(opened.world);
    await open(`runs/${longRun}/step/4321`);
    await page.locator('.step.active', { hasText: 'event 4321' }).waitFor();
    expect(await page.locator('.step').count()).toBeLessThan(400);
    await page.keyboard.press('/');
    await page.keyboard.type('event 2222');
    await page.getByText('1 matching step').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.step.active').textContent()).toContain('event 2222');
    expect(await page.locator('.step').count()).toBeLessThan(400);
  });
});
