// Builds the console (console) into dist/console: one page, one script, one style, without inline code.
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

import { viteDoors } from './doors.js';

const project = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

await build({
  root: project('console'),
  configFile: false,
  logLevel: 'warn',
  plugins: [viteDoors],
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    outDir: project('dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    // No inline script and no data address, which the content security policy would refuse.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: { output: { entryFileNames: 'console.js', assetFileNames: 'console[extname]' } },
  },
});
