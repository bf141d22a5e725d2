// After tsc. The library stays as it is compiled, one module a file. The command is bundled into CommonJS chunks, because Node
// starts one such file faster than it starts fifty modules: `list` would take three times as long. Each command stays a chunk of its
// own, loaded when it is named.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { rollup } from 'rollup';

const project = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const bundle = await rollup({
  input: project('dist/cli/bin.js'),
  external: (id) => id.startsWith('node:') || id === 'yaml',
  treeshake: { moduleSideEffects: false },
  plugins: [{ name: 'dirname', resolveImportMeta: (property) => (property === 'dirname' ? '__dirname' : null) }],
  onwarn(warning) {
    throw new Error(warning.message);
  },
});
rmSync(project('dist/command'), { recursive: true, force: true });
await bundle.write({
  dir: project('dist/command'),
  format: 'cjs',
  entryFileNames: 'skillwright.cjs',
  chunkFileNames: '[name].cjs',
  dynamicImportInCjs: false,
  // What `list` needs in one file: each file more costs Node half a millisecond to find and open. `start` comes before it, so that
  // the large file is already loaded from kept code; `version` is all that `--version` loads.
  manualChunks: {
    version: [project('dist/version.js')],
    start: [project('dist/cli/start.js')],
    main: ['main', 'connection', 'commands/list'].map((name) => project(`dist/cli/${name}.js`)),
  },
  generatedCode: 'es2015',
});
await bundle.close();
// npm does this on install, a clone does not.
chmodSync(project('dist/command/skillwright.cjs'), 0o755);

// The published schema is the constant that also checks the file.
const { CONFIG_JSON_SCHEMA } = await import('../dist/core/config.js');
mkdirSync(project('schemas'), { recursive: true });
writeFileSync(project('schemas/config.schema.json'), `${JSON.stringify(CONFIG_JSON_SCHEMA, undefined, 2)}\n`);
