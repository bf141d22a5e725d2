/**
 * Bundles examples/bundlers with pinned bundlers and the packed package, and runs what they made. Not part of `npm test`, because it
 * installs packages; test/bundles.system.test.ts does the same with esbuild.
 *
 *     npm run check:bundlers [-- NAME...]     CHECK_BUNDLERS_DIR=DIR keeps the installed packages for the next time
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { PROJECT, install, pack } from './packed.js';

const EXAMPLES = path.join(PROJECT, 'examples/bundlers');
const VERSIONS = JSON.parse(readFileSync(path.join(EXAMPLES, 'versions.json'), 'utf8'));
/** All that the program reports, in a bundle as outside. */
const REPORT = JSON.stringify({
  library: 'csv-report rules skill-author text-diff',
  loaded: [true, true],
  builtIn: 'csv-report skill-author text-diff',
  grep: 1,
  optional: 'package/missing',
});
const WEBPACK = 'node_modules/webpack/bin/webpack.js';
const NEXT = 'node_modules/next/dist/bin/next';
const CHECKS = {
  webpack: [{ build: [WEBPACK], run: ['out/main.cjs'] }],
  vite: [{ build: ['node_modules/vite/bin/vite.js', 'build'], run: ['out/main.js'] }],
  next: [
    { title: 'bundled', build: [NEXT, 'build'], run: ['ask.mjs', NEXT, 'start'] },
    { title: 'bundled, deployed', deployed: true, run: ['ask.mjs', 'server.js'], expected: /serverExternalPackages/ },
    { title: 'external', env: { EXTERNAL: '1' }, build: [NEXT, 'build'], run: ['ask.mjs', NEXT, 'start'] },
    { title: 'external, deployed', deployed: true, run: ['ask.mjs', 'server.js'] },
  ],
};

const kept = process.env['CHECK_BUNDLERS_DIR'];
const folder = path.resolve(kept ?? mkdtempSync(path.join(os.tmpdir(), 'check-bundlers-')));
const names = process.argv.slice(2);
const wrong = names.find((name) => !Object.hasOwn(CHECKS, name));
if (wrong !== undefined) {
  console.error(`unknown bundler ${wrong}: use ${Object.keys(CHECKS).join(', ')}`);
  process.exit(2);
}

let failures = 0;
try {
  const tarball = pack(folder);
  for (const [name, checks] of Object.entries(CHECKS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const home = path.join(folder, name);
    const installed = install(home, VERSIONS[name], tarball);
    for (const file of ['report.mjs', 'main.mjs']) cpSync(path.join(EXAMPLES, file), path.join(home, file));
    cpSync(path.join(EXAMPLES, name), home, { recursive: true });
    cpSync(path.join(PROJECT, 'skills'), path.join(home, 'skills'), { recursive: true });
    for (const check of checks) {
      const problem = installed ?? tryOut(home, check);
      if (problem !== undefined) failures += 1;
      const title = check.title === undefined ? name : `${name} (${check.title})`;
      console.log(problem === undefined ? `passed  ${title}` : `FAILED  ${title}: ${problem}`);
    }
  }
} finally {
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

/** Returns what went wrong. A build for a deployment is moved to where no packages are. */
function tryOut(home, { build, run, env = {}, deployed = false, expected = REPORT }) {
  const built = build === undefined ? { status: 0 } : start(home, build, env);
  if (built.status !== 0) return `the build failed: ${built.output}`;
  const place = deployed ? `${home}-deployed` : home;
  if (deployed) {
    rmSync(place, { recursive: true, force: true });
    cpSync(path.join(home, '.next/standalone'), place, { recursive: true });
    for (const name of ['ask.mjs', 'skills'])
      cpSync(path.join(home, name), path.join(place, name), { recursive: true });
  }
  const { status, output } = start(place, run, env);
  const isExpected = expected instanceof RegExp ? expected.test(output) : output.includes(expected);
  return status === 0 && isExpected ? undefined : `exit ${String(status)}: ${output}`;
}

function start(cwd, words, env) {
  const { PATH } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd,
    env: { PATH, HOME: cwd, NEXT_TELEMETRY_DISABLED: '1', ...env },
    encoding: 'utf8',
    timeout: 600_000,
  });
  return { status, output: `${stdout}${stderr}`.slice(-1_500) };
}
