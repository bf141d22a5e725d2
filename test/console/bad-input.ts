/** The console with hostile text, huge text, records that were changed, and a server that restarts. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import type { RunServer } from '../../src/server/run-server.ts';
import type { ConsoleWorld } from './console-world.ts';

interface Console {
  readonly at: () => { readonly page: Page; readonly world: ConsoleWorld; readonly server: RunServer };
  readonly open: (hash: string) => Promise<void>;
  /** Starts a run and returns its id. */
  readonly start: (request: string) => Promise<string>;
  /** Ends the server; the result starts it again on the same port. */
  readonly restart: () => Promise<() => Promise<void>>;
}

export function testBadInput({ at, open, start, restart }: Console): void {
  const state = (name: string) => at().page.locator('.run-facts .badge', { hasText: name });
  const integrity = async (run: string, text: string | RegExp): Promise<void> => {
    await open(`runs/${run}`);
    await at().page.getByRole('tab', { name: 'Integrity' }).click();
    await at().page.getByText(text).first().waitFor();
  };

  test('shows text of strangers as text', async () => {
    const { page, world } = at();
    const hostile = await start(`hostile </script><img src=x onerror="document.title='XSS'">`);
    const skill = `skills/${encodeURIComponent(world.runtime.find('hostile').id)}`;
    for (const hash of [skill, `runs/${hostile}`, 'skills', 'runs']) {
      await open(hash);
      await page
        .getByText(/onerror=/)
        .first()
        .waitFor();
      expect(await page.locator('main img, main script, main a[href^="javascript"]').count()).toBe(0);
      expect(await page.title()).not.toBe('XSS');
      expect(await page.locator('main').textContent()).not.toMatch(/[\u202E\u001B]/);
    }
  });

  test('shows the start of a line of 5 MB', async () => {
    const { page } = at();
    await open(`runs/${await start('a huge answer')}`);
    await state('done').waitFor();
    await page.locator('.markdown', { hasText: 'start xxx' }).waitFor();
    await page.locator('.step-head', { hasText: 'final_answer' }).click();
    await page
      .getByRole('button', { name: /Show more/ })
      .first()
      .waitFor();
    expect(await page.evaluate('document.body.textContent.length')).toBeLessThan(400_000);
  });

  test('says where a record was changed, that it is torn, and that it is being written', async () => {
    const { page, world } = at();
    const [changed, torn, written] = [await start('one'), await start('two'), await start('a slow request')];
    const events = (run: string): string => path.join(world.project, '.agent/runs', run, 'events.jsonl');
    for (const run of [changed, torn]) {
      await open(`runs/${run}`);
      await state('done').waitFor();
    }
    await integrity(written, 'The run is being recorded.');
    // A page that was opened a moment ago may miss the end; opened again it shows it.
    for (;;) {
      if (await state('cancelled').isVisible()) break;
      const stop = page.getByRole('button', { name: 'Stop' });
      if (await stop.isVisible()) await stop.click();
      const isShown = await state('cancelled')
        .waitFor({ timeout: 10_000 })
        .then(
          () => true,
          () => false,
        );
      if (isShown) break;
      await open('runs');
      await open(`runs/${written}`);
    }
    appendFileSync(events(changed), '{"seq":999}\n');
    await integrity(changed, 'The record was changed after it was written:');
    await page
      .getByText(/events\.jsonl:\d+/)
      .first()
      .waitFor();
    const lines = readFileSync(events(torn), 'utf8').trimEnd().split('\n');
    writeFileSync(events(torn), `${lines.slice(0, -1).join('\n')}\n${lines.at(-1)?.slice(0, 30) ?? ''}`);
    await open('runs');
    await open(`runs/${torn}`);
    await page.getByText('The record ends within a line').waitFor();
  });

  test('reconnects after a restart of the server, with the session it had', async () => {
    const { page } = at();
    await open('runs');
    const startAgain = await restart();
    await page.getByText(/The server does not answer/).waitFor();
    await startAgain();
    await page.getByText(/The server does not answer/).waitFor({ state: 'detached' });
    await open('policy');
    await page.getByText('Rules in force').waitFor();
  });
}
