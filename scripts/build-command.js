// After tsc. The library stays as it is compiled, one module a file. The command is bundled into CommonJS chunks, because Node
// starts one such file faster than it starts fifty modules: `list` would take three times as long. Each command stays a chunk of its
// own, loaded when it is named.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { rollup } from 'rollup';

const project = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The reader of frontmatter, by the functions that a walk calls: a third of all the code, and not needed where the cache answers. */
const READER = new Map([
  [project('dist/core/skill-head.js'), 'readPlainHead'],
  [project('dist/core/frontmatter/missing.js'), 'readWithoutFences'],
]);
const READER_ENTRY = '\0reader';
const STAND_IN = '\0stand-in:';

/** Modules cannot be imported in the middle of a synchronous walk, CommonJS can: the walk gets functions that fetch the real ones. */
const lazyReader = {
  name: 'lazy-reader',
  async resolveId(id, importer) {
    if (id === READER_ENTRY) return id;
    if (importer !== project('dist/registry/skill-folder.js')) return null;
    const found = await this.resolve(id, importer, { skipSelf: true });
    return found !== null && READER.has(found.id) ? STAND_IN + found.id : null;
  },
  load(id) {
    if (id === READER_ENTRY)
      return [...READER].map(([file, name]) => `export { ${name} } from ${JSON.stringify(file)};`).join('\n');
    if (!id.startsWith(STAND_IN)) return null;
    const name = READER.get(id.slice(STAND_IN.length));
    return `export function ${name}(source, options) { return require('./reader.cjs').${name}(source, options); }`;
  },
};

/** Node reads ASCII several times faster than other text. In strings and patterns an escape means the same. */
const asciiOnly = {
  name: 'ascii-only',
  renderChunk(code) {
    if (/String\.raw`[^`]*[^\x00-\x7f]/.test(code))
      throw new Error('String.raw would show the escapes of other letters');
    return code.replaceAll(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  },
};

/** What these import belongs to the first chunk that needs it; everything else is left to the bundler. */
const CHUNKS = new Map([
  ['skillwright', [project('dist/cli/bin.js')]],
  ['main', ['main', 'connection', 'commands/list'].map((name) => project(`dist/cli/${name}.js`))],
  ['reader', [READER_ENTRY]],
]);

function reachable(starts, getModuleInfo) {
  const seen = new Set(starts);
  for (const id of seen) for (const next of getModuleInfo(id)?.importedIds ?? []) seen.add(next);
  return seen;
}

const bundle = await rollup({
  input: { skillwright: project('dist/cli/bin.js'), reader: READER_ENTRY },
  external: (id) => id.startsWith('node:') || id === 'yaml',
  treeshake: { moduleSideEffects: false },
  // The files of the bundle may take from the first one what it has already.
  preserveEntrySignatures: 'allow-extension',
  plugins: [
    { name: 'dirname', resolveImportMeta: (property) => (property === 'dirname' ? '__dirname' : null) },
    lazyReader,
    asciiOnly,
  ],
  onwarn(warning) {
    throw new Error(warning.message);
  },
});
rmSync(project('dist/command'), { recursive: true, force: true });
const { output } = await bundle.write({
  dir: project('dist/command'),
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name].cjs',
  dynamicImportInCjs: false,
  // What `list` needs in one file: each file more costs Node half a millisecond to find and open. The file before it is small and all
  // that `--version` loads; it loads the large one from kept code.
  manualChunks(id, { getModuleInfo }) {
    const chunk = [...CHUNKS].find(([, starts]) => reachable(starts, getModuleInfo).has(id));
    return chunk?.[0];
  },
  hoistTransitiveImports: false,
  onlyExplicitManualChunks: true,
  generatedCode: 'es2015',
});
await bundle.close();
if (output.some(({ name, moduleIds = [] }) => name === 'main' && moduleIds.some((id) => READER.has(id))))
  throw new Error('the reader of frontmatter has got into the file that every listing loads');
// npm does this on install, a clone does not.
chmodSync(project('dist/command/skillwright.cjs'), 0o755);

// The published schema is the constant that also checks the file.
const { CONFIG_JSON_SCHEMA } = await import('../dist/core/config.js');
mkdirSync(project('schemas'), { recursive: true });
writeFileSync(project('schemas/config.schema.json'), `${JSON.stringify(CONFIG_JSON_SCHEMA, undefined, 2)}\n`);
