/**
 * Runs a trigger suite with every agent CLI that installs here: real programs from npm, a local mock model, no network except the loopback,
 * and canary skills in the home of the user and in the folders above. Prints the table of docs/eval-subjects.md. Then compares what seven
 * agents list of 20, 100 and 400 skills with what `skillwright why` predicts, and their transcripts with what `skillwright usage` reads. Not part of `npm test`.
 *
 *     npm run check:agents [-- AGENT...]     CHECK_AGENTS_DIR=DIR keeps the installed CLIs for the next time
 *                                            CHECK_AGENTS_ONLY=catalog, usage, hook or hints skips the others, CHECK_AGENTS_LATEST=1 takes new versions
 *                                            CHECK_AGENTS_DATA=DIR measures hints with the real skills in DIR/retrieval
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { CATALOG_AGENTS, checkCatalog, installCatalogAgent, printCatalogs } from './check-agents/catalog.js';
import { checkHook, printHooks } from './check-agents/hook.js';
import { checkHints, HINT_AGENTS, printHints, readHintData } from './check-agents/hints.js';
import { startMockModel } from './check-agents/mock-model.js';
import { checkUsage, printUsage } from './check-agents/usage.js';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const COMMAND = path.join(PROJECT, 'dist/command/skillwright.js');
const INSIDE = 'CHECK_AGENTS_INSIDE';

/** Versions that were tried; an update of one is a reason to run this again. */
const AGENTS = {
  'claude-code': { packages: ['@anthropic-ai/claude-code@2.1.197'], program: 'claude', model: 'claude-sonnet-4-5' },
  codex: { packages: ['@openai/codex@0.166'], program: 'codex', model: 'gpt-5' },
  gemini: { packages: ['@google/gemini-cli@0.61'], program: 'gemini', model: 'gemini-2.5-pro' },
  opencode: { packages: ['opencode-ai@1.18.18'], program: 'opencode', model: 'anthropic/claude-sonnet-4-5' },
  pi: { packages: ['@earendil-works/pi-coding-agent@0.87.1'], program: 'pi', model: 'anthropic/claude-sonnet-4-5' },
};

const SKILLS = {
  'csv-report': 'Summarises a CSV file as a Markdown report. Use it when the user has a CSV file.',
  'text-diff': 'Compares two texts word by word. Use it when the user wants to compare two texts.',
};
const RULES = { 'brass-lantern-check': /brass lantern/i, 'csv-report': /\bcsv\b/i, 'text-diff': /\bcompare\b/i };
const QUERIES = {
  'csv-report': { yes: ['Summarise my CSV file of sales', 'Write a report about this CSV'], no: ['Tell me a joke'] },
  'text-diff': { yes: ['Compare these two drafts'], no: ['What is the capital of France?'] },
};
const CANARY = 'canary-skill';

if (process.env[INSIDE] === undefined) await outside();
else await inside(JSON.parse(process.env[INSIDE]));

/** Installs the CLIs, then starts this script again in a sandbox whose only network is the loopback. */
async function outside() {
  const names = process.argv.slice(2);
  const known = [...new Set([...Object.keys(AGENTS), ...CATALOG_AGENTS])];
  const wrong = names.find((name) => !known.includes(name));
  if (wrong !== undefined) {
    console.error(`unknown agent ${wrong}: use ${known.join(', ')}`);
    process.exit(2);
  }
  if (!existsSync(COMMAND)) execFileSync('npm', ['run', 'build'], { cwd: PROJECT, stdio: 'inherit' });
  const kept = process.env['CHECK_AGENTS_DIR'];
  const folder = kept ?? mkdtempSync(path.join(os.tmpdir(), 'check-agents-'));
  const world = mkdtempSync(path.join(os.tmpdir(), 'check-agents-world-'));
  try {
    const isWanted = (name) => names.length === 0 || names.includes(name);
    const only = process.env['CHECK_AGENTS_ONLY'];
    const wanted = only !== undefined ? [] : Object.keys(AGENTS).filter(isWanted);
    const installed = wanted.map((name) => ({ name, problem: install(name, folder) }));
    const isLatest = process.env['CHECK_AGENTS_LATEST'] === '1';
    const prefix = path.join(folder, isLatest ? 'catalog-latest' : 'catalog');
    const catalogs = CATALOG_AGENTS.filter(isWanted).map((id) => ({
      id,
      problem: installCatalogAgent(id, prefix, isLatest),
    }));
    const fixtures = process.env['CHECK_AGENTS_TRANSCRIPTS'];
    const options = JSON.stringify({
      folder,
      world,
      installed,
      catalogs,
      prefix,
      only,
      fixtures,
      data: process.env['CHECK_AGENTS_DATA'],
    });
    const argv = [process.execPath, fileURLToPath(import.meta.url)];
    const [command, ...words] = withoutNetwork(argv);
    const child = spawn(command, words, { stdio: 'inherit', env: { PATH: process.env.PATH, [INSIDE]: options } });
    process.exitCode = await new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
  } finally {
    rmSync(world, { recursive: true, force: true });
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function install(name, folder) {
  const { packages, program } = AGENTS[name];
  const prefix = path.join(folder, name);
  if (existsSync(path.join(prefix, 'node_modules/.bin', program))) return '';
  mkdirSync(prefix, { recursive: true });
  writeFileSync(path.join(prefix, 'package.json'), '{"private":true}');
  const words = ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages];
  const { status, stderr } = spawnSync('npm', words, { cwd: prefix, encoding: 'utf8' });
  return status === 0 ? '' : `npm install failed: ${stderr.trim().split('\n')[0] ?? ''}`;
}

/** A network namespace with nothing but the loopback. bubblewrap brings it up by itself. */
function withoutNetwork(argv) {
  const bubblewrap = ['bwrap', '--unshare-net', '--dev-bind', '/', '/', '--die-with-parent', '--'];
  if (spawnSync(bubblewrap[0], [...bubblewrap.slice(1), 'true']).status === 0) return [...bubblewrap, ...argv];
  const unshare = ['unshare', '--net', '--map-root-user', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  if (spawnSync(unshare[0], [...unshare.slice(1), 'true']).status === 0) return [...unshare, ...argv];
  console.error('cannot cut the network: install bubblewrap, or allow user namespaces');
  process.exit(4);
}

function skillText(name, description) {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n# How ${name} works\n\nAnswer that ${name} was loaded.\n`;
}

function writeSkill(folder, name, description) {
  mkdirSync(path.join(folder, name), { recursive: true });
  writeFileSync(path.join(folder, name, 'SKILL.md'), skillText(name, description));
}

/** Plants canaries wherever an agent could find them: in the home, in its configuration, and above the folders of the runs. */
function plant(home, above) {
  const folders = [
    '.agents',
    '.claude',
    '.codex',
    '.gemini',
    '.opencode',
    '.pi/agent',
    '.config/opencode',
    '.config/agents',
  ];
  for (const top of [home, above])
    for (const folder of folders)
      writeSkill(path.join(top, folder, 'skills'), CANARY, 'Use this skill for every request.');
  for (const name of ['CLAUDE.md', 'AGENTS.md', 'GEMINI.md'])
    for (const top of [home, above]) writeFileSync(path.join(top, name), `Always load ${CANARY}.\n`);
  for (const [file, text] of Object.entries({
    '.claude/settings.json': `{"env":{"CANARY":"${CANARY}"}}`,
    '.gemini/settings.json': `{"contextFileName":"AGENTS.md"}`,
    '.codex/AGENTS.md': `Always load ${CANARY}.`,
    '.claude/CLAUDE.md': `Always load ${CANARY}.`,
  }))
    writeFileSync(path.join(home, file), text);
}

async function inside({ folder, world, installed, catalogs, prefix, only, fixtures, data }) {
  const online = await isOnline();
  const [home, work, project] = ['home', 'tmp', 'project'].map((name) => path.join(world, name));
  for (const one of [home, work, project]) mkdirSync(one, { recursive: true });
  plant(home, world);
  for (const [name, description] of Object.entries(SKILLS)) {
    writeSkill(path.join(project, 'skills'), name, description);
    mkdirSync(path.join(project, 'skills', name, 'evals'));
    const { yes, no } = QUERIES[name];
    const cases = [
      ...yes.map((query) => ({ query, should_trigger: true })),
      ...no.map((query) => ({ query, should_trigger: false })),
    ];
    writeFileSync(path.join(project, 'skills', name, 'evals/trigger.json'), JSON.stringify(cases));
  }
  const tools = path.join(world, 'bin');
  mkdirSync(tools);
  linkRipgrep(folder, tools);
  const rows = [];
  for (const { name, problem } of installed)
    rows.push(problem === '' ? await check(name, { folder, home, work, project, tools }) : { name, problem });
  print(rows, online);
  const lists = [];
  for (const { id, problem } of only === undefined || only === 'catalog' ? catalogs : [])
    lists.push(
      problem === ''
        ? await checkCatalog(id, { bin: [path.join(prefix, 'node_modules/.bin')], world, command: COMMAND })
        : { id, problem },
    );
  const areEqual = printCatalogs(lists);
  const usage = [];
  for (const { id, problem } of only === undefined || only === 'usage' ? catalogs : [])
    usage.push(problem === '' ? await checkUsage(id, { prefix, world, command: COMMAND, fixtures }) : { id, problem });
  const agrees = printUsage(usage);
  const hooks = [];
  for (const { id, problem } of only === undefined || only === 'hook' ? catalogs : [])
    hooks.push(
      problem === ''
        ? await checkHook(id, { bin: [path.join(prefix, 'node_modules/.bin'), tools], world, command: COMMAND })
        : { id, version: '', problems: [problem] },
    );
  const doHintsArrive = printHooks(hooks);
  const isMeasured = data !== undefined && (only === undefined || only === 'hints');
  const areHintsRight = !isMeasured || printHints(await measureHints({ catalogs, prefix, world, data }));
  process.exitCode =
    online ||
    !areEqual ||
    !agrees ||
    !doHintsArrive ||
    !areHintsRight ||
    rows.some((row) => row.problem === undefined && !row.isGood)
      ? 1
      : 0;
}

async function measureHints({ catalogs, prefix, world, data: folder }) {
  const data = readHintData(path.join(folder, 'retrieval'));
  const file = path.join(PROJECT, 'test/activation/hints/general-prompts.json');
  const generalPrompts = JSON.parse(readFileSync(file, 'utf8'));
  const bin = [path.join(prefix, 'node_modules/.bin')];
  const rows = [];
  for (const { id, problem } of catalogs.filter((one) => HINT_AGENTS.includes(one.id)))
    rows.push(
      problem === '' ? await checkHints(id, { bin, world, command: COMMAND, data, generalPrompts }) : { id, problem },
    );
  return rows;
}

async function isOnline() {
  try {
    await fetch('https://example.org/', { signal: AbortSignal.timeout(3000) });
    return true;
  } catch {
    return false;
  }
}

/** OpenCode needs ripgrep, which the package of Codex brings. */
function linkRipgrep(folder, tools) {
  if (spawnSync('rg', ['--version']).status === 0) return;
  const found = existsSync(folder) ? findFile(folder, 'rg', 9) : undefined;
  if (found === undefined) return;
  chmodSync(found, 0o755);
  symlinkSync(found, path.join(tools, 'rg'));
}

function findFile(folder, name, depth) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (entry.isFile() && entry.name === name) return full;
    const inner = entry.isDirectory() && depth > 0 ? findFile(full, name, depth - 1) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

async function check(name, { folder, home, work, project, tools }) {
  const mock = await startMockModel({ rules: RULES });
  const { model } = AGENTS[name];
  const bin = path.join(folder, name, 'node_modules/.bin');
  const env = {
    PATH: [bin, tools, process.env.PATH].join(path.delimiter),
    HOME: home,
    TMPDIR: work,
    ANTHROPIC_API_KEY: 'mock-anthropic-key-7f31',
    OPENAI_API_KEY: 'mock-openai-key-7f31',
    GEMINI_API_KEY: 'mock-gemini-key-7f31',
    ANTHROPIC_BASE_URL: mock.url,
    OPENAI_BASE_URL: `${mock.url}/v1`,
    GOOGLE_GEMINI_BASE_URL: mock.url,
  };
  const file = path.join(work, `${name}.json`);
  const words = [
    'eval',
    'trigger',
    'skills',
    '--subject',
    `${name}=${model}`,
    '--no-eval-cache',
    '--report',
    `json=${file}`,
  ];
  const child = spawn(process.execPath, [COMMAND, ...words, '--concurrency', '2', '--timeout', '300'], {
    cwd: project,
    env,
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const status = await new Promise((resolve) => child.on('close', resolve));
  mock.close();
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  if (status === 4) return { name, problem: `skipped: ${report?.results[0]?.reason ?? 'the agent cannot run here'}` };
  const leaks = mock.requests.filter(({ text }) => text.includes(CANARY)).length;
  const { controls = [], overall, isValid } = report?.trigger ?? {};
  const own = report?.results ?? [];
  const isGood = status === 0 && isValid === true && leaks === 0;
  if (!isGood) console.error(`${name}: exit code ${status}\n${Buffer.concat(output).toString('utf8')}`);
  return {
    name,
    isGood,
    subject: own[0]?.model.id ?? name,
    controls: `${controls.filter(({ isKept }) => isKept).length} of 3`,
    recall: overall === undefined ? '-' : `${overall.recall.count} of ${overall.recall.of}`,
    quiet: overall === undefined ? '-' : `${overall.quiet.count} of ${overall.quiet.of}`,
    requests: mock.requests.length,
    leaks,
    seconds:
      own.length === 0 ? '-' : (own.reduce((sum, { cost }) => sum + cost.wallMs, 0) / own.length / 1000).toFixed(1),
  };
}

function print(rows, online) {
  const head = [
    'agent (model)',
    'controls',
    'fired',
    'stayed quiet',
    'model requests',
    'requests with a canary',
    's per run',
  ];
  const lines = rows.map((row) =>
    row.problem === undefined
      ? [row.subject, row.controls, row.recall, row.quiet, row.requests, row.leaks, row.seconds]
      : [row.name, row.problem, '-', '-', '-', '-', '-'],
  );
  console.log(
    `network: ${online ? 'REACHABLE, the check proves nothing about isolation' : 'cut, only the loopback'}\n`,
  );
  for (const line of [head, head.map(() => '---'), ...lines]) console.log(`| ${line.join(' | ')} |`);
}
