/** The exported report in Chromium: one file without a server. In the console it is the same page; see console.system.test.ts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { htmlReport, type PageOptions } from '../../src/evals/page/report-page.ts';
import type { EvalReport } from '../../src/evals/report/result.ts';
import { HOSTILE, hostileReport } from '../evals/hostile-report.ts';
import { VIEW } from '../evals/page/sample-view.ts';
import { COMPARISON, TRIGGER, check, fullReport, manyResults, rate, report, result } from '../evals/sample-report.ts';
import { openBrowser } from './browser.ts';
import { needs } from '../needs.ts';

const VIEWS = ['overview', 'cases', 'case/0', 'case/7', 'case/99999', 'trigger', 'changes', 'nothing'] as const;

describe('the exported report', needs('chromium'), () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillwright-report-'));
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  const requests: string[] = [];
  beforeAll(async () => {
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en' });
    page.setDefaultTimeout(120_000);
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => requests.push(request.url()));
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (given: EvalReport, options: PageOptions = {}, hash = ''): Promise<void> => {
    const file = path.join(folder, `${String(Math.random()).slice(2)}.html`);
    writeFileSync(file, htmlReport(given, options));
    problems.length = 0;
    requests.length = 0;
    await page.goto(`${pathToFileURL(file).href}#/${hash}`);
  };
  const show = async (view: string): Promise<void> => {
    await page.evaluate(
      `location.hash = '#/${view}'; new Promise((done) => requestAnimationFrame(() => setTimeout(done)))`,
    );
  };
  const many = report(manyResults(1_000), {
    comparisons: [COMPARISON],
    trigger: TRIGGER,
    flaky: [{ case: 'case-0004', arm: 'with', rate: rate(1, 2) }],
  });
  const before = report(
    manyResults(1_000).map((one, place) => ({ ...one, status: place % 9 === 0 ? 'failed' : one.status })),
  );
  const focused = () => page.locator(':focus');

  test('opens every view from disk, at any width, without errors, requests or sideways scrolling', async () => {
    await open(many, { view: () => VIEW, before });
    for (const width of [320, 768, 1_280]) {
      await page.setViewportSize({ width, height: 800 });
      for (const view of VIEWS) {
        await show(view);
        expect([view, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([view, true]);
      }
    }
    expect(await page.title()).toBe('Evaluation of tables');
    expect(problems).toEqual([]);
    expect(requests).toHaveLength(1);
  });

  test('shows untrusted text as text', async () => {
    const hostile = HOSTILE.join('\n');
    await open(hostileReport(hostile), { before: hostileReport(`${hostile}x`) });
    for (const view of VIEWS) {
      await show(view);
      expect(await page.evaluate(`document.querySelectorAll('script, img, iframe, style').length`)).toBe(3);
      expect(await page.locator('main').textContent()).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u001B]/);
    }
    expect(problems).toEqual([]);
  });

  test('moves with the keyboard between table and case', async () => {
    await open(many, {}, 'cases');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => focused().textContent()).toContain('case-0002');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'case-0001' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'case-0002' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => focused().textContent()).toContain('case-0002');
    for (let times = 0; times < 40; times += 1) await page.keyboard.press('j');
    await expect.poll(() => focused().textContent()).toContain('case-0042');
    await page.keyboard.press('End');
    await expect.poll(() => focused().textContent()).toContain('case-0999');
    expect(
      await page.evaluate(
        `(() => { const row = document.activeElement.getBoundingClientRect(); const box = document.querySelector('.case-list').getBoundingClientRect(); return row.top >= box.top && row.bottom <= box.bottom + 1; })()`,
      ),
    ).toBe(true);
    expect(await page.locator('.virtual-row').count()).toBeLessThan(80);
  });

  test('filters by words, outcomes and tags, and sorts by a column', async () => {
    await open(many);
    const status = () => page.getByRole('status').textContent();
    await page.keyboard.press('/');
    await expect.poll(() => page.evaluate('document.activeElement.type')).toBe('search');
    await page.keyboard.type('case-09');
    await expect.poll(status).toBe('100 / 1,000 results');
    await page.getByRole('button', { name: 'failed' }).click();
    await expect.poll(status).toBe('4 / 1,000 results');
    await page.getByRole('button', { name: 'failed' }).click();
    await page.getByRole('searchbox').press('Escape');
    await expect.poll(status).toBe('1,000 results');
    await page.getByLabel('Tag', { exact: true }).selectOption('smoke');
    await expect.poll(status).toBe('100 / 1,000 results');
    await show('cases/failed,error');
    await expect.poll(status).toBe('55 / 1,000 results');
    const sort = async (): Promise<readonly (string | null)[]> => {
      await page.getByRole('button', { name: 'Tokens' }).click();
      return [
        await page.getByRole('button', { name: 'Tokens' }).textContent(),
        await page.locator('.virtual-row .tokens').first().textContent(),
      ];
    };
    expect([await sort(), await sort(), await sort()]).toEqual([
      ['Tokens ↑', '940'],
      ['Tokens ↓', '1,968'],
      ['Tokens', '940'],
    ]);
  });

  test('shows checks, answer and run of a case; evidence leads to its step', async () => {
    const failed = result('sum', { ...fullReport().results[1], run: '/run' });
    await open(report([failed]), { view: () => VIEW }, 'case/0');
    expect(await page.locator('.checks tbody tr').evaluateAll((rows) => rows.map((row) => row.className))).toEqual([
      'failed',
      'passed',
    ]);
    expect(await page.locator('.context-bar').count()).toBe(3);
    expect(await page.locator('.turn-step.bad .step-line').allTextContents()).toEqual([
      expect.stringContaining('deny, risk high'),
      expect.stringContaining('policy/denied'),
    ]);
    expect(await page.locator('.plan-steps li').count()).toBe(3);
    await page.locator('.evidence').first().click();
    await expect.poll(() => focused().getAttribute('data-events')).toBe('7');
  });

  test('compares two runs of one case step by step', async () => {
    const other = { ...VIEW, steps: VIEW.steps.slice(0, -2) };
    await open(
      report([result('a', { run: '/a' }), result('a', { run: '/b', arm: 'without' })]),
      { view: ({ run }) => (run === '/a' ? VIEW : other) },
      'case/0',
    );
    expect(await page.locator('.diff .added').allTextContents()).toEqual([
      '+ 2  action  run_script tables scripts/count.py input.csv\n',
      '+ 3  end  run done\n',
    ]);
  });

  test('shows the verdict on each skill, and which results are in quarantine', async () => {
    const quarantine = { until: '2026-12-31', passed: 1, of: 4 };
    await open(
      report([
        result('a', { skill: 'tables' }),
        result('b', { skill: '<b>maps', status: 'failed' }),
        result('c', { skill: 'tables', status: 'failed', quarantine }),
      ]),
    );
    const rows = await page.getByRole('region', { name: 'Verdict on each skill' }).locator('tbody tr').all();
    expect(await Promise.all(rows.map((row) => row.locator('th, td').allTextContents()))).toEqual([
      ['tables', 'INCOMPLETE: 1 passed, 1 in quarantine'],
      ['<b>maps', 'valid, failed: 0 passed, 1 failed'],
    ]);
    expect(await page.locator('.failures li').allTextContents()).toEqual([
      expect.stringMatching(/^failed\s*b/),
      expect.stringMatching(/^failed\s*cin quarantine until 2026-12-31/),
    ]);
  });

  test('labels every number with its arm, so that they add up, and explains control skills', async () => {
    const live = { model: { id: 'm', way: 'live' } } as const;
    const failed = {
      ...live,
      status: 'failed',
      run: '/runs/1',
      checks: [check('output[0]', { status: 'failed', events: [13] })],
    } as const;
    const given = report(
      [
        result('a', live),
        result('b', failed),
        result('c'),
        result('a', { ...failed, arm: 'without' }),
        result('b', { ...failed, arm: 'without' }),
      ],
      {
        skills: [
          { name: 'tables', digest: 'x' },
          { name: 'brass-lantern-check', digest: 'y', role: 'control' },
        ],
      },
    );
    const earlier = [report([result('a', failed)], { startedAt: '2026-11-01T10:00:00.000Z' })];
    await open(given, { view: () => VIEW, earlier });
    const rows = await page.getByRole('region', { name: 'Arms', exact: true }).locator('tbody tr').all();
    const cells = await Promise.all(rows.map((row) => row.locator('th, td').allTextContents()));
    expect(cells.map((row) => row.slice(0, 9))).toEqual([
      ['with the skill', '2', '1', '0', '0', '0', '0', '3', expect.stringMatching(/^67 %/)],
      // Without the skill some checks cannot pass, so that a rate would say nothing.
      ['without the skill', '0', '2', '0', '0', '0', '0', '2', 'no score'],
    ]);
    const costs = page.getByRole('region', { name: 'Cost of a run: mean and 95 % interval', exact: true });
    const amounts = await Promise.all(
      (await costs.locator('tbody tr').all()).map((row) => row.locator('th, td').allTextContents()),
    );
    const few = (text: string): string => `${text} (fewer than 6 cases)`;
    expect(amounts).toEqual([
      ['Tokens', few('1,050'), few('1,050'), few('+0')],
      ['Tokens in', few('1,000'), few('1,000'), few('+0')],
      ['Tokens from the cache', 'unknown', 'unknown', 'unknown'],
      ['Tokens out', few('50'), few('50'), few('+0')],
      ['Money', 'unknown', 'unknown', 'unknown'],
      ['Latency', few('1.5 s'), few('1.5 s'), few('+0 ms')],
    ]);
    const shown = await page.locator('main').textContent();
    for (const words of [
      'm (live), scripted',
      'No price for m',
      '2 of 3 cases tested a model',
      'Control skills were installed',
      '2026-11-01',
      'without the skill: passed 0, failed 2',
    ])
      expect(shown).toContain(words);
    // An event that is not in the timeline leads to the step before it.
    await show('case/1');
    await page.locator('tr.failed .evidence').click();
    await expect.poll(() => focused().getAttribute('data-events')).toBe('9 10 12');
  });

  test('shows INVALID first, and no score; speaks Chinese', async () => {
    const controls = TRIGGER.controls.map((control) => ({ ...control, isKept: false, found: '0 %' }));
    await open(report([result('a')], { trigger: { ...TRIGGER, controls, isValid: false } }));
    expect(await page.locator('.banner').first().textContent()).toContain('INVALID: there is no score');
    expect(await page.locator('.card .value').first().textContent()).toBe('—');
    await show('trigger');
    expect(await page.locator('.confusion, .rate').count()).toBe(0);
    await page.getByLabel('Language').selectOption('zh');
    await page.getByRole('heading', { name: 'tables 的评测' }).waitFor();
  });
});
