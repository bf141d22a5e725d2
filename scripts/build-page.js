// Bundles the report page (console/report-file.tsx) into one script and one style, stored as strings in src/evals/page/page-text.ts, so that
// the library and the CLI need no file at run time. A test compares the two.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { build, transform } from 'esbuild';

import { doors } from './doors.js';

const project = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Later styles override earlier ones. */
const STYLES = ['theme', 'parts', 'report'];

/** Returns the text of src/evals/page/page-text.ts. */
export async function pageText() {
  const bundled = await build({
    entryPoints: [project('console/report-file.tsx')],
    bundle: true,
    plugins: [doors],
    write: false,
    minify: true,
    charset: 'utf8',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    format: 'iife',
    target: 'es2022',
    logLevel: 'error',
  });
  const style = await transform(
    STYLES.map((name) => readFileSync(project(`console/style/${name}.css`), 'utf8')).join('\n'),
    { loader: 'css', minify: true, charset: 'utf8' },
  );
  return [
    '// Generated from console by `npm run page`. Do not edit.',
    '// oxfmt-ignore',
    `export const PAGE_SCRIPT = ${quoted(bundled.outputFiles[0].text)};`,
    '// oxfmt-ignore',
    `export const PAGE_STYLE = ${quoted(style.code)};`,
    '',
  ].join('\n');
}

/** Rejects text that could end the element around it. */
function quoted(text) {
  const bare = text.trim();
  if (/<\/(?:script|style)|<!--/i.test(bare))
    throw new Error('the page contains a text that would end its own element');
  return JSON.stringify(bare);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(project('src/evals/page/page-text.ts'), await pageText());
