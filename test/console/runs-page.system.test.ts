import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { needs } from '../needs.ts';
import { openConsolePage, type ConsolePage } from './open-page.ts';

describe('the list of runs', needs('chromium'), () => {
  let opened: ConsolePage;
  let page: Page;
  beforeAll(async () => {
    opened = await openConsolePage();
    ({ page } = opened);
  });
  afterAll(() => opened.close());

  test('is filtered, sorted and counted, and the address keeps the view', async () => {
    for (const request of ['How many rows?', 'Count the rows', 'Say hello']) {
      const run = await opened.start(request);
      await expect.poll(() => opened.call(`/runs/${run}`)).toMatchObject({ run: { state: 'done' } });
    }
    await opened.open('runs');
    await page.getByText('3 runs', { exact: true }).waitFor();
    await page.locator('.run-line', { hasText: 'Say hello' }).getByText('$0.0046').waitFor();
    await page.getByText('Runs per day').waitFor();
    expect(await page.locator('.day-bars button').getAttribute('aria-label')).toMatch(
      /: 3 runs, 0 failed, 5,808 tokens, /,
    );
    await page.getByLabel('Search requests and skills').fill('rows');
    await page.getByText('2 runs', { exact: true }).waitFor();
    await page.getByRole('group', { name: 'Sort by' }).getByRole('button', { name: 'Tokens' }).click();
    await page.getByLabel('From day').fill('2020-01-01');
    await expect.poll(() => page.url()).toContain('#/runs?query=rows&sort=tokens&order=down&from=2020-01-01');
    await page.reload();
    await page.getByText('2 runs', { exact: true }).waitFor();
    expect(await page.getByLabel('From day').inputValue()).toBe('2020-01-01');
    await page.getByLabel('To day').fill('2020-01-02');
    await page.getByText('No run matches').waitFor();
    await page.getByRole('link', { name: 'Clear' }).click();
    await page.getByText('3 runs', { exact: true }).waitFor();
  });
});
