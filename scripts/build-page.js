// The page of a report is TypeScript for browsers, in src/evals/page/browser. It is bundled into one script and one style, which stand as
// strings in src/evals/page/page-text.ts: so the library and the command have them without reading a file. A test compares the two.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { build, transformWithEsbuild } from 'vite';

const project = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Later ones win. */
const STYLES = ['theme', 'parts', 'cases', 'detail', 'trigger', 'narrow'];

/** The text of src/evals/page/page-text.ts. */
export async function pageText() {
  const bundled = await build({
    root: project('src/evals/page/browser'),
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      minify: 'esbuild',
      target: 'es2022',
      modulePreload: false,
      rollupOptions: { input: project('src/evals/page/browser/main.ts'), output: { format: 'iife' } },
    },
  });
  const [chunk] = bundled.output;
  const style = await transformWithEsbuild(
    STYLES.map((name) => readFileSync(project(`src/evals/page/browser/style/${name}.css`), 'utf8')).join('\n'),
    'page.css',
    {
      minify: true,
      loader: 'css',
    },
  );
  return [
    '// Made from src/evals/page/browser by `npm run page`; changed there.',
    '// oxfmt-ignore',
    `export const PAGE_SCRIPT = ${quoted(chunk.code)};`,
    '// oxfmt-ignore',
    `export const PAGE_STYLE = ${quoted(style.code)};`,
    '',
  ].join('\n');
}

/** Nothing in it can end the element that it is put into. */
function quoted(text) {
  const bare = text.trim();
  if (/<\/(?:script|style)|<!--/i.test(bare)) throw new Error('the page holds a text that would end its own element');
  return JSON.stringify(bare);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  writeFileSync(project('src/evals/page/page-text.ts'), await pageText());
