/**
 * Compares what `skillwright why` predicts with what a real agent CLI sends to a mock model, for random sets of skills. A difference means
 * that this version of the agent follows another rule than the file in src/activation/agents says.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startMockModel } from './mock-model.js';
import { STARTS, readVersion, startAgent } from './start-agent.js';

const COUNTS = [20, 100, 400];
const ENGLISH = 'create convert report table chart invoice deploy review budget release image audio cluster test'.split(
  ' ',
);
const CHINESE = '生成报告表格图片数据库部署测试发票预算翻译合同简历会议纪要分析代码审查';
export const FOLDERS = { 'claude-code': '.claude/skills' };
/** The agents whose list has no order that depends on names; they list everything. */
const UNORDERED = new Set(['gemini-cli', 'pi']);

/** The versions with which the rules in src/activation/agents were measured. */
const PACKAGES = {
  'claude-code': '@anthropic-ai/claude-code@2.1.327',
  codex: '@openai/codex@0.169.0',
  'gemini-cli': '@google/gemini-cli@0.61.0',
  'github-copilot': '@github/copilot@1.0.102',
  opencode: 'opencode-ai@1.18.18',
  pi: '@earendil-works/pi-coding-agent@0.87.1',
  'qwen-code': '@qwen-code/qwen-code@0.24.4',
};

export const CATALOG_AGENTS = Object.keys(PACKAGES);

/** Installs an agent and a Node that all of them accept into one prefix; with `isLatest`, the newest version. Returns why not. */
export function installCatalogAgent(id, prefix, isLatest) {
  const bin = path.join(prefix, 'node_modules/.bin');
  mkdirSync(prefix, { recursive: true });
  if (!existsSync(path.join(prefix, 'package.json')))
    writeFileSync(path.join(prefix, 'package.json'), '{"private":true}');
  const wanted = isLatest ? PACKAGES[id].replace(/@[^@]+$/, '@latest') : PACKAGES[id];
  for (const [program, spec] of [
    ['node', 'node@24'],
    [STARTS[id]({ prompt: '', url: '' }).program, wanted],
  ]) {
    if (existsSync(path.join(bin, program))) continue;
    const words = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--force', spec];
    const { status, stderr } = spawnSync('npm', words, { cwd: prefix, encoding: 'utf8' });
    if (status !== 0) return `npm install failed: ${stderr.trim().split('\n')[0] ?? ''}`;
  }
  return '';
}

/** Prints one row per agent; returns whether all predictions hold. */
export function printCatalogs(rows) {
  const cell = ({ problem, full, shortened, name, none }) =>
    problem ?? `${full} in full, ${shortened} shortened, ${name} by name, ${none} not listed`;
  console.log('\nWhat agents list, as predicted by skillwright why and as sent to the model:\n');
  for (const line of [
    ['agent', ...COUNTS.map((count) => `${count} skills`)],
    ['---', ...COUNTS.map(() => '---')],
  ])
    console.log(`| ${line.join(' | ')} |`);
  for (const { id, version, problem, results = [] } of rows) {
    const own = problem === undefined ? results.map(cell) : COUNTS.map(() => problem);
    console.log(`| ${id} ${version ?? ''} | ${own.join(' | ')} |`);
    if (version !== undefined && !PACKAGES[id].endsWith(`@${version}`))
      console.log(`\n${id} ${version} is not the version of the rule, ${PACKAGES[id].split('@').at(-1)}\n`);
  }
  return rows.every(({ results = [] }) => results.every(({ problem }) => problem === undefined));
}

/** One row per agent: what is equal, or the first difference. */
export async function checkCatalog(id, { bin, world, command, seed = 1 }) {
  const results = [];
  for (const count of COUNTS) results.push(await compareOnce(id, { count, bin, world, command, seed }));
  return { id, version: readVersion(id, { bin, home: world }), results };
}

async function compareOnce(id, { count, bin, world, command, seed }) {
  const top = mkdtempSync(path.join(world, `catalog-${id}-`));
  const [home, project] = ['home', 'project'].map((name) => path.join(top, name));
  for (const one of [path.join(home, 'tmp'), path.join(project, '.git')]) mkdirSync(one, { recursive: true });
  spawnSync('git', ['init', '-q'], { cwd: project });
  const random = openRandom(seed * 1000 + count);
  const names = new Set();
  for (let at = 0; at < count; at += 1) {
    const { name, description } = randomSkill(random, at);
    const folder = path.join(random() < 0.5 ? home : project, FOLDERS[id] ?? '.agents/skills', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'SKILL.md'), `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`);
    names.add(name);
  }
  const mock = await startMockModel({ rules: {} });
  const run = await startAgent(id, { home, project, url: mock.url, bin, prompt: 'Tell me a joke' });
  mock.close();
  const shown = readCatalog(id, mock.requests).filter(({ name }) => names.has(name));
  const predicted = predict(id, { home, project, command });
  // Some agents leave a process that still writes into its home.
  await sleep(500);
  rmSync(top, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  if (run.status !== 0) return { count, problem: `exit code ${run.status}: ${run.output.trim().slice(-300)}` };
  if (shown.length === 0) return { count, problem: 'the request names no skill' };
  return { count, ...describe(predicted), problem: difference(predicted, shown, UNORDERED.has(id)) };
}

function predict(id, { home, project, command }) {
  const env = { PATH: process.env.PATH, HOME: home };
  const { stdout, stderr } = spawnSync(process.execPath, [command, 'why', '--agent', id, '--json'], {
    cwd: project,
    env,
    encoding: 'utf8',
    maxBuffer: 1e9,
  });
  if (stdout === '') throw new Error(stderr);
  const { agents } = JSON.parse(stdout);
  return agents[0].skills.filter(({ path: file }) => !file.includes('/.system/'));
}

function describe(skills) {
  const count = (...kinds) => skills.filter(({ shown }) => kinds.includes(shown)).length;
  return { full: count('full'), shortened: count('shortened'), name: count('name'), none: count('none') };
}

/** The first difference between the predicted and the real list. */
function difference(predicted, real, isUnordered) {
  const listed = predicted.filter(({ shown }) => shown !== 'none').map(({ name, text }) => ({ name, text: one(text) }));
  const seen = real.map(({ name, text }) => ({ name, text: one(text) }));
  if (isUnordered) for (const list of [listed, seen]) list.sort((a, b) => (a.name < b.name ? -1 : 1));
  const at = listed.findIndex((entry, index) => seen[index]?.name !== entry.name || seen[index].text !== entry.text);
  if (at === -1 && listed.length === seen.length) return undefined;
  const text = (entry) => (entry === undefined ? 'nothing' : `${entry.name} with ${entry.text.length} characters`);
  const where = at === -1 ? listed.length : at;
  return `at position ${where + 1}: predicted ${text(listed[where])}, real ${text(seen[where])}; ${listed.length} predicted, ${seen.length} real`;
}

function one(text) {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function randomSkill(random, at) {
  const word = () => ENGLISH[Math.floor(random() * ENGLISH.length)];
  const length = 20 + Math.floor(random() ** 2 * 980);
  let description = '';
  if (random() < 0.4)
    while (description.length < length / 2) description += CHINESE[Math.floor(random() * CHINESE.length)];
  else while (description.length < length) description += `${description === '' ? '' : ' '}${word()}`;
  return { name: `${word()}-${word()}-${Math.floor(random() * 1e4)}-${at}`, description: `${description}.` };
}

/** Numbers from 0 to 1, the same for the same seed. */
export function openRandom(seed) {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const ENTITIES = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'", '&amp;': '&' };

/** The entries of the list in the requests of an agent. Without a description the text is empty. */
export function readCatalog(id, requests) {
  const texts = requests.flatMap(({ text }) => (text === '' ? [] : stringsIn(JSON.parse(text))));
  if (id === 'claude-code') {
    const list = texts.find((text) => text.includes('skills are available for use with the Skill tool:\n\n'));
    return [...(list ?? '').matchAll(/^- ([^\s:]+)(?:: (.*))?$/gm)].map(([, name, text = '']) => ({ name, text }));
  }
  if (id === 'codex') {
    const list = texts.find((text) => text.includes('### Available skills\n'));
    return [...(list ?? '').matchAll(/^- ([^\s:]+): (?:(.*) )?\(file: .*\)$/gm)].map(([, name, text = '']) => ({
      name,
      text,
    }));
  }
  const list = texts.find((text) => /<available_skills>\s*<skill>/.test(text)) ?? '';
  const block = /<available_skills>\s*(<skill>[\s\S]*?)<\/available_skills>/.exec(list)?.[1] ?? '';
  const entries = [...block.matchAll(/<name>\s*(.*?)\s*<\/name>\s*<description>([\s\S]*?)<\/description>/g)].map(
    ([, name, text]) => ({
      name,
      text: decode(text)
        .trim()
        .replace(/ \((?:project|user)\)$/, ''),
    }),
  );
  const others = /invoke by name\): (.*?)(?:\.\.\. and \d+ more)?$/m.exec(block)?.[1]?.split(', ') ?? [];
  return [...entries, ...others.map((name) => ({ name, text: '' }))];
}

function decode(text) {
  return text.replaceAll(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity]);
}

/** All strings in a JSON value. */
export function stringsIn(value) {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
