// Bundles the command line with esbuild, after tsc has compiled the library. Commands stay separate chunks, loaded when they are named.
// The chunks are CommonJS, because an empty ES module alone makes Node start a quarter slower.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build, transform } from 'esbuild';

import { doors } from './doors.js';
import { isInstalled, writeNotices } from './packages.js';

const project = (file) => fileURLToPath(new URL(`../${file}`, import.meta.url));
const directory = project('dist/command');
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });

const options = {
  absWorkingDir: project('.'),
  outdir: directory,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  // Identifiers keep their names, so that a stack trace can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
};
const commonJs = { format: 'cjs', define: { 'import.meta.dirname': '__dirname' } };

/**
 * Packages that the user installs stay outside, except `yaml` and those without a CommonJS build: not every supported Node can `require`
 * an ES module. What the bundled packages need themselves is bundled as well.
 */
const packages = {
  name: 'packages',
  setup({ onResolve }) {
    const bundled =
      /^(@modelcontextprotocol|@noble\/hashes|fast-string-(truncated-)?width|jsonriver|modern-tar)(\/|$)/u;
    onResolve({ filter: /^[^./]/ }, ({ path: name, kind }) => {
      if (kind === 'entry-point') return undefined;
      // Its build for Node is 70 CommonJS files, which take 30 ms to load. The other build is the same code as ES modules.
      if (name === 'yaml') return { path: project('node_modules/yaml/browser/dist/index.js') };
      if (bundled.test(name)) return { path: fileURLToPath(import.meta.resolve(name)) };
      return isInstalled(name) ? { external: true } : undefined;
    });
  },
};

/** One object for all importers of `node:path`; otherwise each copies it when it is loaded. */
const nodePath = {
  name: 'node-path',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:path$/ }, () => ({ path: 'node:path', namespace: 'builtin' }));
    onLoad({ filter: /./, namespace: 'builtin' }, () => ({
      contents:
        "const path = process.getBuiltinModule('node:path'); export const { basename, posix } = path; export default path;",
    }));
  },
};

/** The entry of the chunks only names the shared one: it becomes part of the file that loads it. The hook loads most of itself on demand. */
const chunkEntry = {
  name: 'chunk-entry',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/start\.ts$/ }, () => ({ path: './start.js', external: true }));
    onResolve({ filter: /^\.\/hook-program\.ts$/ }, () => ({ path: './hook-program.js', external: true }));
  },
};

/**
 * Chunks that are loaded together are one file: Node takes a while to find each, and their compiled code is kept (src/cli/keep-packs.ts).
 * Each pack is named by the modules whose chunks, with all that these import, it holds: `read` has
 * what reads skills, `run` what an answer with a script needs beside.
 */
const PACKS = {
  start: ['src/cli/start.ts'],
  read: [
    'src/cli/skills/search.ts',
    'src/cli/skills/check.ts',
    'src/cli/skills/inspect.ts',
    'src/packs/browse/search-sources.ts',
    'src/packs/browse/source-store.ts',
  ],
  run: [
    'src/cli/agent/run.ts',
    'src/runtime/start-run.ts',
    'src/runtime/start-session.ts',
    'src/runtime/execution/open-programs.ts',
    'src/runtime/install-packages.ts',
  ],
};

/** esbuild splits only ES modules, so each chunk is converted afterwards. */
async function buildChunks() {
  const { outputFiles, metafile } = await build({
    ...options,
    entryPoints: { start: 'src/cli/start.ts' },
    inject: ['scripts/shared-chunk.js'],
    // `sideEffects: false` in package.json would drop the injected imports.
    ignoreAnnotations: true,
    splitting: true,
    format: 'esm',
    plugins: [doors, nodePath, packages],
    write: false,
    metafile: true,
  });
  writeNotices(metafile.inputs);
  const chunks = new Map();
  await Promise.all(
    outputFiles.map(async (file) => {
      const { code } = await transform(file.text, {
        ...commonJs,
        // For Node, esbuild would repeat all names for importers that are ES modules. There are none.
        platform: 'neutral',
        target: options.target,
        minifyWhitespace: true,
        minifySyntax: true,
        // `import()` of a chunk becomes `require`: it does not start Node's loader of ES modules.
        supported: { 'dynamic-import': false },
        legalComments: 'none',
      });
      chunks.set(path.basename(file.path), withSharedBuiltins(withPlainExports(code)));
    }),
  );
  return writePacks(chunks, metafile.outputs);
}

/** Writes the packs, and each of the other chunks as a file. Returns what makes other code load chunks from packs. */
function writePacks(chunks, outputs) {
  const packs = new Map();
  for (const [pack, modules] of Object.entries(PACKS))
    for (const module of modules) {
      const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === module);
      if (found === undefined) throw new Error(`the pack ${pack} names ${module}, which is no chunk`);
      addChunk(found[0], pack);
    }
  function addChunk(output, pack) {
    const name = path.basename(output);
    if (packs.has(name)) return;
    packs.set(name, pack);
    for (const { path: imported, kind } of outputs[output].imports)
      if (kind === 'import-statement' && outputs[imported] !== undefined) addChunk(imported, pack);
  }
  const withPacks = (code, own) =>
    code.replaceAll(/\brequire\("\.\/([\w-]+\.js)"\)/gu, (all, name) => {
      const pack = packs.get(name);
      if (pack === undefined) return all;
      return `${pack === own ? 'requireInPack' : `require("./${pack}.js")`}("${name}")`;
    });
  for (const [name, code] of chunks) if (!packs.has(name)) writeFileSync(path.join(directory, name), withPacks(code));
  for (const pack of Object.keys(PACKS)) {
    const members = [...chunks].filter(([name]) => packs.get(name) === pack);
    const functions = members.map(([name, code]) => `"${name}"(module){${withPacks(code, pack)}\n}`);
    // A chunk runs when it is first asked for, as a file does.
    const text = `const chunks={${functions.join(',')}},loaded={};
function requireInPack(name){let module=loaded[name];if(module===void 0)chunks[name](module=loaded[name]={exports:{}});return module.exports}
module.exports=requireInPack;`;
    writeFileSync(path.join(directory, `${pack}.js`), text);
  }
  return withPacks;
}

/**
 * esbuild defines a getter for each export, for ES modules that import each other. Chunks do not, and no export is assigned again, so an
 * object with all of them at the end is enough.
 */
function withPlainExports(code) {
  const getters =
    /var stdin_exports=\{\};__export\(stdin_exports,(\{[^{}]*\})\);module\.exports=__toCommonJS\(stdin_exports\);/u;
  const [all, names] = getters.exec(code) ?? [];
  if (all === undefined) return code;
  if (code.includes('__esm('))
    throw new Error('a chunk has modules that run later than the chunk that exports from them');
  return `${code.replace(all, '')}module.exports=${names.replaceAll('()=>', '')};`;
}

/** Every source file of a chunk requires its builtin modules. The first of them is enough: Node takes a while to find each. */
function withSharedBuiltins(code) {
  const known = new Map();
  return code.replaceAll(/\b(import_node_\w+)=require\("(node:[\w/]+)"\)/gu, (all, name, builtin) => {
    if (known.has(builtin)) return `${name}=${known.get(builtin)}`;
    known.set(builtin, name);
    return all;
  });
}

const withPacks = await buildChunks();
await build({
  ...options,
  ...commonJs,
  entryPoints: {
    skillwright: 'src/cli/bin.ts',
    // Started by hooks of agents, on each prompt.
    hook: 'src/cli/hook.ts',
    'hook-answer': 'src/cli/hook-answer.ts',
    'hook-program': 'src/cli/hook-program.ts',
    // Started by path as threads, so they need a file of their own.
    'grep-worker': 'src/project/grep-worker.ts',
    'deep-index-worker': 'src/runtime/search/deep-index-worker.ts',
  },
  supported: { 'dynamic-import': false },
  plugins: [chunkEntry, doors, nodePath, packages],
});
const command = path.join(directory, 'skillwright.js');
writeFileSync(command, withPacks(readFileSync(command, 'utf8')));
writeFileSync(path.join(directory, 'package.json'), '{ "type": "commonjs" }\n');
// npm does this on install, a clone does not.
chmodSync(command, 0o755);

// The published schemas are the constants that also check the files.
const { CONFIG_JSON_SCHEMA } = await import('../dist/core/config/config.js');
const { EVAL_CASE_JSON_SCHEMA } = await import('../dist/evals/cases/case-schema.js');
mkdirSync(project('schemas'), { recursive: true });
writeFileSync(project('schemas/config.schema.json'), `${JSON.stringify(CONFIG_JSON_SCHEMA, undefined, 2)}\n`);
writeFileSync(project('schemas/eval-case.schema.json'), `${JSON.stringify(EVAL_CASE_JSON_SCHEMA, undefined, 2)}\n`);
