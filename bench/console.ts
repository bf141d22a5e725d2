import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { CDPSession, Page } from 'playwright-core';

import { createRun, type RunRecord } from '../src/journal/journal-writer.ts';
import { createRuntime } from '../src/packs/open-runtime.ts';
import type { Runtime } from '../src/runtime/runtime.ts';
import { createRunServer } from '../src/server/run-server.ts';
import { CHROMIUM, openBrowser } from '../test/console/browser.ts';
import { makeSkills } from './make-skills.ts';
import { median } from './median.ts';
import type { BenchRow } from './row.ts';

const SKILLS = 1_000;
const ROUNDS = 5;
const QUERIES = [
  'report',
  'pdf form',
  'deploy',
  'test',
  'image',
  'database',
  'slides',
  'review code',
  'email',
  'notes',
];
const STAMPS = 30;
const EVENTS = 10_000;

/** The console in Chromium: first view, search as you type, how late events appear, and memory over a long run. */
export async function benchConsole({
  project,
  workDir,
  dataDir,
}: {
  readonly project: string;
  readonly workDir: string;
  readonly dataDir: string | undefined;
}): Promise<readonly BenchRow[]> {
  if (CHROMIUM === undefined) return [];
  const cwd = path.join(workDir, 'console');
  const skills = path.join(workDir, 'console-skills');
  for (const folder of [path.join(cwd, '.git'), path.join(cwd, 'home'), skills]) mkdirSync(folder, { recursive: true });
  makeSkills({ directory: skills, count: SKILLS, dataDir });
  const home = path.join(cwd, 'home');
  const runtime = await createRuntime({ cwd, home, env: {}, roots: [skills], cache: false });
  const directory = path.join(cwd, '.agent/runs');
  const server = await createRunServer({
    runtime,
    model: { id: 'none', call: () => Promise.reject(new Error('no model')) },
    directory,
    surroundings: { cwd, home, env: {} },
    console: path.join(project, 'dist/console'),
  });
  const browser = await openBrowser();
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: true });
    // The time at which the first skill is in the document.
    await context.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector('.skill-line b') === null) return;
      observer.disconnect();
      requestAnimationFrame(() => (window.firstView = performance.now()));
    }).observe(document, { childList: true, subtree: true })`);
    const page = await context.newPage();
    await page.goto(server.newLink());
    const views: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await page.goto(`${server.url}/`);
      await page.reload();
      views.push(Number(await (await page.waitForFunction('window.firstView')).jsonValue()));
    }
    const typed = await typing(page);
    const late = await lateness(page, server.url, openRecord(directory, runtime));
    const grown = await memory(page, server.url, openRecord(directory, runtime));
    return [
      bounded(`first view of ${String(SKILLS)} skills, median of ${String(ROUNDS)}`, median(views), 'ms', 1_000),
      bounded(`typing to results, median of ${String(QUERIES.length)}`, median(typed), 'ms', 50),
      bounded(`an event on the page after its record, the slowest of ${String(STAMPS)}`, Math.max(...late), 'ms', 250),
      bounded(`memory of the page from 1,000 to ${String(EVENTS)} events`, grown, 'MB more', 2),
    ];
  } finally {
    await browser.close();
    await server.close();
  }
}

function bounded(name: string, value: number, unit: string, bound: number): BenchRow {
  return { name, value, unit, bound: `< ${String(bound)}`, ok: value < bound };
}

function openRecord(directory: string, { index }: Runtime): RunRecord {
  return createRun(
    directory,
    { request: 'a long run', version: '0', indexHash: index.indexHash, index: [], policyHash: '' },
    { sync: 'none' },
  );
}

/** From the input event to the frame that shows the results. */
async function typing(page: Page): Promise<readonly number[]> {
  const measure = async (query: string): Promise<number> =>
    Number(
      await page.evaluate(`new Promise((resolve) => {
        const input = document.querySelector('input[type=search]');
        const list = document.querySelector('.list-side');
        const from = performance.now();
        new MutationObserver((_, observer) => {
          const total = document.querySelector('.count-line').textContent;
          if (total === window.lastTotal) return;
          window.lastTotal = total;
          observer.disconnect();
          requestAnimationFrame(() => resolve(performance.now() - from));
        }).observe(list, { childList: true, subtree: true, characterData: true });
        window.lastTotal = document.querySelector('.count-line').textContent;
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, ${JSON.stringify(query)});
        input.dispatchEvent(new Event('input', { bubbles: true }));
      })`),
    );
  const times: number[] = [];
  await measure('warm up the index');
  for (const query of QUERIES) {
    times.push(await measure(query));
    await measure('');
  }
  return times;
}

async function lateness(page: Page, url: string, run: RunRecord): Promise<readonly number[]> {
  run.append({ type: 'note', message: 'first' });
  await page.goto(`${url}/#/runs/${run.id}`);
  await page.getByText('first').waitFor();
  await page.evaluate(`window.late = []; new MutationObserver(() => {
    for (const [, stamp] of document.querySelector('.steps').textContent.matchAll(/stamp (\\d+)/g))
      if (!window.late.some(([known]) => known === stamp)) window.late.push([stamp, Date.now() - Number(stamp)]);
  }).observe(document.querySelector('main'), { childList: true, subtree: true, characterData: true })`);
  for (let count = 1; count <= STAMPS; count += 1) {
    run.append({ type: 'note', message: `stamp ${String(Date.now())}` });
    await page.waitForFunction(`window.late.length === ${String(count)}`);
  }
  run.end('done', '');
  const seen = (await page.evaluate('window.late')) as readonly (readonly [string, number])[];
  return seen.map(([, ms]) => ms);
}

/** The growth of the heap after garbage collection, with the list of events open. */
async function memory(page: Page, url: string, run: RunRecord): Promise<number> {
  const session = await page.context().newCDPSession(page);
  run.append({ type: 'note', message: 'first' });
  await page.goto(`${url}/#/runs/${run.id}`);
  await page.getByRole('tab', { name: /Events/ }).click();
  const record = async (from: number, to: number): Promise<number> => {
    for (let at = from; at <= to; at += 1) run.hold({ type: 'note', message: `event ${String(at)} of a long run` });
    run.flush();
    await page.waitForFunction(`document.querySelector('.tab-list .count').textContent === '${String(to)}'`);
    return await heap(session);
  };
  const before = await record(3, 1_000);
  const after = await record(1_001, EVENTS);
  run.end('done', '');
  return (after - before) / 1e6;
}

async function heap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}
