import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { needs } from '../needs.ts';
import { openConsolePage, type ConsolePage } from './open-page.ts';

describe('questions', needs('chromium'), () => {
  let opened: ConsolePage;
  let page: Page;
  beforeAll(async () => {
    opened = await openConsolePage();
    ({ page } = opened);
  });
  afterAll(() => opened.close());
  const yes = () => page.getByRole('button', { name: 'Yes, once' });
  const state = (name: string) => page.locator('.run-facts .badge', { hasText: name });
  /** A key that comes at once was meant for something else. */
  const press = async (key: string): Promise<void> => {
    await page.waitForTimeout(600);
    await page.keyboard.press(key);
  };

  test('are whole and answerable wherever the page is scrolled to, at 1280 x 800', async () => {
    const run = await opened.start('Write a long file');
    for (const hash of [`runs/${run}`, `ask/${run}`, 'approvals']) {
      await opened.open(hash);
      await yes().waitFor();
      expect(await page.locator('.diff .added').count()).toBe(400);
      for (const part of hash === 'approvals' ? [0] : [0, 0.5, 1]) {
        await page.evaluate(`scrollTo(0, document.body.scrollHeight * ${String(part)})`);
        for (const control of [yes(), page.getByRole('button', { name: 'No' }), page.getByPlaceholder(/Reason/)]) {
          const box = await control.boundingBox();
          expect([hash, part, (box?.y ?? -1) >= 52, (box?.y ?? 0) + (box?.height ?? 0) <= 800]).toEqual([
            hash,
            part,
            true,
            true,
          ]);
        }
      }
    }
    await opened.open('runs');
    await page
      .getByRole('region', { name: 'Waiting for you' })
      .getByRole('link', { name: 'write_file LONG.md' })
      .click();
    await state('waiting').waitFor();
    expect(await page.title()).toBe('(1) Runs · Skillwright');
    await press('y');
    await state('done').waitFor();
    await expect.poll(() => page.title()).toBe('Runs · Skillwright');
  });

  test('are answered by one key, but not while a person types or by a key that was meant for the page before', async () => {
    const run = await opened.start('Run the program');
    await opened.open(`runs/${run}`);
    await yes().waitFor();
    await page.keyboard.press('n');
    await page.getByPlaceholder('Search this run').fill('');
    await press('y');
    expect(await page.getByPlaceholder('Search this run').inputValue()).toBe('y');
    expect(await state('waiting').count()).toBe(1);
    await page.getByPlaceholder('Search this run').fill('');
    await page.keyboard.press('Escape');
    await press('n');
    await state('refused').waitFor();
  });

  test('of edits are not asked in the mode that accepts edits, which every page shows', async () => {
    const other = await page.context().newPage();
    await other.goto(`${opened.world.server.url}/#/ask`);
    await opened.open('approvals');
    await page.getByRole('button', { name: 'Accept edits' }).click();
    await other.locator('button[aria-pressed="true"]', { hasText: 'Accept edits' }).waitFor();
    await other.close();
    await opened.open(`runs/${await opened.start('Write a long file')}`);
    await state('done').waitFor();
    await opened.call('/mode', { mode: 'ask' });
    expect(await opened.call('/status')).toMatchObject({ mode: 'ask' });
  });

  test('notify a person who looks elsewhere, if the browser was allowed to', async () => {
    await page.addInitScript(`
      globalThis.shown = [];
      globalThis.Notification = class extends EventTarget {
        static permission = 'default';
        static async requestPermission() { this.permission = 'granted'; }
        constructor(title) { super(); shown.push(title); }
      };
      document.hasFocus = () => false;
    `);
    await page.reload();
    await opened.open('approvals');
    await page.getByRole('button', { name: 'Tell me when a run waits' }).click();
    await page.getByText('Your browser notifies you of questions.').waitFor();
    const run = await opened.start('Run the program');
    await expect.poll(() => page.evaluate('shown')).toEqual(['A run waits for your answer']);
    await opened.open(`runs/${run}`);
    await yes().waitFor();
  });
});
