import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { EvalReport } from '../../../src/evals/report/result.ts';
import { htmlReport } from '../../../src/evals/page/report-page.ts';
import type { PageOptions } from '../../../src/evals/page/page-data.ts';
import { HOSTILE, hostileReport } from '../hostile-report.ts';
import { COMPARISON, TRIGGER, fullReport, manyResults, report, result, rate } from '../sample-report.ts';
import { CHROMIUM, openChromium } from './chromium.ts';
import type { Browser, Page } from './chromium.ts';
import { VIEW } from './sample-view.ts';

if (CHROMIUM === undefined) console.log('skipping the tests of the report page: chromium is not installed');

describe.skipIf(CHROMIUM === undefined)('the page in Chromium', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillwright-page-'));
  let browser: Browser;
  // One for all tests, because each new one starts a process.
  let page: Page;
  beforeAll(async () => {
    browser = await openChromium(CHROMIUM ?? '');
    page = await browser.page();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(given: EvalReport, options: PageOptions = {}, hash = ''): Promise<void> {
    const file = path.join(folder, `${String(Math.random()).slice(2)}.html`);
    writeFileSync(file, htmlReport(given, options));
    await page.size(1280, 800);
    page.seen.problems.length = 0;
    page.seen.requests.length = 0;
    await page.open(`${file}${hash}`);
  }
  const many = report(manyResults(1000), {
    comparisons: [COMPARISON],
    trigger: TRIGGER,
    flaky: [{ case: 'case-0004', arm: 'with', rate: rate(1, 2) }],
  });
  const before = report(
    manyResults(1000).map((one, place) => ({ ...one, status: place % 9 === 0 ? 'failed' : one.status })),
  );
  const text = (page: Page, selector: string): Promise<unknown> =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent`);
  const hash = (page: Page): Promise<unknown> => page.evaluate('location.hash');
  const VIEWS = ['#overview', '#cases', '#case:0', '#case:7', '#case:99999', '#trigger', '#changes', '#nothing'];

  test('opens every view from disk without errors or requests', async () => {
    await open(many, { view: () => VIEW, before });
    for (const view of VIEWS)
      await page.evaluate(`location.hash = '${view}'; new Promise((done) => setTimeout(done, 20))`);
    expect(page.seen.problems).toEqual([]);
    expect(page.seen.requests.filter((url) => !url.startsWith('file://'))).toEqual([]);
    expect(page.seen.requests).toHaveLength(1);
  });

  test('shows untrusted text as text', async () => {
    for (const hostile of HOSTILE) {
      await open(hostileReport(hostile), { before: hostileReport(`${hostile}x`) });
      for (const view of VIEWS)
        await page.evaluate(`location.hash = '${view}'; new Promise((done) => setTimeout(done, 5))`);
      expect(await page.evaluate(`document.querySelectorAll('script, img, iframe, style').length`)).toBe(3);
      expect(page.seen.problems).toEqual([]);
      expect(
        await page.evaluate(`/[\\u202A-\\u202E\\u2066-\\u2069]/.test(document.querySelector('#app').textContent)`),
      ).toBe(false);
    }
  });

  test('supports keyboard navigation between table and case', async () => {
    await open(many, {}, '#cases');
    await page.press('j');
    await page.press('j');
    await page.press('ArrowDown');
    expect(await text(page, '.row.active .case b')).toBe('case-0002');
    await page.press('k');
    await page.press('Enter');
    expect([await hash(page), await text(page, '#case-title')]).toEqual([
      '#case:1',
      expect.stringContaining('case-0001'),
    ]);
    await page.press('j');
    expect(await hash(page)).toBe('#case:2');
    await page.press('Escape');
    expect([await hash(page), await page.evaluate('document.activeElement.textContent')]).toEqual([
      '#cases',
      expect.stringContaining('case-0002'),
    ]);
    for (let times = 0; times < 40; times += 1) await page.press('j');
    expect(await text(page, '.row.active .case b')).toBe('case-0042');
    expect(
      await page.evaluate(
        `(() => { const row = document.activeElement.getBoundingClientRect(); const box = document.querySelector('.scroller').getBoundingClientRect(); return row.top >= box.top && row.bottom <= box.bottom + 1; })()`,
      ),
    ).toBe(true);
  });

  test('filters the table by words, statuses and tags', async () => {
    await open(many, {}, '#overview');
    await page.press('/');
    expect([await hash(page), await page.evaluate('document.activeElement.type')]).toEqual(['#cases', 'search']);
    await page.type('case-09');
    expect(await text(page, '[role=status]')).toBe('100 of 1,000 results');
    await page.evaluate(`document.querySelector('.chip.failed').click()`);
    expect(await text(page, '[role=status]')).toBe('4 of 1,000 results');
    await page.evaluate(`document.querySelector('.chip.failed').click()`);
    await page.press('Escape');
    expect(await text(page, '[role=status]')).toBe('1,000 results');
    await page.evaluate(
      `{ const tag = document.querySelector('select'); tag.value = 'smoke'; tag.dispatchEvent(new Event('change')); }`,
    );
    expect(await text(page, '[role=status]')).toBe('100 of 1,000 results');
    await page.evaluate(`location.hash = '#cases:failed,error'; new Promise((done) => setTimeout(done, 20))`);
    expect(await text(page, '[role=status]')).toBe('55 of 1,000 results');
  });

  test('sorts by a column ascending, descending and not at all', async () => {
    await open(many, {}, '#cases');
    const click = `document.querySelector('.head .tokens button').click()`;
    const first = async (): Promise<unknown> => {
      await page.evaluate(click);
      return [
        await text(page, '.rows .row .tokens'),
        await page.evaluate(`document.querySelector('.head .tokens').getAttribute('aria-sort')`),
      ];
    };
    expect([await first(), await first(), await first()]).toEqual([
      ['940', 'ascending'],
      ['1,988', 'descending'],
      ['940', 'none'],
    ]);
  });

  test('shows checks, answer and run of a case, with links to events', async () => {
    const failed = result('sum', { ...fullReport().results[1], run: '/run' });
    await open(report([failed]), { view: () => VIEW }, '#case:0');
    expect(
      await page.evaluate(`[...document.querySelectorAll('.checks tbody tr')].map((row) => row.className)`),
    ).toEqual(['failed', 'passed']);
    expect(await page.evaluate(`document.querySelectorAll('.context-bar').length`)).toBe(3);
    expect(
      await page.evaluate(`[...document.querySelectorAll('.step.tone-bad .more')].map((line) => line.textContent)`),
    ).toEqual([expect.stringContaining('deny, risk high'), expect.stringContaining('policy/denied')]);
    await page.evaluate(`document.querySelector('a.event').click()`);
    expect(await page.evaluate(`document.activeElement.dataset.events`)).toBe('7');
    expect(await page.evaluate(`document.querySelectorAll('.plan li').length`)).toBe(3);
  });

  test('renders only visible rows', async () => {
    await open(report(manyResults(5000)), {}, '#cases');
    expect(await page.evaluate(`document.querySelectorAll('.rows .row').length`)).toBeLessThan(80);
    await page.evaluate(
      `document.querySelector('.scroller').scrollTop = 1e9; new Promise((done) => setTimeout(done, 50))`,
    );
    expect(await page.evaluate(`[...document.querySelectorAll('.rows .row .case b')].at(-1).textContent`)).toBe(
      'case-4999',
    );
  });

  test('does not scroll horizontally in a narrow window', async () => {
    await open(many, { view: () => VIEW, before });
    for (const width of [320, 360, 768]) {
      await page.size(width, 740);
      for (const view of VIEWS) {
        await page.evaluate(`location.hash = '${view}'; new Promise((done) => setTimeout(done, 10))`);
        expect([view, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([view, width]);
      }
    }
  });

  test('supports light and dark mode with sufficient contrast', async () => {
    await open(many, { view: () => VIEW, before });
    const grounds: unknown[] = [];
    for (const scheme of ['light', 'dark'] as const) {
      await page.scheme(scheme);
      grounds.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      for (const view of VIEWS) {
        await page.evaluate(`location.hash = '${view}'; new Promise((done) => setTimeout(done, 10))`);
        expect([scheme, view, await page.evaluate(CONTRAST)]).toEqual([scheme, view, []]);
      }
    }
    expect(grounds).toEqual(['rgb(246, 247, 249)', 'rgb(18, 21, 27)']);
  });

  test('compares two runs of one case step by step', async () => {
    const other = { ...VIEW, steps: VIEW.steps.slice(0, -2) };
    await open(
      report([result('a', { run: '/a' }), result('a', { run: '/b', arm: 'without' })]),
      { view: ({ run }) => (run === '/a' ? VIEW : other) },
      '#case:0',
    );
    expect(
      await page.evaluate(`[...document.querySelectorAll('.diff .added')].map((step) => step.textContent)`),
    ).toEqual(['+ turn 2  action  run_script tables scripts/count.py input.csv', '+ turn 3  end  run done']);
  });

  test('shows INVALID first, and no score', async () => {
    const controls = TRIGGER.controls.map((control) => ({ ...control, isKept: false, found: '0 %' }));
    await open(report([result('a')], { trigger: { ...TRIGGER, controls, isValid: false } }));
    expect(await text(page, '.banner')).toContain('INVALID: a control of the evaluation failed; there is no score');
    expect(await text(page, '.card .value')).toBe('—');
    await page.evaluate(`location.hash = '#trigger'; new Promise((done) => setTimeout(done, 20))`);
    expect(await page.evaluate(`document.querySelectorAll('.matrix, .rate').length`)).toBe(0);
  });
});

/** Lists texts with a contrast below 4.5:1. */
const CONTRAST = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const over = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const poor = [];
  for (const element of document.querySelectorAll('#app *')) {
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')) continue;
    const behind = [];
    for (let at = element; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
    const [a, b] = [light(over(behind)), light(over([...behind, getComputedStyle(element).color]))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(element.className + ': ' + element.textContent.slice(0, 40) + ' ' + ((a + 0.05) / (b + 0.05)).toFixed(2));
  }
  return [...new Set(poor)];
})()`;
