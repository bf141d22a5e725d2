/**
 * Writes a report as one HTML file that needs no server and makes no requests. The data is JSON that cannot end its element, the script
 * inserts it as text only, and the content security policy blocks everything else.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { builtFile } from '#platform';
import type { EvalReport } from '../report/result.ts';
import { pageData, type PageOptions } from './page-data.ts';
import type { PageData } from './view.ts';

export function htmlReport(report: EvalReport, options: PageOptions = {}): string {
  return htmlPage(pageData(report, options));
}

function htmlPage(data: PageData): string {
  const [script, style] = [readPageFile('script.js'), readPageFile('style.css')];
  const policy = [
    "default-src 'none'",
    `script-src '${hashText(script)}'`,
    `style-src '${hashText(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<title>Evaluation report</title>',
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    '<div id="app"><noscript>This report needs JavaScript, which runs in this file only.</noscript></div>',
    `<script type="application/json" id="data">${dataText(data)}</script>`,
    `<script>${script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/** `scripts/build-page.js` writes these files from `console/report-file.tsx`. */
function readPageFile(name: string): string {
  return readFileSync(builtFile(`report-page/${name}`), 'utf8');
}

/** Escapes `<`, so that no element can start or end in the data. */
function dataText(data: PageData): string {
  return JSON.stringify(data).replaceAll('<', String.raw`\u003c`);
}

function hashText(text: string): string {
  return `sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}`;
}
