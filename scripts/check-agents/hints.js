/**
 * Measures what `skillwright activate` changes in a real agent CLI with a mock model and 400 real skills: for how many labelled requests the
 * right skill is in front of the model with its description, and how often a general prompt gets a hint.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

import { FOLDERS, openRandom, readCatalog, stringsIn } from './catalog.js';
import { startMockModel } from './mock-model.js';
import { startAgent, writeStartFiles } from './start-agent.js';

const SKILLS = 400;
const REQUESTS = 200;
/** Prompts that go through the CLI itself; all go through the command that it starts on a prompt. */
const SAMPLE = 40;
const BODIES_MS = 20_000;
const SETTINGS = { 'claude-code': '.claude/settings.json', codex: '.codex/hooks.json' };
const HINT = /<skill name="([^"]+)" path="[^"]+">\s*(\S[^<]*)<\/skill>/g;
const VALID_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

export const HINT_AGENTS = Object.keys(SETTINGS);

/** Chooses skills and requests: the same for the same seed. `folder` holds skills.json, bodies.ndjson.gz and queries.json. */
export function readHintData(folder, seed = 38) {
  const read = (name) => readFileSync(path.join(folder, name));
  const random = openRandom(seed);
  const bodies = gunzipSync(read('bodies.ndjson.gz')).toString().trim().split('\n');
  const bodyOf = new Map(bodies.map((line) => JSON.parse(line)).map(({ id, body }) => [id, body]));
  const byName = new Map();
  for (const skill of shuffle(JSON.parse(read('skills.json')), random))
    if (VALID_NAME.test(skill.name) && !byName.has(skill.name)) byName.set(skill.name, skill);
  const byId = new Map([...byName.values()].map((skill) => [skill.id, skill]));
  const requests = [];
  const chosen = new Map();
  for (const { query, relevant } of shuffle(JSON.parse(read('queries.json')), random)) {
    if (requests.length === REQUESTS) break;
    if (!relevant.every((id) => byId.has(id))) continue;
    requests.push({ prompt: query, right: relevant.map((id) => byId.get(id).name) });
    for (const id of relevant) chosen.set(id, byId.get(id));
  }
  for (const [id, skill] of byId) if (chosen.size < SKILLS) chosen.set(id, skill);
  const skills = [...chosen.values()].map((skill) => ({ ...skill, body: bodyOf.get(skill.id) ?? '' }));
  return { skills, requests };
}

function shuffle(list, random) {
  return list
    .map((item) => ({ item, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/** One row: shares before and after, and how the two ways to ask agree. */
export async function checkHints(id, { bin, world, command, data, generalPrompts }) {
  const top = mkdtempSync(path.join(world, `hints-${id}-`));
  const [home, project] = ['home', 'project'].map((name) => path.join(top, name));
  for (const one of [path.join(home, 'tmp'), path.join(project, '.git')]) mkdirSync(one, { recursive: true });
  for (const { name, description, body } of data.skills) {
    const folder = path.join(home, FOLDERS[id] ?? '.agents/skills', name);
    mkdirSync(folder, { recursive: true });
    const head = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n`;
    writeFileSync(path.join(folder, 'SKILL.md'), `${head}\n${body}\n`);
  }
  const mock = await startMockModel({ rules: {} });
  const place = { home, project, bin, command, mock };
  writeStartFiles(id, { home, url: mock.url });
  try {
    const before = await ask(id, 'Tell me a joke', place);
    const described = new Set(before.listed);
    const run = skillwright(['activate', '--agent', id, '--yes'], place);
    if (run.status !== 0) return { id, problem: `activate: ${run.stderr.trim()}` };
    // The first prompt starts the resident process, which then reads the skills, and their bodies somewhat later.
    for (let tries = 0; tries < 60; tries += 1) {
      if (data.requests.slice(0, 5).some(({ prompt }) => hook(id, prompt, place).length > 0)) break;
      await sleep(1000);
    }
    await sleep(BODIES_MS);
    const answer = (prompt) => ({ prompt, hinted: hook(id, prompt, place) });
    const labelled = data.requests.map(({ prompt, right }) => ({ ...answer(prompt), right }));
    const general = generalPrompts.map(answer);
    const sampled = [...every(labelled, SAMPLE), ...every(general, SAMPLE / 4)];
    let same = 0;
    for (const { prompt, hinted } of sampled) {
      const { hinted: seen } = await ask(id, prompt, place);
      if (seen.join() === hinted.join()) same += 1;
      else console.error(`${id}: ${JSON.stringify(prompt.slice(0, 80))}: hook ${hinted.join()}; model ${seen.join()}`);
    }
    const share = (list, isIn) => list.filter(isIn).length / list.length;
    const isShown = ({ right }) => right.some((name) => described.has(name));
    return {
      id,
      described: described.size,
      before: share(labelled, isShown),
      after: share(labelled, (one) => isShown(one) || one.right.some((name) => one.hinted.includes(name))),
      silent: share(general, ({ hinted }) => hinted.length === 0),
      alone: share(general, ({ hinted }) => hinted.length === 1),
      same: `${same} of ${sampled.length}`,
    };
  } finally {
    mock.close();
    skillwright(['activate', '--agent', id, '--remove', '--yes'], place);
    await sleep(500);
    rmSync(top, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function every(list, count) {
  const step = Math.max(1, Math.floor(list.length / count));
  return list.filter((_, at) => at % step === 0).slice(0, count);
}

function skillwright(words, { home, project, command, bin }) {
  const env = { PATH: [...bin, process.env.PATH].join(path.delimiter), HOME: home };
  return spawnSync(process.execPath, [command, ...words], { cwd: project, env, encoding: 'utf8', timeout: 60_000 });
}

/** The names of the skills that the command of the agent's hook adds to a prompt. */
function hook(id, prompt, { home, project }) {
  const { hooks } = JSON.parse(readFileSync(path.join(home, SETTINGS[id]), 'utf8'));
  const input = JSON.stringify({ session_id: 'check', cwd: project, hook_event_name: 'UserPromptSubmit', prompt });
  const env = { PATH: process.env.PATH, HOME: home };
  const { stdout } = spawnSync('sh', ['-c', hooks.UserPromptSubmit[0].hooks[0].command], {
    cwd: project,
    env,
    input,
    encoding: 'utf8',
    timeout: 30_000,
  });
  return stdout === '' ? [] : hintsIn(JSON.parse(stdout));
}

/** What the model receives for a prompt: skills listed with a description, and hinted ones. */
async function ask(id, prompt, { home, project, bin, mock }) {
  const start = mock.requests.length;
  const run = await startAgent(id, { home, project, url: mock.url, bin, prompt, hasFiles: true, withHooks: true });
  const requests = mock.requests.slice(start);
  if (run.status !== 0) throw new Error(`${id}: exit code ${run.status}: ${run.output.trim().slice(-300)}`);
  const listed = readCatalog(id, requests).filter(({ text }) => text.trim() !== '');
  const bodies = requests.flatMap(({ text }) => (text === '' ? [] : [JSON.parse(text)]));
  const hinted = bodies.map(hintsIn).find((names) => names.length > 0) ?? [];
  return { listed: listed.map(({ name }) => name), hinted };
}

function hintsIn(value) {
  return stringsIn(value).flatMap((text) => [...text.matchAll(HINT)].map(([, name]) => name));
}

/** Prints one row per agent; returns whether the goals are met. */
export function printHints(rows) {
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  console.log(`\n${SKILLS} real skills, ${REQUESTS} labelled requests: the right skill is described to the model\n`);
  console.log(
    '| agent | skills with description | before | after `activate` | silent on general prompts | one hint alone | CLI as hook |',
  );
  console.log('|---|--:|--:|--:|--:|--:|--:|');
  for (const { id, problem, described, before, after, silent, alone, same } of rows)
    console.log(
      problem === undefined
        ? `| ${id} | ${described} | ${percent(before)} | ${percent(after)} | ${percent(silent)} | ${percent(alone)} | ${same} |`
        : `| ${id} | ${problem} |`,
    );
  return rows.every(({ after = 0, silent = 0, alone = 1 }) => after >= 0.8 && silent >= 0.95 && alone <= 0.02);
}
