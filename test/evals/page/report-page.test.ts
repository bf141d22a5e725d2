import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';

import { htmlReport, pageData } from '../../../src/evals/page/report-page.ts';
import { EVERYTHING, toRows, selected } from '../../../console/report/select.ts';
import { verifies } from '../../conformance/verifies.ts';
import { HOSTILE, hostileReport } from '../hostile-report.ts';
import { fullReport, manyResults, report, result } from '../sample-report.ts';
import { VIEW } from './sample-view.ts';

function dataIn(html: string): unknown {
  const from = html.indexOf('id="data">') + 'id="data">'.length;
  return JSON.parse(html.slice(from, html.indexOf('</script>', from)));
}

describe('the HTML report', () => {
  verifies('EVAL-4', 'HTML is one file that loads nothing and runs only its own script', () => {
    const html = htmlReport(fullReport());
    expect(html).not.toMatch(/(?:src|href)=|@import|url\(/);
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
    const hashOf = (element: string): string => {
      const from = html.lastIndexOf(`<${element}>`) + element.length + 2;
      const text = html.slice(from, html.lastIndexOf(`</${element}>`));
      return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    };
    expect(policy).toBe(
      `default-src 'none'; script-src ${hashOf('script')}; style-src ${hashOf('style')}; base-uri 'none'; form-action 'none'`,
    );
  });

  function expectWhole(text: string): void {
    const given = hostileReport(text);
    const html = htmlReport(given);
    expect(dataIn(html)).toEqual(JSON.parse(JSON.stringify(pageData(given))));
    expect(html.match(/<\/?script/gi)).toHaveLength(4);
    expect(html.match(/<!--/g)).toBeNull();
  }

  test.each(HOSTILE)('keeps untrusted text as data: %j', expectWhole);

  test('keeps any text as data', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), expectWhole), { numRuns: 20 });
  });

  test('has the changes since an earlier report', () => {
    const html = htmlReport(report([result('a', { status: 'failed' })]), { before: report([result('a')]) });
    expect(dataIn(html)).toMatchObject({ comparison: { counts: { broken: 1 } } });
  });
});

describe('the data of the page', () => {
  test('stays below 5 MB for a thousand cases, with as many runs as fit', () => {
    const html = htmlReport(report(manyResults(1000)), { view: () => VIEW, maxPassedViews: 1000 });
    expect(Buffer.byteLength(html)).toBeLessThan(5_000_000);
    expect(Object.keys((dataIn(html) as { views: object }).views).length).toBeGreaterThan(300);
  });

  test('has runs of failures first, then a few passed ones, and counts the rest', () => {
    const results = [
      result('a', { run: '/a' }),
      result('b', { run: '/b' }),
      result('c', { run: '/c', status: 'failed' }),
      result('d'),
    ];
    const { views } = pageData(report(results), { view: () => VIEW, maxPassedViews: 1 });
    expect(Object.keys(views)).toEqual(['0', '2']);
  });

  test('shortens texts until all results fit', () => {
    const long = Array.from({ length: 300 }, (_, place) => result(String(place), { answer: '語'.repeat(30_000) }));
    const { report: shown, isCut } = pageData(report(long), { maxBytes: 500_000 });
    expect(isCut).toBe(true);
    expect(shown.results).toHaveLength(300);
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(400_000);
    expect(pageData(fullReport()).isCut).toBe(false);
  });
});

describe('the rows of the table', () => {
  const rows = toRows([
    result('b', { tags: ['csv'], status: 'failed' }),
    result('a', { input: 'Find the SUM', tags: ['text'] }),
    result('c', { cost: { ...result('c').cost, inputTokens: 9 } }),
  ]);
  const ids = (selection: Partial<typeof EVERYTHING>): string =>
    selected(rows, { ...EVERYTHING, ...selection })
      .map((row) => row.result.case)
      .join('');

  test('match every word, a status and the tag', () => {
    expect([
      ids({}),
      ids({ text: 'sum find' }),
      ids({ statuses: ['failed', 'error'] }),
      ids({ tag: 'text' }),
      ids({ text: 'zzz' }),
    ]).toEqual(['bac', 'a', 'b', 'a', '']);
  });

  test('sort by a column in both directions', () => {
    expect([
      ids({ column: 'case' }),
      ids({ column: 'case', isDescending: true }),
      ids({ column: 'tokens' }),
      ids({ column: 'status' }),
    ]).toEqual(['abc', 'cba', 'cba', 'bac']);
  });
});
