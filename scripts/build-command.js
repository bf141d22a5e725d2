// After tsc. The library stays as it is compiled, one module a file. The command is bundled into CommonJS chunks, because Node
// starts one such file faster than it starts fifty modules: `list` would take three times as long. Each command stays a chunk of its
// own, loaded when it is named.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { rollup } from 'rollup';
import { parseAst } from 'rollup/parseAst';

const project = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * Modules that a listing from the cache does not need: half of all the code. Each is in a chunk that is loaded by the first call of one
 * of its functions. It must export functions only.
 */
const LATE_FOR_LISTS = {
  // A file that the cache does not answer for.
  reader: [
    'core/frontmatter/skill-head',
    'core/frontmatter/quick-head',
    'core/frontmatter/colon-head',
    'core/frontmatter/missing',
    'registry/assemble',
    'registry/json-pieces',
  ],
  plan: ['core/catalog'],
  watch: ['registry/watch'],
};
/** The same for a run with one script in a sandbox: nearly half of what sessions import. */
const LATE_FOR_RUNS = {
  executors: ['container/executor', 'local', 'macos', 'probe', 'bridge', 'bubblewrap/support'].map(
    (name) => `executor/${name}`,
  ),
  host: ['network-request', 'grep', 'read-file', 'write-file', 'list-directory', 'trash'].map((name) => `host/${name}`),
  verifying: ['audit/verify', 'audit/journal-reader'],
  past: ['open-past', 'past-run', 'follow-past', 'past-child'].map((name) => `agent/${name}`),
  replaying: ['runtime/replay-run'],
  chatting: ['agent/chat'],
  documents: ['loader/read-resource'],
  models: ['model/open-model'],
  indexing: ['search/build', 'runtime/deep-index'],
  lines: ['line', 'meaning', 'pattern', 'hazards'].map((name) => `core/command/command-${name}`),
  questions: ['runtime/approval/pending-approvals', 'core/policy/approval-text'],
  answers: ['core/agent/action-stream', 'core/agent/answer-json'],
  copying: ['platform/copy-tree'],
  rare: ['runtime/compact', 'runtime/secret-sources', 'core/argument-fields'],
};
const LATE = { ...LATE_FOR_LISTS, ...LATE_FOR_RUNS };
const ENTRY = '\0entry:';
const STAND_IN = '\0stand-in:';
const chunkOf = new Map(
  Object.entries(LATE).flatMap(([chunk, names]) => names.map((name) => [project(`dist/${name}.js`), chunk])),
);

/** Modules cannot be imported in the middle of a synchronous walk, CommonJS can: who imports one gets functions that fetch the real ones. */
const loadLate = {
  name: 'load-late',
  async resolveId(id, importer) {
    if (id.startsWith(ENTRY)) return id;
    if (importer === undefined || importer.startsWith(ENTRY)) return null;
    const found = await this.resolve(id, importer, { skipSelf: true });
    const chunk = found === null ? undefined : chunkOf.get(found.id);
    return chunk === undefined || chunkOf.get(importer) === chunk ? null : STAND_IN + found.id;
  },
  load(id) {
    if (id.startsWith(ENTRY))
      return LATE[id.slice(ENTRY.length)]
        .map((name) => `export * from ${JSON.stringify(project(`dist/${name}.js`))};`)
        .join('\n');
    if (!id.startsWith(STAND_IN)) return null;
    const file = id.slice(STAND_IN.length);
    const stands = [...readFileSync(file, 'utf8').matchAll(/^export ((?:async )?function\*?|\S+) (\w+)/gm)].map(
      ([, kind, name]) => {
        if (!kind.includes('function')) throw new Error(`${file} exports ${name}, which is no function`);
        return `export function ${name}(...given) { return load().${name}(...given); }`;
      },
    );
    return ['let loaded;', `const load = () => (loaded ??= require('./${chunkOf.get(file)}.cjs'));`, ...stands].join(
      '\n',
    );
  },
};

/**
 * Each start reads these files whole: they lose comments that have lines of their own, a fifth of them, the blanks that lines begin with,
 * another one, and letters beyond ASCII, which take Node several times as long. In strings and patterns an escape means the same.
 */
const shorter = {
  name: 'shorter',
  renderChunk(code) {
    const bare = withoutIndents(code.replaceAll(/^[ \t]*(?:\/\*\*(?:[^*]|\*(?!\/))*\*\/|\/\/.*)\n/gm, ''));
    const ascii = bare.replaceAll(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    if (meaningOf(bare) !== meaningOf(code)) throw new Error('a chunk lost more than its comments');
    if (/String\.raw`[^`]*[^\x00-\x7f]/.test(bare)) throw new Error('String.raw would show the escapes');
    return ascii;
  },
};

/** Not in a text of several lines, where they are part of it. */
function withoutIndents(code) {
  const inText = new Set();
  const visit = (node) => {
    if (node.type === 'TemplateElement')
      for (const { index } of code.slice(node.start, node.end).matchAll(/\n/g)) inText.add(node.start + index + 1);
    forEachChild(node, visit);
  };
  visit(parseAst(code));
  return code.replaceAll(/^[ \t]+/gm, (blanks, index) => (inText.has(index) ? blanks : ''));
}

/** Node loads ten modules for `performance`, a millisecond of each start: the clock of the process runs as evenly. */
const ownClock = {
  name: 'own-clock',
  renderChunk(code) {
    const edits = [];
    const visit = (node) => {
      const { type, callee } = node;
      if (type === 'CallExpression' && callee.object?.name === 'performance' && callee.property.name === 'now')
        edits.push({ from: callee.start, to: callee.end, text: 'clock$$' });
      forEachChild(node, visit);
    };
    visit(parseAst(code));
    if (edits.length === 0) return null;
    const clock =
      'function clock$$() { const [seconds, rest] = process.hrtime(); return seconds * 1e3 + rest / 1e6; }\n';
    return `${edited(code, edits)}\n${clock}`;
  },
};

/**
 * Modules of Node that a chunk may do without are asked for when one of their functions is used first: all of them together take as long
 * to load as half of our own code, and a run without the network needs neither http nor tls.
 */
const NEEDED_ALWAYS = new Set(['node:fs', 'node:path', 'node:buffer']);
const lateBuiltins = {
  name: 'late-builtins',
  renderChunk(code) {
    const found = [...code.matchAll(/^const ([\w$]+) = require\('(node:[\w/]+)'\);\n/gm)].filter(
      ([, , id]) => !NEEDED_ALWAYS.has(id),
    );
    const uses = usesOf(
      parseAst(code),
      found.map(([, name]) => name),
    );
    const edits = found.flatMap(({ 0: line, 1: name, 2: id, index }) => {
      const places = uses.get(name);
      // One that stands for more than its members, or that something else is named like.
      if (places === undefined) return [];
      const declared = `let ${name}$$;\nconst ${name} = () => (${name}$$ ??= require('${id}'));\n`;
      return [
        { from: index, to: index + line.length, text: declared },
        // In brackets: `new name().Class` would make a new `name`.
        ...places.map((place) => ({ from: place, to: place + name.length, text: `(${name}())` })),
      ];
    });
    return edited(code, edits);
  },
};

function edited(code, edits) {
  let text = code;
  for (const edit of edits.toSorted((one, other) => other.from - one.from))
    text = text.slice(0, edit.from) + edit.text + text.slice(edit.to);
  return text;
}

/**
 * Patterns that ask for kinds of letters are made when they are used first: Node puts the letters together as soon as there is such a
 * pattern, which takes it half a millisecond, and a run uses few of them.
 */
const latePatterns = {
  name: 'late-patterns',
  renderChunk(code) {
    const tree = parseAst(code);
    const found = tree.body.flatMap((statement) => {
      const [{ id, init } = {}, second] = statement.type === 'VariableDeclaration' ? statement.declarations : [];
      const isPattern = init?.regex !== undefined || (init?.type === 'NewExpression' && init.callee.name === 'RegExp');
      const isOfLetters = isPattern && second === undefined && code.slice(init.start, init.end).includes('\\p{');
      return isOfLetters ? [{ name: id.name, id, statement, init }] : [];
    });
    const places = readsOf(
      tree,
      found.map(({ id }) => id),
    );
    const edits = found.flatMap(({ name, statement, init }) => {
      const reads = places.get(name);
      if (reads === undefined) return [];
      return [
        { from: statement.start, to: init.start, text: `let ${name}$$;\nconst ${name} = () => (${name}$$ ??= ` },
        { from: init.end, to: statement.end, text: ');' },
        ...reads.map((place) => ({ from: place, to: place + name.length, text: `${name}()` })),
      ];
    });
    return edited(code, edits);
  },
};

/** Where the value of a declared name is read; no list for a name that something else has as well, or that leaves the chunk. */
function readsOf(tree, declared) {
  const reads = new Map(declared.map(({ name }) => [name, []]));
  const visit = (node, parent, key) => {
    if (node.type === 'Identifier' && reads.has(node.name)) {
      const isLabel = !parent.computed && (key === 'property' || (key === 'key' && !parent.shorthand));
      const isRead =
        (parent.type === 'MemberExpression' && key === 'object') ||
        (parent.type === 'CallExpression' && key === 'arguments');
      if (isRead) reads.get(node.name).push(node.start);
      else if (!declared.includes(node) && !isLabel) reads.delete(node.name);
    }
    forEachChild(node, visit);
  };
  visit(tree, {}, '');
  return reads;
}

/** Where `name` of `name.member` stands; no list for a name that also stands for anything else, a variable of the same name included. */
function usesOf(tree, names) {
  const uses = new Map(names.map((name) => [name, []]));
  const visit = (node, parent, key) => {
    if (node.type === 'Identifier' && uses.has(node.name)) {
      const isMember = parent.type === 'MemberExpression' && key === 'object';
      const isLabel = !parent.computed && (key === 'property' || (key === 'key' && !parent.shorthand));
      const isRequired =
        parent.type === 'VariableDeclarator' && key === 'id' && parent.init?.callee?.name === 'require';
      if (isMember) uses.get(node.name).push(node.start);
      else if (!isLabel && !isRequired) uses.delete(node.name);
    }
    forEachChild(node, visit);
  };
  visit(tree, {}, '');
  return uses;
}

function forEachChild(node, visit) {
  for (const [key, value] of Object.entries(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof child === 'object' && child !== null && typeof child.type === 'string') visit(child, node, key);
}

/** The syntax tree without the places in the text. */
function meaningOf(code) {
  return JSON.stringify(parseAst(code), (key, value) => {
    if (key === 'start' || key === 'end') return undefined;
    return typeof value === 'bigint' ? String(value) : value;
  });
}

const command = (name) => project(`dist/cli/commands/${name}.js`);
/** Commands that load little: of what a session loads they get what they need, and not the rest. */
const SMALL = ['inspect', 'check', 'trust', 'approvals', 'install', 'runs'];

/**
 * What these import belongs to the first chunk that needs it; everything else is left to the bundler, which would cut what `run` loads
 * into ninety files.
 */
const CHUNKS = new Map([
  ['skillwright', [project('dist/cli/bin.js')]],
  [
    'main',
    // What a session and the reader both need is here: for it alone a run would load all of the reader.
    ['cli/main', 'cli/connection', 'cli/commands/list', 'core/policy/allowed-tools', 'core/frontmatter/name'].map(
      (name) => project(`dist/${name}.js`),
    ),
  ],
  ...Object.keys(LATE_FOR_LISTS).map((chunk) => [chunk, [ENTRY + chunk]]),
  // What of the configuration's modules a run without one needs: their schemas take longer to make than this takes to load.
  [
    'basics',
    ['session', 'execution', 'policy/access', 'policy/host-pattern', 'json/json-schema']
      .map((name) => project(`dist/core/${name}.js`))
      .concat(project('dist/platform/text-file.js')),
  ],
  // All that a listing loads more where there is a configuration.
  ['settings', [project('dist/runtime/config-files.js')]],
  ['search', [project('dist/runtime/skill-search.js')]],
  ['common', SMALL.map(command)],
  ['session', ['start-session', 'start-run'].map((name) => project(`dist/runtime/${name}.js`))],
  ['execution', ['execution/execution', 'host-files'].map((name) => project(`dist/runtime/${name}.js`))],
  ['agent', [command('run')]],
  // Before what goes on with runs: to list them needs none of it.
  ['records', [command('runs')]],
  // Last: what they share with the others is there already.
  ...Object.keys(LATE_FOR_RUNS).map((chunk) => [chunk, [ENTRY + chunk]]),
]);

const OF_SESSIONS = ['session', 'execution', 'agent'];

const reached = new Map();
function reachable(chunk, getModuleInfo) {
  const known = reached.get(chunk);
  if (known !== undefined) return known;
  const seen = new Set(CHUNKS.get(chunk));
  for (const id of seen) for (const next of getModuleInfo(id)?.importedIds ?? []) seen.add(next);
  reached.set(chunk, seen);
  return seen;
}

const bundle = await rollup({
  input: {
    skillwright: project('dist/cli/bin.js'),
    ...Object.fromEntries(Object.keys(LATE).map((chunk) => [chunk, ENTRY + chunk])),
  },
  external: (id) =>
    id.startsWith('node:') || ['yaml', 'zod', 'yauzl', 'fflate'].includes(id) || id.startsWith('@ai-sdk/'),
  treeshake: { moduleSideEffects: false },
  // The files of the bundle may take from the first one what it has already.
  preserveEntrySignatures: 'allow-extension',
  plugins: [
    { name: 'dirname', resolveImportMeta: (property) => (property === 'dirname' ? '__dirname' : null) },
    loadLate,
    shorter,
    ownClock,
    lateBuiltins,
    latePatterns,
  ],
  onwarn(warning) {
    throw new Error(warning.message);
  },
});
rmSync(project('dist/command'), { recursive: true, force: true });
await bundle.write({
  dir: project('dist/command'),
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name].cjs',
  dynamicImportInCjs: false,
  // What `list` needs in one file: each file more costs Node half a millisecond to find and open. The file before it is small and all
  // that `--version` loads; it loads the large one from kept code.
  manualChunks(id, { getModuleInfo }) {
    const isIn = (chunk) => reachable(chunk, getModuleInfo).has(id);
    return [...CHUNKS.keys()].find((chunk) => isIn(chunk) && (chunk !== 'common' || OF_SESSIONS.some(isIn)));
  },
  hoistTransitiveImports: false,
  onlyExplicitManualChunks: true,
  generatedCode: 'es2015',
});
await bundle.close();
// npm does this on install, a clone does not.
chmodSync(project('dist/command/skillwright.cjs'), 0o755);

// The published schema is the constant that also checks the file.
const { CONFIG_JSON_SCHEMA } = await import('../dist/core/config/config.js');
mkdirSync(project('schemas'), { recursive: true });
writeFileSync(project('schemas/config.schema.json'), `${JSON.stringify(CONFIG_JSON_SCHEMA, undefined, 2)}\n`);
const { EVAL_CASE_JSON_SCHEMA } = await import('../dist/core/eval/case-schema.js');
writeFileSync(project('schemas/eval-case.schema.json'), `${JSON.stringify(EVAL_CASE_JSON_SCHEMA, undefined, 2)}\n`);
