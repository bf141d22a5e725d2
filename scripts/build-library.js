// Bundles the entry points of the library into dist/lib with esbuild, because Node needs most of a millisecond for each file it loads.
// esbuild puts files with the same loaders (entry points and lazy imports) into one chunk, which would be hundreds of chunks. So loaders
// also import some files that they do not need, which lets esbuild merge small chunks.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { argumentTypes } from './argument-types.js';
import { doorFile, doors as partDoors } from './doors.js';
import { isInstalled, optionalPackages } from './packages.js';

const project = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(path.join(project, 'package.json'), 'utf8'));
const doors = Object.values(exports).flatMap(({ types }) => types?.match(/(\w+)\.d\.ts$/)?.[1] ?? []);

/** Bytes of source below which a chunk is merged. */
const SMALL = 150_000;
/** Bytes of source that may be loaded in vain for one chunk less, summed over the loaders. */
const WASTE = 400_000;
/** Nothing is added to these: core runs outside Node, and the others are only a few kilobytes. */
const EXACT = ['core', 'client', 'mcp'];
/** Imports that cost little. A chunk with another package or module of Node gets no further loaders. */
const CHEAP = /^node:(?:buffer|crypto|events|fs|fs\/promises|os|path|timers\/promises|url|util)$/;

const entryPoints = doors.map((door) => `src/${door}.ts`);
const described = argumentTypes(doors);

/** An entry point exports its functions with a check of their arguments. */
function checkedExports(file) {
  const types = described.get(path.basename(file, '.ts'));
  const names = Object.keys(types.functions);
  if (names.length === 0) return [];
  return [
    `import { ${names.map((name) => `${name} as ${name}$`).join(', ')} } from '${file}';`,
    `import { checkedFunction } from 'src/core/check-arguments.ts';`,
    `const described = ${JSON.stringify(types)};`,
    ...names.map((name) => `export const ${name} = checkedFunction('${name}', described, ${name}$);`),
  ];
}

const options = {
  absWorkingDir: project,
  entryPoints,
  outdir: 'dist/lib',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // `sideEffects: false` in package.json would drop the imports that loaders add.
  ignoreAnnotations: true,
  chunkNames: 'chunk-[hash]',
  legalComments: 'none',
  logLevel: 'warning',
};

/**
 * Optional packages are loaded with a `require` that bundlers do not see: they would look for them when they build the program of a user
 * who never installs them.
 */
const optional = {
  name: 'optional',
  setup({ onLoad, onResolve }) {
    const filter = new RegExp(`^(?:${optionalPackages.join('|')})(?:/|$)`);
    onResolve({ filter }, ({ path: name }) => ({ path: name, namespace: 'optional' }));
    onLoad({ filter: /^/, namespace: 'optional' }, async ({ path: name }) => ({
      contents: [
        `import { installedRequire } from './src/platform/package-file.ts';`,
        `export const { ${Object.keys(await import(name)).join(', ')} } = installedRequire()('${name}');`,
      ].join('\n'),
      resolveDir: project,
    }));
  },
};

const packages = {
  name: 'packages',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./#]/ }, ({ kind, path: name }) =>
      kind !== 'entry-point' && isInstalled(name) ? { external: true } : undefined,
    );
  },
};

/** Replaces each entry point and each file that is imported lazily by a module that exports the same and imports the files of `added`. */
const loaders = (added) => ({
  name: 'loaders',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^/ }, ({ kind, namespace, path: name, resolveDir }) => {
      if (namespace === 'loader') return { path: path.join(project, name) };
      if (kind !== 'entry-point' && (kind !== 'dynamic-import' || !/^[.#]/.test(name))) return undefined;
      const file = name.startsWith('#') ? doorFile(name) : path.join(resolveDir, name);
      return { path: path.relative(project, file), namespace: 'loader' };
    });
    onLoad({ filter: /^/, namespace: 'loader' }, ({ path: file }) => ({
      contents: [
        `export * from '${file}';`,
        ...(entryPoints.includes(file) ? checkedExports(file) : []),
        ...(added.get(file) ?? []).map((name) => `import '${name}';`),
      ].join('\n'),
      resolveDir: project,
    }));
  },
});

/** The files that each loader imports in addition. */
function filesToAdd(inputs) {
  const names = Object.keys(inputs).filter((file) => file.startsWith('loader:'));
  const maskOf = (name) => 1n << BigInt(names.indexOf(name));
  const needed = new Map(names.map((name) => [name, staticImports(name, inputs)]));
  const loadersOf = new Map();
  for (const [name, files] of needed)
    for (const file of files) loadersOf.set(file, (loadersOf.get(file) ?? 0n) | maskOf(name));
  const exact = EXACT.reduce((mask, door) => mask | maskOf(`loader:src/${door}.ts`), 0n);

  const finished = new Set();
  for (;;) {
    const chunks = chunksOf(loadersOf, inputs);
    const mergeable = chunks.filter(({ size, loaders: mask }) => size < SMALL && !finished.has(mask));
    if (mergeable.length === 0) break;
    const small = mergeable.reduce((a, b) => (a.size <= b.size ? a : b));
    const [best] = chunks
      .filter((chunk) => chunk !== small)
      .map((chunk) => ({ chunk, waste: wasteOf(small, chunk, exact) }))
      .toSorted((a, b) => a.waste - b.waste);
    if (best.waste > WASTE) finished.add(small.loaders);
    else
      for (const { files } of new Set([...small.needs, ...best.chunk.needs]))
        for (const file of files) loadersOf.set(file, loadersOf.get(file) | small.loaders | best.chunk.loaders);
  }
  const isLoadedBy = (file, name) => (loadersOf.get(file) & maskOf(name)) !== 0n;
  return new Map(
    names.map((name) => [
      name.slice('loader:'.length),
      [...loadersOf.keys()].filter((file) => isLoadedBy(file, name) && !needed.get(name).has(file)),
    ]),
  );
}

/** What a file imports statically, directly or not. */
function staticImports(start, inputs) {
  const files = new Set([start]);
  for (const file of files)
    for (const { path: next, kind, external } of inputs[file].imports)
      if (kind === 'import-statement' && external !== true) files.add(next);
  files.delete(start);
  return files;
}

/** The chunks that esbuild makes, with the chunks that each needs, itself included. */
function chunksOf(loadersOf, inputs) {
  const chunks = new Map();
  for (const [file, mask] of loadersOf) {
    const chunk = chunks.get(mask) ?? { loaders: mask, files: [], size: 0, isCheap: true, masks: new Set() };
    chunks.set(mask, chunk);
    chunk.files.push(file);
    chunk.size += inputs[file].bytes;
    chunk.isCheap &&= !file.startsWith('optional:');
    for (const { path: name, kind, external } of inputs[file].imports) {
      if (kind !== 'import-statement') continue;
      if (external === true) chunk.isCheap &&= CHEAP.test(name);
      else chunk.masks.add(loadersOf.get(name));
    }
  }
  const all = [...chunks.values()];
  for (const chunk of all) chunk.needs = new Set([chunk, ...[...chunk.masks].map((mask) => chunks.get(mask))]);
  for (const { needs } of all) for (const next of needs) for (const chunk of next.needs) needs.add(chunk);
  return all;
}

/** The bytes that loaders would load in vain if the loaders of two chunks loaded both. */
function wasteOf(a, b, exact) {
  const all = a.loaders | b.loaders;
  let waste = 0;
  for (const chunk of new Set([...a.needs, ...b.needs])) {
    const added = all & ~chunk.loaders;
    if (added === 0n) continue;
    if (!chunk.isCheap || (added & exact) !== 0n) return Infinity;
    waste += chunk.size * added.toString(2).replaceAll('0', '').length;
  }
  return waste;
}

const { metafile } = await build({
  ...options,
  plugins: [loaders(new Map()), partDoors, optional, packages],
  metafile: true,
  write: false,
});
await build({ ...options, plugins: [loaders(filesToAdd(metafile.inputs)), partDoors, optional, packages] });
