/** The console in Chromium: every page and every flow, with one browser and one server. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openApprovals } from '../../src/policy/approval/approver.ts';
import { pendingFolder } from '../../src/policy/approval/pending-approvals.ts';
import { createRunServer, type RunServer } from '../../src/server/run-server.ts';
import { verifies } from '../conformance/verifies.ts';
import { requestOf } from '../policy/approval-request.ts';
import { openBrowser, violations } from './browser.ts';
import { testBadInput } from './bad-input.ts';
import { EVENTS, ROWS, manySkills, openConsoleWorld, recordLongRun, type ConsoleWorld } from './console-world.ts';
import { needs } from '../needs.ts';

/** Labels without a Chinese character. Names and texts of skills, tools and records are not translated. */
const ENGLISH = `[...document.querySelectorAll('main :is(h1, h2, thead th, dt, label, .badge, .label, .note, .empty-title, .tab-list a, .tab-list button, button, option)')]
  .filter((element) => element.closest('.markdown') === null)
  .map(({ textContent }) => textContent.trim())
  .filter((text) => /[a-z]{3}/i.test(text) && !/[\\u4e00-\\u9fff]|^Token$|[-_.\\d]|^(?:tables|letters|option|builtin|release)/.test(text))`;
const SKILLS = 12;

describe('the console', needs('chromium'), () => {
  let world: ConsoleWorld;
  let server: RunServer;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let longRun: string;
  /** Errors of any page. */
  const problems: string[] = [];
  const requests = new Set<string>();

  beforeAll(async () => {
    world = await openConsoleWorld({ skills: SKILLS });
    ({ server } = world);
    longRun = recordLongRun(world);
    browser = await openBrowser();
    context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
      locale: 'en',
    });
    context.setDefaultTimeout(120_000);
    context.on('request', (request) => requests.add(new URL(request.url()).origin));
    context.on('console', (message) => {
      // A server that restarts, and a question that was answered elsewhere, are part of the tests.
      if (
        message.type() === 'error' &&
        !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|status of 40[149]/.test(message.text())
      )
        problems.push(message.text());
    });
    context.on('weberror', (error) => problems.push(error.error().message));
    page = await context.newPage();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await world.close();
  });

  const open = async (hash: string, on = page): Promise<void> => {
    await on.goto(`${server.url}/#/${hash}`);
    await on.locator('main').waitFor();
  };
  const start = async (request: string, budget: object = {}): Promise<string> => {
    const response = await fetch(`${server.url}/api/v1/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ request, budget }),
    });
    const { run } = (await response.json()) as { readonly run: string };
    return run;
  };
  const button = (name: string | RegExp, on = page) => on.getByRole('button', { name });
  const skill = (name: string): string => `skills/${encodeURIComponent(world.runtime.find(name).id)}`;
  const state = (name: string, on = page) => on.locator('.run-facts .badge', { hasText: name });

  test('opens by a link that works once; the address keeps no secret', async () => {
    const link = server.newLink();
    await page.goto(link);
    expect(page.url()).toBe(`${server.url}/`);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    const stranger = await browser.newContext();
    const other = await stranger.newPage();
    expect((await other.goto(link))?.status()).toBe(401);
    expect(await other.textContent('body')).toContain('skillwright ui');
    // A page of another origin gets nothing, although the browser would send the cookie to every port.
    await page.goto('about:blank');
    expect(
      await page.evaluate(
        (url) =>
          fetch(url, { mode: 'no-cors', credentials: 'include' }).then(
            ({ type }) => type,
            () => 'refused',
          ),
        `${server.url}/api/v1/status`,
      ),
    ).not.toBe('basic');
    await stranger.close();
    // The browser reports that it refused.
    problems.length = 0;
  });

  test('searches as you type, filters, and scrolls through all skills with few elements', async () => {
    // Ten thousand folders would slow down every other test, so that the list comes from here.
    await page.route(/\/api\/v1\/skills\?/, (route) =>
      route.fulfill({ json: manySkills(new URL(route.request().url())) }),
    );
    await open('skills');
    await page.getByText('10,000 skills').waitFor();
    const list = page.locator('.skill-list');
    for (const part of [0.3, 0.6, 1]) {
      await list.evaluate((element, at) => element.scrollTo(0, element.scrollHeight * at), part);
      await page.getByRole('link', { name: `skill-${String(Math.round(ROWS * part) - 1).padStart(5, '0')}` }).waitFor();
      expect(await page.locator('.virtual-row').count()).toBeLessThan(60);
    }
    await page.keyboard.press('j');
    await page.keyboard.press('Home');
    await expect.poll(() => page.locator(':focus').textContent()).toContain('skill-00000');
    await page.unroute(/\/api\/v1\/skills\?/);
    await open('runs');
    await open('skills');
    await page.getByText('19 skills').waitFor();
    await page.getByRole('searchbox').fill('release notes changelog');
    await expect.poll(() => page.locator('.skill-line b').first().textContent()).toBe('release-notes');
    await page.getByRole('searchbox').fill('');
    await page.getByLabel('Source').selectOption('builtin');
    await expect.poll(() => page.locator('.skill-line b').first().textContent()).toBe('csv-report');
    await page.getByText(/Left out: 1 folder/).click();
    await page.getByText('without-name').first().waitFor();
  });

  test('shows a skill: instructions, files, access, trust; repairs it', async () => {
    await open(skill('release-notes'));
    await page.getByRole('heading', { name: 'Release notes' }).waitFor();
    await page.getByRole('tab', { name: /Files/ }).click();
    await button('scripts/group.py').click();
    await page.getByText('print("grouped")').waitFor();
    await page.getByRole('tab', { name: 'Trust and versions' }).click();
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/follows the specification/).waitFor();
    await open(skill('Untidy_Name'));
    await page.getByRole('tab', { name: /Problems/ }).click();
    await page
      .getByText(/Untidy_Name/)
      .first()
      .waitFor();
  });

  test('installs after a plan, and uninstalls', async () => {
    const source = path.join(world.root, 'source/tidy');
    mkdirSync(source, { recursive: true });
    writeFileSync(path.join(source, 'SKILL.md'), '---\nname: tidy\ndescription: Tidies notes.\n---\n\nTidy.\n');
    await open('install');
    await page.getByLabel('Source').fill(path.join(world.root, 'source'));
    await button('Show the plan').click();
    await button('Install (1)').click();
    await page.getByText('Done: tidy').waitFor();
    await open(skill('tidy'));
    await page.getByRole('link', { name: 'Uninstall…' }).click();
    await button('Show the plan').click();
    await button('Uninstall (1)').click();
    await page.getByText('Done: tidy').waitFor();
  });

  test('shows the catalog under a budget', async () => {
    await open('catalog');
    await page.getByRole('slider').fill('100');
    await expect
      .poll(() => page.locator('.legend li', { hasText: 'omitted' }).locator('b').textContent())
      .not.toBe('0');
    await page.getByRole('tab', { name: 'Text for the model' }).click();
    await page.getByText('<available_skills>').waitFor();
  });

  test('asks with a file; the question is answered in another tab, once', async () => {
    await open('ask');
    await page.getByLabel('Request').fill('Write notes from the changelog');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'extra.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n') });
    await button('Run').click();
    await button('Yes, once').waitFor();
    await page.getByText('+ - A faster search').waitFor();
    await page.locator('.plan-steps').getByText('Read the changelog').waitFor();
    const other = await context.newPage();
    await open('approvals', other);
    await button('Yes, once', other).click();
    await button('Yes, once', other).waitFor({ state: 'detached' });
    await state('done').waitFor();
    await button('Yes, once').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Done' }).waitFor();
    await page.getByRole('cell', { name: 'search' }).waitFor();
    expect(readFileSync(path.join(world.project, 'NOTES.md'), 'utf8')).toContain('A faster search');
    await other.close();
  });

  test('refuses with a reason that the model reads', async () => {
    const run = await start('changelog once more');
    await open('approvals');
    await page.getByPlaceholder(/Reason/).fill('use the other file');
    await button('No').click();
    await open(`runs/${run}`);
    await page
      .getByText(/use the other file/)
      .first()
      .waitFor();
    await state('refused').waitFor();
  });

  test('answers questions of a terminal, for the run or the skill, once although two tabs are open', async () => {
    const pending = { folder: pendingFolder(world.home), waitMs: 600_000 };
    const ask = (id: string) =>
      openApprovals({ home: world.home, pending }).approve(
        requestOf({ id: `sha256:${id.repeat(64)}`, coverage: id, scopes: ['once', 'run', 'skill'] }),
        { signal: AbortSignal.timeout(300_000) },
      );
    await open('approvals');
    const forRun = ask('a');
    await button('Yes, for this run').waitFor();
    const stale = await context.newPage();
    await stale.route('**/changes', (route) => route.fulfill({ contentType: 'text/event-stream', body: ': open\n\n' }));
    await open('approvals', stale);
    await button('Yes, for this run', stale).waitFor();
    await button('Yes, for this run').click();
    expect(await forRun).toMatchObject({ verdict: 'yes', scope: 'run' });
    await button('Yes, for this run', stale).click();
    await stale.getByRole('alert').waitFor();
    await stale.close();
    const forSkill = ask('b');
    await button('Yes, for this skill as it is').click();
    expect(await forSkill).toMatchObject({ verdict: 'yes', scope: 'skill' });
    await button('Revoke').click();
    await button('Revoke').waitFor({ state: 'detached' });
  });

  test('shows the output of a program while it runs, resumes with a larger budget, stops and forks', async () => {
    const run = await start('run the program', { turns: 1 });
    await open(`runs/${run}`);
    await button('Yes, once').click();
    await page.locator('.output').getByText('row 1').waitFor();
    await state('degraded').waitFor();
    await button('Resume…').click();
    // The program is not run again, so nothing is asked.
    await page.getByRole('region', { name: 'Resume with a larger budget' }).getByRole('button').click();
    await page.getByText('It printed three rows.').first().waitFor();
    await state('done').waitFor();
    expect([page.url().includes(run), await button('Yes, once').count()]).toEqual([false, 0]);
    await page.locator('.step-head', { hasText: 'run_command "for' }).click();
    await page.locator('.step-body').getByText(/row 3/).waitFor();
    const slow = await start('a slow request');
    await open(`runs/${slow}`);
    await button('Stop').click();
    await state('cancelled').waitFor();
    await button('Resume').waitFor();
    await button('Fork…').click();
    await page.getByLabel('Request').fill('How many rows?');
    await button('Start the fork').click();
    await page.getByText('There are 42 rows.').first().waitFor();
    expect(page.url()).not.toContain(slow);
  });

  test('lists, compares, verifies, replays and exports runs', async () => {
    const [left, right] = [await start('one question'), await start('hostile question')];
    await open(`runs/${left}`);
    await state('done').waitFor();
    await page.getByRole('tab', { name: 'Integrity' }).click();
    await page.getByText('Every line is as it was recorded.').waitFor();
    await button(/Replay/).click();
    await page.locator('.integrity .badge', { hasText: 'same' }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export' }).click();
    expect((await download).suggestedFilename()).toBe(`${left}.jsonl`);
    await open(`runs/${right}`);
    await state('done').waitFor();
    await open('runs');
    await page.getByRole('checkbox', { name: `Compare ${left}` }).check();
    await page.getByRole('checkbox', { name: `Compare ${right}` }).check();
    await page.getByRole('link', { name: 'Compare two runs' }).click();
    await page.getByText(/Steps: \d+ equal/).waitFor();
  });

  test('scrolls through a run of thousands of events', async () => {
    await open(`runs/${longRun}`);
    await page.getByRole('tab', { name: /Events/ }).click();
    await page.getByText(`${EVENTS.toLocaleString('en')} events`).waitFor();
    await page.locator('.event-list').evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
    await expect.poll(() => page.locator('.event').count()).toBeGreaterThan(10);
    expect(await page.locator('.virtual-row').count()).toBeLessThan(80);
    await page.locator('.event').first().click();
    await page.locator('.event-view').waitFor();
  });

  test('explains the policy, shows evaluations, and speaks Chinese', async () => {
    await open('policy');
    await page.getByLabel('Argument').fill('rm -rf /');
    await page.getByLabel('Argument').press('Enter');
    await page.locator('.decision .badge').first().waitFor();
    await open('evaluations');
    await page.getByText('Cases over time').first().click();
    await page.locator('.case-grid-line', { hasText: 'case-02' }).first().locator('.cell-mark').nth(4).waitFor();
    await page
      .getByRole('link', { name: /2026-11-14/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Evaluation of tables' }).waitFor();
    await page.getByText('The cases of this report over time').waitFor();
    await page.getByLabel('Compare with').selectOption('20261110T101500');
    await page.getByRole('region', { name: 'Changes' }).getByRole('link', { name: 'case-02' }).first().click();
    await page.getByRole('heading', { name: 'case-02' }).waitFor();
    await expect.poll(() => page.locator('.history li').count()).toBe(14);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export as one file' }).click();
    expect(readFileSync((await (await download).path()) ?? '', 'utf8')).toContain('<!doctype html>');
    await page.getByLabel('Language').selectOption('zh');
    await page.getByRole('link', { name: '技能', exact: true }).waitFor();
    await page.getByLabel('语言').selectOption('en');
  });

  /** Opens each page at three widths, light and dark and in Chinese; returns labels that stayed English. */
  const inspect = async (pages: readonly string[]): Promise<ReadonlySet<string>> => {
    const english: string[] = [];
    for (const hash of pages) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await open(hash);
      await page.locator('main h1').first().waitFor();
      await expect.poll(() => page.locator('.loading').count()).toBe(0);
      for (const width of [1440, 768, 360]) {
        await page.setViewportSize({ width, height: 900 });
        const isNarrow = await page.evaluate('document.documentElement.scrollWidth <= innerWidth');
        expect([hash, width, isNarrow]).toEqual([hash, width, true]);
        // Contrast depends on the scheme, all else on the document: each is checked, not every pair.
        await page.emulateMedia({ colorScheme: width === 360 ? 'dark' : 'light' });
        if (width !== 768) expect([hash, width, await violations(page, width === 360)]).toEqual([hash, width, []]);
      }
      await page.getByLabel('Language').selectOption('zh');
      await expect.poll(() => page.locator('.loading').count()).toBe(0);
      english.push(...(await page.evaluate<readonly string[]>(ENGLISH)));
      await page.getByLabel('语言').selectOption('en');
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
    return new Set(english);
  };

  verifies(
    'UI-1',
    'has no serious violation and no overflow at three widths, light and dark, and is Chinese',
    async () => {
      const waiting = await start('changelog for the pictures');
      await open(`runs/${waiting}`);
      await button('Yes, once').waitFor();
      const pages = ['install', 'catalog', `ask/${waiting}`, 'approvals', 'runs', `runs/${waiting}`, 'policy'];
      // Requests are data.
      expect(await inspect(['skills', skill('release-notes'), ...pages])).toEqual(
        new Set(['changelog for the pictures']),
      );
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    },
  );

  verifies('UI-1', 'so are evaluations and each view of a report', async () => {
    const report = 'evaluations/20261114T101500';
    const views = ['cases', 'case/0', 'trigger', 'changes?against=20261110T101500'];
    // Tags are data.
    expect(await inspect(['evaluations', report, ...views.map((view) => `${report}/${view}`)])).toEqual(
      new Set(['csv', 'smoke']),
    );
  });

  testBadInput({
    at: () => ({ page, world, server }),
    open,
    start,
    restart: async () => {
      const { port } = new URL(server.url);
      await server.close();
      return async () => {
        server = await createRunServer({ ...world.options, port: Number(port) });
      };
    },
  });

  test('reached nothing but its own server, without an error', () => {
    expect([...requests].filter((origin) => origin !== server.url && origin !== 'null')).toEqual([]);
    expect(problems).toEqual([]);
  });
});
