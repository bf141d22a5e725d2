// Bundles the report page (console/report-file.tsx) into dist/report-page: one script and one style, which src/evals/page/report-page.ts
// puts into each report.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build, transform } from 'esbuild';

import { doors } from './doors.js';

const project = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Later styles override earlier ones. */
const STYLES = ['theme', 'parts', 'report'];

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
mkdirSync(project('dist/report-page'), { recursive: true });
write('script.js', bundled.outputFiles[0].text);
write('style.css', style.code);

/** Rejects text that could end the element around it. */
function write(name, text) {
  if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error(`${name} contains a text that would end its own element`);
  writeFileSync(project(`dist/report-page/${name}`), text.trim());
}
