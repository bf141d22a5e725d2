/**
 * Compiles and runs examples/frameworks with the pinned versions of their frameworks and the packed package, against a local mock of the
 * model vendors. The model loads a skill, reads a file of it, and answers only if each result arrived. Not part of `npm test`, because it
 * installs packages; the frameworks that this repository has anyway are tested by test/examples.system.test.ts.
 *
 *     npm run check:frameworks [-- NAME...]     CHECK_FRAMEWORKS_DIR=DIR keeps the installed packages for the next time
 */
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { LLMock } from '@copilotkit/aimock';

import { PROJECT, install, pack } from './packed.js';

const EXAMPLES = path.join(PROJECT, 'examples/frameworks');
const FRAMEWORKS = JSON.parse(readFileSync(path.join(EXAMPLES, 'versions.json'), 'utf8'));
/** Each answer of the model needs the result of the call before. */
const MODEL = JSON.parse(readFileSync(path.join(EXAMPLES, 'model.json'), 'utf8'));
const ANSWER = MODEL[0].response.content;
const kept = process.env['CHECK_FRAMEWORKS_DIR'];
const folder = path.resolve(kept ?? mkdtempSync(path.join(os.tmpdir(), 'check-frameworks-')));
const names = process.argv.slice(2);
const wrong = names.find((name) => !Object.hasOwn(FRAMEWORKS, name));
if (wrong !== undefined) {
  console.error(`unknown framework ${wrong}: use ${Object.keys(FRAMEWORKS).join(', ')}`);
  process.exit(2);
}

const server = new LLMock({ port: 0 });
const results = [];
try {
  const tarball = pack(folder);
  await server.start();
  for (const [name, framework] of Object.entries(FRAMEWORKS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const packages = { ...framework.packages, '@types/node': '20.19.43' };
    const problem =
      install(path.join(folder, name), packages, tarball) ??
      compile(name, framework) ??
      (await answers(name, framework));
    results.push({ name, passed: problem === undefined });
    console.log(
      `${problem === undefined ? 'passed' : 'FAILED'}  ${name}${problem === undefined ? '' : `: ${problem}`}`,
    );
  }
} finally {
  await server.stop();
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
}
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;

/** The example and our declarations must be right; those of frameworks are read, and their mistakes are theirs. */
function compile(name, { file }) {
  const home = path.join(folder, name);
  copyFileSync(path.join(EXAMPLES, `${file}.ts`), path.join(home, 'main.ts'));
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023'],
    types: ['node'],
    module: 'nodenext',
    strict: true,
    skipLibCheck: false,
    verbatimModuleSyntax: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
  };
  writeFileSync(path.join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }));
  const tsc = path.join(PROJECT, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', '.', '--checkers', '1'], { cwd: home, encoding: 'utf8' });
  const wrong = stdout.split('\n').filter((line) => /^(?:main\.ts|node_modules\/skillwright\/)/.test(line));
  return wrong.length > 0 || !existsSync(path.join(home, 'main.js')) ? wrong.join('\n') || stdout : undefined;
}

async function answers(name, { prefix = '' }) {
  const home = path.join(folder, name);
  cpSync(path.join(PROJECT, 'skills'), path.join(home, 'skills'), { recursive: true });
  server.clearFixtures().resetMatchCounts();
  const text = JSON.stringify(MODEL).replaceAll('"name":"', `"name":"${prefix}`);
  server.addFixturesFromJSON(JSON.parse(text));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_API_KEY: 'none',
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'none',
    GOOGLE_GEMINI_BASE_URL: server.url,
    GEMINI_API_KEY: 'none',
    GOOGLE_GENAI_API_KEY: 'none',
    // Claude Code refuses root without it.
    IS_SANDBOX: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    MASTRA_TELEMETRY_DISABLED: '1',
  };
  const child = spawn(process.execPath, ['main.js'], {
    cwd: home,
    env,
    timeout: 120_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const status = await new Promise((resolve) => child.on('close', resolve));
  return status === 0 && output.includes(ANSWER) ? undefined : `exit ${String(status)}: ${output.slice(-1_500)}`;
}
