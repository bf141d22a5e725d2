// Builds dist: modules and declarations by tsc (the package has only the declarations; tests import the modules), the bundled library, the
// bundled command, the console and the report page. Does nothing if dist and schemas are what the same sources gave the last time.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const SOURCES = [
  'src',
  'console',
  'scripts',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'node_modules/.package-lock.json',
];
const RESULTS = ['dist', 'schemas'];
const LAST_BUILD = '.cache/build.json';
// tsc and esbuild are Go programs, which spend up to a fifth of their time on collecting garbage at the default of 100.
const env = { ...process.env, GOGC: '400' };

const sources = digest(SOURCES);
const last = lastBuild();
if (last.sources === sources && last.results === digest(RESULTS)) console.log('dist is up to date');
else {
  rmSync('dist', { recursive: true, force: true });
  await Promise.all([
    compile(),
    run('scripts/build-library.js'),
    run('scripts/build-console.js'),
    run('scripts/build-page.js'),
  ]);
  mkdirSync(path.dirname(LAST_BUILD), { recursive: true });
  writeFileSync(LAST_BUILD, JSON.stringify({ sources, results: digest(RESULTS) }));
}

async function compile() {
  await run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--checkers', '1');
  await Promise.all([run('scripts/prune-types.js'), run('scripts/build-command.js')]);
}

/** Ends this process with the exit code of the first step that fails. */
function run(...words) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, words, { env, stdio: 'inherit' });
    child.on('close', (code) => (code === 0 ? resolve() : process.exit(code ?? 1)));
  });
}

/** Changes with the name, permissions or content of any file. */
function digest(places) {
  const hash = createHash('sha256');
  for (const file of places.flatMap(filesBelow).toSorted()) {
    const content = readFileSync(file);
    hash.update(`${file}\0${statSync(file).mode}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function filesBelow(place) {
  const entry = statSync(place, { throwIfNoEntry: false });
  if (entry === undefined) return [];
  return entry.isDirectory() ? readdirSync(place).flatMap((name) => filesBelow(path.join(place, name))) : [place];
}

function lastBuild() {
  try {
    return JSON.parse(readFileSync(LAST_BUILD, 'utf8'));
  } catch {
    return {};
  }
}
