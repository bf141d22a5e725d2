import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { jsonReport } from '../src/evals/report/json.ts';
import { junitReport } from '../src/evals/report/junit.ts';
import { markdownReport } from '../src/evals/report/markdown.ts';
import { htmlReport } from '../src/evals/page/report-page.ts';
import { manyResults, report } from '../test/evals/sample-report.ts';
import { CHROMIUM, openBrowser } from '../test/console/browser.ts';
import { VIEW } from '../test/evals/page/sample-view.ts';
import type { BenchRow } from './row.ts';

const CASES = 1000;
const ROUNDS = 5;
const MAX_MEGABYTES = 5;
const MAX_READY_MS = 1000;

/** The page of a large report: its size, how long it takes to make, and when it can be used in a browser. */
export async function benchReportPage({ workDir }: { readonly workDir: string }): Promise<readonly BenchRow[]> {
  const given = report(manyResults(CASES));
  const html = htmlReport(given, { view: () => VIEW });
  const megabytes = Buffer.byteLength(html) / 1e6;
  const file = path.join(workDir, 'report.html');
  writeFileSync(file, html);
  return [
    {
      name: `page of ${String(CASES)} cases, size`,
      value: megabytes,
      unit: 'MB',
      bound: `< ${String(MAX_MEGABYTES)}`,
      ok: megabytes < MAX_MEGABYTES,
    },
    made('page', () => htmlReport(given, { view: () => VIEW })),
    made('JSON', () => jsonReport(given)),
    made('JUnit', () => junitReport(given)),
    made('Markdown', () => markdownReport(given)),
    ...(await inBrowser(file)),
  ];
}

function made(name: string, make: () => string): BenchRow {
  const times = Array.from({ length: ROUNDS }, () => {
    const from = performance.now();
    make();
    return performance.now() - from;
  });
  return { name: `${name} of ${String(CASES)} cases, made`, value: Math.min(...times), unit: 'ms' };
}

/** As the page itself tells it: from the opening of the file to the end of its script. */
async function inBrowser(file: string): Promise<readonly BenchRow[]> {
  if (CHROMIUM === undefined) return [];
  const browser = await openBrowser();
  try {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const page = await browser.newPage();
      await page.goto(`file://${file}#/cases`);
      times.push(Number(await page.evaluate('document.documentElement.dataset.ready')));
      await page.close();
    }
    const worst = Math.max(...times);
    const bound = `< ${String(MAX_READY_MS)}`;
    const name = `page of ${String(CASES)} cases, ready in Chromium, the slowest of ${String(ROUNDS)}`;
    return [{ name, value: worst, unit: 'ms', bound, ok: worst < MAX_READY_MS }];
  } finally {
    await browser.close();
  }
}
