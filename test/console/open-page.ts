/** A console with a page in Chromium for the tests of one file. */
import type { Browser, Page } from 'playwright-core';

import { openBrowser } from './browser.ts';
import { openConsoleWorld, type ConsoleWorld } from './console-world.ts';

export interface ConsolePage {
  readonly world: ConsoleWorld;
  readonly browser: Browser;
  readonly page: Page;
  readonly open: (hash: string) => Promise<void>;
  readonly call: (target: string, body?: object) => Promise<unknown>;
  /** Starts a run and returns its id. */
  readonly start: (request: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

export async function openConsolePage(): Promise<ConsolePage> {
  const world = await openConsoleWorld();
  const browser = await openBrowser();
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    locale: 'en',
  });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  await page.goto(world.server.newLink());
  const call = async (target: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${world.server.url}/api/v1${target}`, {
      headers: { authorization: `Bearer ${world.server.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return response.json();
  };
  return {
    world,
    browser,
    page,
    call,
    async open(hash) {
      await page.goto(`${world.server.url}/#/${hash}`);
      await page.locator('main').waitFor();
    },
    async start(request) {
      const { run } = (await call('/runs', { request })) as { readonly run: string };
      return run;
    },
    async close() {
      await browser.close();
      await world.close();
    },
  };
}
