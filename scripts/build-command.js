// Bundles the command line with esbuild, after tsc has compiled the library. Commands stay separate chunks, loaded when they are named.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const project = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

rmSync(project('dist/command'), { recursive: true, force: true });
await build({
  absWorkingDir: project('.'),
  entryPoints: {
    skillwright: 'src/cli/bin.ts',
    // Started by path as threads and programs of their own, so they need a file of their own.
    forwarder: 'src/sandbox/network/forwarder.ts',
    'grep-worker': 'src/project/grep-worker.ts',
    'deep-index-worker': 'src/runtime/search/deep-index-worker.ts',
  },
  outdir: 'dist/command',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  // Identifiers keep their names, so that a stack trace can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
});
// npm does this on install, a clone does not.
chmodSync(project('dist/command/skillwright.js'), 0o755);

// The published schemas are the constants that also check the files.
const { CONFIG_JSON_SCHEMA } = await import('../dist/core/config/config.js');
const { EVAL_CASE_JSON_SCHEMA } = await import('../dist/evals/cases/case-schema.js');
mkdirSync(project('schemas'), { recursive: true });
writeFileSync(project('schemas/config.schema.json'), `${JSON.stringify(CONFIG_JSON_SCHEMA, undefined, 2)}\n`);
writeFileSync(project('schemas/eval-case.schema.json'), `${JSON.stringify(EVAL_CASE_JSON_SCHEMA, undefined, 2)}\n`);
